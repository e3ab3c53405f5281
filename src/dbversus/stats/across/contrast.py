"""A ratio at each level of a factor, and the ratio of two such ratios: of sizes, clients, experiments, generations, configs.

A ratio is exp of the mean over blocks of ln ratios. Levels that were measured in the same blocks are paired: what befalls a
block befalls all of them, and goes out of the ratio of ratios. Levels of two experiments have no block in common: there it is the
difference of two independent means of ln ratios, with the degrees of freedom of Welch and Satterthwaite.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Generic, TypeVar

import numpy as np
from scipy.special import stdtr, stdtrit

from dbversus.stats.judging.estimate import estimate
from dbversus.stats.judging.looks import OVERALL, POWER, adjusted_p, confidence_of, name
from dbversus.stats.judging.sequential import alpha_per_look, first_look
from dbversus.stats.judging.verdicts import reservation
from dbversus.stats.means import FEWEST_BLOCKS, Logs, Mean, Ratio, difference, mean_of_blocks, mean_of_tests
from dbversus.stats.metrics import Floats
from dbversus.stats.model import DIFFERS, BlockValue, Finding, Metric, Verdict
from dbversus.stats.values.table import Key, tabulate

Level = TypeVar("Level", int, str)
"""A number of clients, a size, the name of an experiment …"""

Looks = tuple[int, ...]
CaseOf = Callable[[str], tuple[str, int] | None]
"""Name of a case → its test and its level; None: it is no case of this factor."""


@dataclass(frozen=True)
class Contrast(Generic[Level]):
    """Means of ln ratios: `at` each level, and `over` the first of them at each of the others."""

    at: Mapping[Level, Mean]
    over: Mapping[Level, Mean]


def contrast(levels: Mapping[Level, Sequence[Logs]], *, paired: bool) -> Contrast[Level]:
    """`levels`, the first of them first: ln ratios by block of one test, or of several, whose geometric mean is meant.

    Where nothing is known at a level, or paired levels share no block, there is no mean.
    """
    known = {level: tests for level, tests in levels.items() if all(tests)}
    at = {level: _mean(tests) for level, tests in known.items()}
    first, *others = levels
    over: dict[Level, Mean] = {}
    for level in others:
        if first not in known or level not in known:
            continue
        if not paired:
            over[level] = difference(at[level], at[first])
        elif all(shared := [differences(*both) for both in zip(known[level], known[first], strict=True)]):
            over[level] = _mean(shared)
    return Contrast(at, over)


def _mean(tests: Sequence[Logs]) -> Mean:
    return mean_of_tests(tests) if len(tests) > 1 else mean_of_blocks(list(tests[0].values()))


def differences(ours: Logs, first: Logs) -> Logs:
    """Of paired levels, in the blocks that both have."""
    return {block: ours[block] - first[block] for block in ours if block in first}


def ratio_over(ours: Logs, first: Logs) -> Ratio | None:
    """exp of the mean over shared blocks of ours - first; None: no block has both."""
    mean = contrast({0: [first], 1: [ours]}, paired=True).over.get(1)
    return mean.ratio() if mean else None


def beyond(ratio: Ratio | None, margin: float) -> int:
    """1 or -1 where the whole interval lies beyond the margin, above or below; else 0."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return 0
    return 1 if ratio.low > 1 + margin else -1 if ratio.high < 1 / (1 + margin) else 0


# --- levels that are cases of one test, in the same blocks


def over_first(
    values: Iterable[BlockValue], case_of: CaseOf, named: Callable[[str, int, int], str]
) -> list[BlockValue]:
    """ln(target/base) at each higher level minus that at the lowest, of blocks in which both were measured.

    This is the interaction of level and target: what both targets lose alike is not in it, nor what the host did to a block.
    `named`: what a test is called at a level, over the lowest.
    """
    made = []
    for (test, _, _), levels in _cells((one for one in values if one.value is not None), case_of).items():
        first, *higher = sorted(levels)
        for level in higher:
            shared = sorted(levels[level].keys() & levels[first].keys())
            made += [
                _difference(named(test, level, first), levels[level][block], levels[first][block]) for block in shared
            ]
    return made


def over_first_margins(
    margins: Mapping[tuple[str, str], float], case_of: CaseOf, named: Callable[[str, int, int], str]
) -> dict[tuple[str, str], float]:
    """Margins by (test, metric) for `over_first`: the wider one of both cases."""
    found: dict[tuple[str, str], float] = {}
    for (test, metric), levels in _margins_by_level(margins, case_of).items():
        first, *higher = sorted(levels)
        found |= {(named(test, level, first), metric): max(levels[level], levels[first]) for level in higher}
    return found


def pooled(values: Iterable[BlockValue], case_of: CaseOf, named: Callable[[str], str]) -> list[BlockValue]:
    """One value per test, target, metric and block: the mean of ln(target/base) over all levels.

    Values that are no cases are left aside. A block counts only where every level of that test was measured in it. Nothing to
    compare at some levels is no difference there, at all of them None. `named`: what a test is called over all levels.
    """
    made = []
    for (test, target, metric), levels in _cells(values, case_of).items():
        for block in sorted(set.intersection(*(set(blocks) for blocks in levels.values()))):
            of_block = [blocks[block] for blocks in levels.values()]
            if all(value.rows for value in of_block):
                made.append(_pooled(named(test), target, metric, block, of_block))
    return made


def pooled_margins(
    margins: Mapping[tuple[str, str], float], case_of: CaseOf, named: Callable[[str], str]
) -> dict[tuple[str, str], float]:
    """Margins by (test, metric) for `pooled`: the widest of the cases."""
    levels = _margins_by_level(margins, case_of)
    return {(named(test), metric): max(shares.values()) for (test, metric), shares in levels.items()}


def _cells(values: Iterable[BlockValue], case_of: CaseOf) -> Mapping[Key, Mapping[int, Mapping[int, BlockValue]]]:
    """(test, target, metric) → level → block → value."""
    cells: dict[Key, dict[int, dict[int, BlockValue]]] = defaultdict(lambda: defaultdict(dict))
    for value in values:
        if case := case_of(value.test):
            cells[case[0], value.target, value.metric][case[1]][value.block] = value
    return cells


def _margins_by_level(
    margins: Mapping[tuple[str, str], float], case_of: CaseOf
) -> Mapping[tuple[str, str], Mapping[int, float]]:
    found: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for (name_of_case, metric), share in margins.items():
        if case := case_of(name_of_case):
            found[case[0], metric][case[1]] = share
    return found


def _difference(test: str, ours: BlockValue, first: BlockValue) -> BlockValue:
    assert ours.value is not None and first.value is not None
    error = None if ours.error is None or first.error is None else math.hypot(ours.error, first.error)
    rows, disturbed = min(ours.rows, first.rows), max(ours.disturbed, first.disturbed)
    return BlockValue(test, ours.target, ours.metric, ours.block, ours.value - first.value, rows, disturbed, error)


def _pooled(test: str, target: str, metric: str, block: int, values: Sequence[BlockValue]) -> BlockValue:
    compared = any(value.value is not None for value in values)
    mean = fmean(value.value or 0.0 for value in values) if compared else None
    rows, disturbed = (sum(getattr(value, field) for value in values) for field in ("rows", "disturbed"))
    return BlockValue(test, target, metric, block, mean, rows, disturbed)


# --- levels that are experiments, with no block in common


@dataclass(frozen=True)
class Measured:
    """What an experiment has to say: means of ln(target/base), margins that are not the metrics' own, and its looks."""

    means: Mapping[Key, Mean]
    margins: Mapping[tuple[str, str], float]
    looks: Looks


def block_means(values: Sequence[BlockValue], metrics: Sequence[Metric]) -> dict[Key, Mean]:
    """Means of ln(target/base) over all blocks; without those that have nothing to compare in any block."""
    table = tabulate(values, metrics, {})
    if not table.keys:
        return {}
    found = estimate(table, len(table.blocks))
    counts = np.count_nonzero(~np.isnan(table.value), axis=1)
    errors = found.moderated_sd / np.sqrt(counts)
    return {
        key: Mean(
            float(found.mean[index]),
            float(errors[index]) if counts[index] >= FEWEST_BLOCKS else None,
            float(found.df[index]) if counts[index] >= FEWEST_BLOCKS else 0.0,
            int(counts[index]),
            (float(np.nanmin(table.value[index])), float(np.nanmax(table.value[index]))),
        )
        for index, key in enumerate(table.keys)
        if table.compared[index]
    }


def judge_interactions(
    first: Measured, others: Sequence[Measured], metrics: Sequence[Metric]
) -> list[dict[Key, Finding]]:
    """By experiment of `others`: findings on target ÷ base there over target ÷ base in `first`, where both have a mean.

    A regression is a target that loses more against the base than it does in `first`. All of them are one family, judged by the
    wider margin of both experiments, at the strictest level that the looks of any of them ask for.
    """
    by_name = {metric.name: metric for metric in metrics}
    pairs = [
        (place, key, difference(mean, first.means[key]), other)
        for place, other in enumerate(others)
        for key, mean in other.means.items()
        if key in first.means and key[2] in by_name
    ]
    findings: list[dict[Key, Finding]] = [{} for _ in others]
    level = _Level.of([first.looks, *(other.looks for other in others)], [mean for _, _, mean, _ in pairs])
    for index, (place, key, mean, other) in enumerate(pairs):
        margin, awaited = _margin(key, by_name[key[2]], first, other), _awaited(key, first, other)
        findings[place][key] = _finding(key, mean, margin, by_name[key[2]], level, index, awaited)
    return findings


def _awaited(key: Key, *both: Measured) -> int:
    """Blocks of the first look that one of them has not reached; 0: both have."""
    looks = [first_look(one.looks) for one in both if one.means[key].blocks < first_look(one.looks)]
    return max(looks, default=0)


def _margin(key: Key, metric: Metric, *both: Measured) -> float:
    return max(one.margins.get((key[0], metric.name), metric.margin) for one in both)


@dataclass(frozen=True)
class _Level:
    """p-values and q-values (NaN without an interval), and the levels of intervals: of one alone, of one of the family, of those
    that are called changed."""

    p: Floats
    q: Floats
    alone: float
    of_family: float
    selected: float

    @classmethod
    def of(cls, looks: Sequence[Looks], means: Sequence[Mean]) -> "_Level":
        known = np.array([mean.error is not None for mean in means], dtype=np.bool_)
        size = max(1, int(np.count_nonzero(known)))
        strictest = min(looks, key=lambda one: alpha_per_look(one, OVERALL, size))
        of_family = alpha_per_look(strictest, OVERALL, size)
        p = np.array([_p_value(mean) for mean in means])
        q = np.full(len(p), np.nan)
        q[known] = np.minimum(1.0, adjusted_p(p[known]) * OVERALL / of_family)
        # as for verdicts (judging/looks.py, _adjust): of intervals that are selected, a share of OVERALL misses at most
        changed = max(1, int(np.count_nonzero(q[known] <= OVERALL)))
        return cls(p, q, alpha_per_look(strictest, OVERALL), of_family / size, of_family * changed / size)


def _p_value(mean: Mean) -> float:
    return float("nan") if mean.error is None else 2 * float(stdtr(mean.df, -abs(mean.value) / mean.error))


def _finding(key: Key, mean: Mean, margin: float, metric: Metric, level: _Level, index: int, awaited: int) -> Finding:
    verdict, reach = Verdict.UNDECIDED, None
    if mean.error is not None:
        within, alone, selected = (
            _reach(mean, mean.error, each) for each in (level.alone, level.alone / 2, level.selected / 2)
        )
        if not awaited:
            sign = -1.0 if metric.higher_is_better else 1.0
            verdict = name(mean.value, within, selected, bool(level.q[index] <= OVERALL), float(np.log1p(margin)), sign)
        reach = selected if verdict in DIFFERS else within if verdict is Verdict.EQUIVALENT else alone
    beside = mean.spread(reach)
    finding = Finding(
        *key,
        verdict=verdict,
        ratio=mean.ratio().value,
        **beside._asdict(),
        confidence=confidence_of(verdict),
        blocks=mean.blocks,
        p_value=None if reach is None else float(level.p[index]),
        q_value=None if reach is None else float(level.q[index]),
        margin=margin,
        smallest_visible_change=_visible(mean, level),
        block_sd=None,
        degrees_of_freedom=None if reach is None else mean.df,
        first_look=awaited,
        higher_is_better=metric.higher_is_better,
    )
    return replace(finding, note=reservation(finding))


def _reach(mean: Mean, error: float, level: float) -> float:
    """How far the mean may be from the truth, on one side, with an error of `level`."""
    return -float(stdtrit(mean.df, level)) * error


def _visible(mean: Mean, level: _Level) -> float | None:
    """Smallest difference, as a share, that would be found with a chance of POWER, were it the only one of its family."""
    if mean.error is None:
        return None
    away = _reach(mean, mean.error, level.of_family / 2) + _reach(mean, mean.error, 1 - POWER)
    return float(np.expm1(min(away, 700.0)))
