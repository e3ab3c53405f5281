"""What the noise between two equal targets is made of: rows, starts of servers, places in the row."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import kstest, t, ttest_1samp

from dbversus.results.layout import lay_out
from dbversus.results.stored import Results
from dbversus.stats.calibration.model import OrderBias, Spread, Uniformity
from dbversus.stats.calibration.twins import Twins
from dbversus.stats.means import FEWEST_BLOCKS
from dbversus.stats.metrics import CPU, THROUGHPUT, Floats
from dbversus.stats.model import BlockValue
from dbversus.stats.values.blocks import block_values

CONFIDENCE = 0.95

Place = tuple[str, str]
"""Test and metric."""


@dataclass(frozen=True)
class Rows:
    """Rows of one test and metric: block, ln(twin/base), and whether the twin came after the base; arrays of one length."""

    block: Floats
    log_ratio: Floats
    later: Floats


def rows_of(results: Results, twins: Twins) -> dict[Place, Rows]:
    """Same-row pairs of the twins, for CPU per op and throughput."""
    query = """
        SELECT t.test, t.block, t.position > b.position,
          ln((t.server_cpu_ns / t.ops) / (b.server_cpu_ns / b.ops)), ln((t.ops / t.elapsed_ns) / (b.ops / b.elapsed_ns))
        FROM slots t JOIN slots b USING (test, clients, block, row)
        WHERE b.target = $base AND t.target = $twin
          AND t.ops > 0 AND b.ops > 0 AND t.elapsed_ns > 0 AND b.elapsed_ns > 0
          AND coalesce(t.server_cpu_ns, 1) > 0 AND coalesce(b.server_cpu_ns, 1) > 0
        ORDER BY ALL""".replace("$base", _quoted(twins.base.label)).replace("$twin", _quoted(twins.twin.label))
    found: dict[Place, list[tuple[float, float, float]]] = {}
    for test, block, later, *logs in results.slot_rows(query):
        for metric, log_ratio in zip((CPU, THROUGHPUT), logs, strict=True):
            if block in twins.blocks and log_ratio is not None:
                found.setdefault((test, metric), []).append((block, log_ratio, later))
    return {place: Rows(*np.array(rows, dtype=np.float64).T) for place, rows in found.items()}


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def spreads(results: Results, twins: Twins, rows: Mapping[Place, Rows], margins: Mapping[Place, float]) -> list[Spread]:
    """One for each test and metric; `margins` of those that have values. Percentiles are of blocks: they have no parts."""
    whole = by_place(twins, twins.values)
    halves = [_half(results, twins, half) for half in (0, 1)]
    found = []
    for test in twins.tests:
        for metric in twins.metrics:
            place = test, metric.name
            logs = whole.get(place, np.empty(0))
            known = logs[~np.isnan(logs)]
            between, within = _parts([half.get(place, np.empty(0)) for half in halves])
            found.append(
                Spread(
                    test=test,
                    metric=metric.name,
                    blocks=len(known),
                    pair_sd=_pair_sd(rows[place]) if place in rows else None,
                    block_sd=float(known.std(ddof=1)) if len(known) > 1 else None,
                    between_sd=between,
                    within_sd=within,
                    p_value=_p_value(known),
                    margin=margins.get(place, metric.margin),
                    default_margin=metric.margin,
                )
            )
    return found


def by_place(twins: Twins, values: Iterable[BlockValue]) -> dict[Place, Floats]:
    """ln ratios of each test and metric, one per block of `twins`; NaN: nothing to compare, or not measured."""
    index = {block: number for number, block in enumerate(twins.blocks)}
    found: dict[Place, Floats] = {}
    for value in values:
        if value.value is not None and value.block in index:
            logs = found.setdefault((value.test, value.metric), np.full(len(index), np.nan))
            logs[index[value.block]] = value.value
    return found


def _half(results: Results, twins: Twins, half: int) -> dict[Place, Floats]:
    """As `by_place`, from every other two rows: two, since one row is the mirror of the one before."""
    slots = results.slots
    target = np.asarray(slots["target"], dtype=str)
    row = np.ma.getdata(slots["row"]).astype(np.int64)
    chosen = np.isin(target, (twins.base.label, twins.twin.label)) & (row // 2 % 2 == half)
    if not chosen.any():
        return {}
    columns = {name: column[chosen] for name, column in slots.items()}
    return by_place(twins, block_values(lay_out(columns, twins.base.label), twins.metrics))


def _parts(halves: list[Floats]) -> tuple[float | None, float | None]:
    """Spread between starts and within them, from two halves of the rows of the same blocks.

    Both halves share what the start did, so their covariance is its variance; half their difference is the rows' own part of
    a whole block's value. A covariance that chance made negative is 0.
    """
    if any(len(half) == 0 for half in halves):
        return None, None
    first, second = halves
    both = ~np.isnan(first) & ~np.isnan(second)
    if np.count_nonzero(both) < 2:
        return None, None
    covariance = float(np.cov(first[both], second[both])[0, 1])
    return max(covariance, 0.0) ** 0.5, float((first[both] - second[both]).std(ddof=1)) / 2


def _pair_sd(rows: Rows) -> float | None:
    """Standard deviation of ln ratio over rows within a block, pooled over blocks."""
    of_blocks = [rows.log_ratio[rows.block == block] for block in np.unique(rows.block)]
    df = sum(len(logs) - 1 for logs in of_blocks)
    squares = sum(float(((logs - logs.mean()) ** 2).sum()) for logs in of_blocks)
    return float((squares / df) ** 0.5) if df > 0 else None


def _p_value(known: Floats) -> float | None:
    if len(known) < 2 or np.ptp(known) == 0:
        return None
    return float(ttest_1samp(known, 0.0).pvalue)


def uniformity(found: Iterable[Spread]) -> list[Uniformity]:
    """Per metric; tests of one block share what befell it, so p-values lie nearer together than independent ones."""
    of_metric: dict[str, list[float]] = {}
    for spread in found:
        if spread.p_value is not None:
            of_metric.setdefault(spread.metric, []).append(spread.p_value)
    return [
        Uniformity(metric=metric, tests=len(values), p_value=float(kstest(values, "uniform").pvalue))
        for metric, values in of_metric.items()
    ]


def order_bias(rows: Mapping[Place, Rows]) -> list[OrderBias]:
    """Half the difference between rows in which the twin came later and those in which the base did.

    In each block, then mean and t interval over blocks: per test, and (test "") of the blocks' means over all tests.
    """
    found, pooled = [], dict[str, dict[float, list[float]]]()
    for (test, metric), of_place in rows.items():
        by_block = _bias_by_block(of_place)
        if by_block:
            found.append(_bias(test, metric, list(by_block.values())))
        for block, bias in by_block.items():
            pooled.setdefault(metric, {}).setdefault(block, []).append(bias)
    overall = [
        _bias("", metric, [float(np.mean(of_block)) for of_block in blocks.values()])
        for metric, blocks in pooled.items()
    ]
    return overall + found


def _bias_by_block(rows: Rows) -> dict[float, float]:
    found = {}
    for block in np.unique(rows.block):
        here = rows.block == block
        later, sooner = rows.log_ratio[here & (rows.later > 0)], rows.log_ratio[here & (rows.later == 0)]
        if len(later) and len(sooner):
            found[float(block)] = float(later.mean() - sooner.mean()) / 2
    return found


def _bias(test: str, metric: str, values: list[float]) -> OrderBias:
    mean, n = float(np.mean(values)), len(values)
    if n < FEWEST_BLOCKS:
        return OrderBias(test=test, metric=metric, bias=mean, low=None, high=None)
    half = float(t.isf((1 - CONFIDENCE) / 2, n - 1) * np.std(values, ddof=1) / n**0.5)
    return OrderBias(test=test, metric=metric, bias=mean, low=mean - half, high=mean + half)
