"""From slots to block values: ln(target/base) of each block × test × metric × target, the unit of replication.

Two estimators, by the nature of the metric:

- a smooth metric (throughput, CPU per op, latency): the midmean over rows of ln(target slot / base slot), same-row pairs
  only, so that whatever slowed a whole row cancels in each pair. The midmean (mean of the middle half) and not the mean,
  because a disturbance that hits one slot of a pair and not the other is an outlier that interleaving cannot cancel:
  docs/evidence/slots.md has the figures. Who comes first in a row may find its own data in the CPU's caches, and ratios are
  in two clusters then, one for each order: they are brought together first, for the middle half of two clusters is their
  inner edges;
- a `pooled` metric: ln of the ratio of sums over the same pairs, per operation. Bytes, calls, faults, switches and
  background CPU fall into few slots (a checkpoint, a WAL flush): most slots hold nothing, so single ratios are 0/0 or
  infinite, while the sums are exactly what the operations cost. Sums under the metric's floor are lifted to it: nothing
  against something stays a large but finite change, nothing against nothing is None.

Targets that were measured one after the other (sequential order) share no rows: slots minutes apart are no pairs. There every
metric is taken from each side's sums over all its slots of the block; docs/protocol.md, "From slots to one number per block".
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from dbversus.results.layout import Ints, Layout, Sides, flags, lay_out
from dbversus.results.records import Load
from dbversus.stats.metrics import LOAD_TEST, METRICS, Columns, Floats, floats, parts
from dbversus.stats.model import BlockValue, Metric
from dbversus.stats.values.midmean import midmean_errors, midmeans_of, rank_in_cells, without_order_effect


def block_values(layout: Layout, metrics: Sequence[Metric] = METRICS) -> list[BlockValue]:
    """Block values of all targets against the base, from columns of results/schema.py (nulls: masked, None or NaN).

    Those of each metric are made once. Metrics whose columns are absent, or null throughout a block, give no value there.
    """
    return [
        value
        for target in layout.others
        for metric in (replace(metric, primary=False) for metric in metrics)  # who judges it makes no other value
        for value in layout.once((target, metric), partial(_target_values, layout, target, metric))
    ]


def load_values(
    loads: Iterable[Load], labels: Mapping[str, str], base: str, metrics: Sequence[Metric] = METRICS
) -> list[BlockValue]:
    """Values of the `load` test from the journal's `load` records, of sums over tables; `labels`: target name → label.

    Data is loaded once, so this is one block: enough for a ratio, not for a verdict. A target that shares the data of
    another has no load of its own, hence no value.
    """
    last = {(load.target, load.table): (load, figures) for load in loads if (figures := load.own)}
    tables = sorted({str(table) for _, table in last})
    own = list(last.values())
    columns: dict[str, npt.NDArray[np.generic]] = {
        "test": np.array([LOAD_TEST] * len(own), dtype=str),
        "target": np.array([labels[load.target] for load, _ in own], dtype=str),
        "block": np.zeros(len(own)),
        "row": np.array([tables.index(str(load.table)) for load, _ in own], dtype=np.float64),
    }
    if base not in columns["target"]:
        return []
    for name in ("rows", "elapsed_ns", "server_cpu_ns"):
        columns[name] = np.array([getattr(figures, name) for _, figures in own], dtype=np.float64)
    of_load = [replace(metric, pooled=True) for metric in metrics if LOAD_TEST in metric.tests]
    return block_values(lay_out(columns, base), of_load)


def _target_values(layout: Layout, target: int, metric: Metric) -> list[BlockValue]:
    columns, cells = layout.columns, len(layout.cell_names)
    pairs, apart = layout.pairs(target), layout.apart(target)
    found = slot_parts(layout, metric)
    if found is None:
        return []
    if metric.pooled:
        figures = _of_sums(metric, found, pairs, columns, cells)
    else:
        figures = _midmeans(found, pairs, columns.get("position"), cells)
    if apart.ours.size:
        figures = figures.or_else(_of_sums(metric, found, apart, columns, cells))
    return _cell_values(layout, target, metric, figures, disturbed_rows(layout, target))


@dataclass(frozen=True)
class _Figures:
    """Per cell: value (NaN: nothing to compare), its standard error from the rows alone (NaN: unknown), rows that count."""

    value: Floats
    error: Floats
    rows: Ints

    def or_else(self, other: "_Figures") -> "_Figures":
        """Those of `other` in the cells in which it has rows."""
        there = other.rows > 0
        return _Figures(
            np.where(there, other.value, self.value),
            np.where(there, other.error, self.error),
            np.where(there, other.rows, self.rows),
        )


def slot_parts(layout: Layout, metric: Metric) -> tuple[Floats, Floats] | None:
    """As `parts`, made once."""
    what = "parts", metric.numerator, metric.denominator, metric.scale
    return layout.once(what, lambda: parts(metric, layout.columns))


def disturbed_rows(layout: Layout, target: int) -> Ints:
    """Rows of each cell in which other work took part of the host."""
    return layout.once(("disturbed", target), lambda: _disturbed_rows(layout, target))


def _disturbed_rows(layout: Layout, target: int) -> Ints:
    flagged = flags(layout.columns.get("disturbed"), len(layout.columns["target"]))
    cells = len(layout.cell_names)
    count = np.zeros(cells, dtype=np.int64)
    for each in (layout.pairs(target), layout.apart(target)):
        of_ours = np.bincount(each.our_cell[flagged[each.ours]], minlength=cells)
        of_theirs = np.bincount(each.their_cell[flagged[each.theirs]], minlength=cells)
        count += np.maximum(of_ours, of_theirs)
    return count


def _cell_values(layout: Layout, target: int, metric: Metric, figures: _Figures, disturbed: Ints) -> list[BlockValue]:
    values = []
    for cell, (block, test) in enumerate(layout.cell_names):
        if (metric.tests and test not in metric.tests) or not figures.rows[cell]:
            continue
        value, error = (None if np.isnan(part[cell]) else float(part[cell]) for part in (figures.value, figures.error))
        rows, name = int(figures.rows[cell]), layout.targets[target]
        values.append(BlockValue(test, name, metric.name, block, value, rows, min(int(disturbed[cell]), rows), error))
    return values


def known_values(layout: Layout, target: int, metric: str, value: Floats, rows: Ints) -> list[BlockValue]:
    """Block values of a target in the cells that have one; `value` and `rows` are per cell."""
    return [
        BlockValue(test, layout.targets[target], metric, block, float(value[cell]), int(rows[cell]))
        for cell, (block, test) in enumerate(layout.cell_names)
        if not np.isnan(value[cell])
    ]


def slot_logs(found: tuple[Floats, Floats]) -> Floats:
    """ln of a metric in each slot, from its `parts`; not finite where it is unknown or nothing."""
    over, under = found
    with np.errstate(divide="ignore", invalid="ignore"):
        logs: Floats = np.log(over / under)
    return logs


def _midmeans(
    found: tuple[Floats, Floats], pairs: Sides, position: npt.NDArray[np.generic] | None, cells: int
) -> _Figures:
    """Midmean over pairs of ln(ours/theirs); a pair counts when both sides are known and positive."""
    logs = slot_logs(found)
    good = pairs.where(np.isfinite(logs))
    values = without_order_effect(logs[good.ours] - logs[good.theirs], good, position, cells)
    rows = good.counts(cells)
    ranked = rank_in_cells(values, good.our_cell, rows)
    return _Figures(midmeans_of(ranked, rows), midmean_errors(ranked, rows), rows)


def _of_sums(metric: Metric, found: tuple[Floats, Floats], sides: Sides, columns: Columns, cells: int) -> _Figures:
    """ln of the ratio of block sums per operation, lifted to the cell's floor; NaN where both are under it."""
    good = sides.where(np.isfinite(found[0] + found[1]))
    mine = sums_per_op(found, good.ours, good.our_cell, cells)
    base = sums_per_op(found, good.theirs, good.their_cell, cells)
    floor = _floor(metric, columns, sides, cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(np.maximum(mine, floor)) - np.log(np.maximum(base, floor))
    ratio = np.where(np.isfinite(ratio), ratio, np.nan)
    nothing = (mine < floor) & (base < floor)
    error = np.where(np.minimum(mine, base) < floor, np.nan, _errors_of_sums(found, good, mine, base, cells))
    return _Figures(np.where(nothing, np.nan, ratio), error, np.where(np.isnan(ratio), 0, good.counts(cells)))


def _errors_of_sums(found: tuple[Floats, Floats], sides: Sides, mine: Floats, base: Floats, cells: int) -> Floats:
    """Standard error of ln(mine/base), ratios of sums, by the delta method: what each row pulls the ratio by."""
    pulls = [_pulls(found, *side, ratio, cells) for side, ratio in zip(sides.both, (mine, base), strict=True)]
    if sides.paired:
        squares = np.bincount(sides.our_cell, weights=(pulls[0] - pulls[1]) ** 2, minlength=cells)
    else:
        of_sides = zip(sides.both, pulls, strict=True)
        squares = np.sum([np.bincount(cell, weights=pull**2, minlength=cells) for (_, cell), pull in of_sides], axis=0)
    rows = sides.counts(cells)
    return np.where(rows >= 2, np.sqrt(squares * rows / np.maximum(rows - 1, 1)), np.nan)


def _pulls(found: tuple[Floats, Floats], slots: Ints, cell: Ints, ratio: Floats, cells: int) -> Floats:
    """By how much each slot moves ln of its side's sum per operation."""
    cost, done = found[0][slots], found[1][slots]
    total = np.bincount(cell, weights=cost, minlength=cells)[cell]
    pull: Floats = np.divide(cost - ratio[cell] * done, total, out=np.zeros(len(slots)), where=total > 0)
    return pull


def sums_per_op(found: tuple[Floats, Floats], slots: Ints, cell: Ints, cells: int) -> Floats:
    """Sum of a metric's numerator over that of its denominator in each cell; NaN where nothing was done."""
    cost = np.bincount(cell, weights=found[0][slots], minlength=cells)
    done = np.bincount(cell, weights=found[1][slots], minlength=cells)
    share: Floats = np.divide(cost, done, out=np.full(cells, np.nan), where=done > 0)
    return share


def lifted_log_ratio(mine: float, base: float, floor: float) -> float | None:
    """ln(mine/base), both lifted to `floor`, so that something against nothing is finite; None: nothing on either side."""
    return math.log(max(mine, floor) / max(base, floor)) if max(mine, base) > floor else None


def _floor(metric: Metric, columns: Columns, sides: Sides, cells: int) -> Floats:
    """What counts as nothing in each cell: the metric's floor, or, where no data was changed, its rate per operation."""
    if not metric.rate_floor or "ops" not in columns or "elapsed_ns" not in columns:
        return np.full(cells, metric.floor)
    slots, cell = np.concatenate((sides.ours, sides.theirs)), np.concatenate((sides.our_cell, sides.their_cell))
    elapsed_s = np.nan_to_num(floats(columns["elapsed_ns"])) / 1e9
    op_s = sums_per_op((elapsed_s, np.nan_to_num(floats(columns["ops"]))), slots, cell, cells)
    changes = flags(columns.get("affected"), len(elapsed_s))[slots]
    writes = np.bincount(cell[changes], minlength=cells) > 0
    housekeeping = np.where(writes, 0.0, metric.rate_floor * np.nan_to_num(op_s))
    floor: Floats = np.maximum(metric.floor, housekeeping)
    return floor
