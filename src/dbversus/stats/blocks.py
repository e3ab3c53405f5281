"""From slots to block values: ln(target/base) of each block × test × metric × target, the unit of replication.

Two estimators, by the nature of the metric:

- a smooth metric (throughput, CPU per op, latency): the midmean over rows of ln(target slot / base slot), same-row pairs
  only, so that whatever slowed a whole row cancels in each pair. The midmean (mean of the middle half) and not the mean,
  because a disturbance that hits one slot of a pair and not the other is an outlier that interleaving cannot cancel:
  docs/protocol.md has the figures;
- a `pooled` metric: ln of the ratio of sums over the same pairs, per operation. Bytes, calls, faults, switches and
  background CPU fall into few slots (a checkpoint, a WAL flush): most slots hold nothing, so single ratios are 0/0 or
  infinite, while the sums are exactly what the operations cost. Sums under the metric's floor are lifted to it: nothing
  against something stays a large but finite change, nothing against nothing is None.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dbversus.errors import UsageError
from dbversus.stats.metrics import LOAD_TEST, METRICS, Columns, Floats, floats, parts
from dbversus.stats.model import BlockValue, Metric

Ints = npt.NDArray[np.int64]

TRIMMED = 0.25
"""Share of the rows of a block that is cut off at each end."""


def block_values(columns: Columns, base: str, metrics: Sequence[Metric] = METRICS) -> list[BlockValue]:
    """Block values of all targets against `base`, from columns of results/schema.py (nulls: masked, None or NaN).

    Metrics whose columns are absent, or null throughout a block, give no value there. Raises UsageError when `base` is
    not among the targets.
    """
    layout = _lay_out(columns, base)
    values: list[BlockValue] = []
    for target in range(len(layout.targets)):
        if target != layout.base:
            values += _target_values(layout, target, columns, metrics)
    return values


def load_values(
    loads: Iterable[Mapping[str, Any]], labels: Mapping[str, str], base: str, metrics: Sequence[Metric] = METRICS
) -> list[BlockValue]:
    """Values of the `load` test from the journal's `load` records, one pair per table; `labels`: target name → label.

    Data is loaded once per experiment, so this is one block: enough for a ratio, not for a verdict.
    """
    last = {(record["target"], record.get("table")): record for record in loads}
    tables = sorted({str(table) for _, table in last})
    records = list(last.values())
    columns: dict[str, npt.NDArray[np.generic]] = {
        "test": np.array([LOAD_TEST] * len(records), dtype=str),
        "target": np.array([labels[record["target"]] for record in records], dtype=str),
        "block": np.zeros(len(records)),
        "row": np.array([tables.index(str(record.get("table"))) for record in records], dtype=np.float64),
    }
    if base not in columns["target"]:
        return []
    for name in ("rows", "elapsed_ns", "server_cpu_ns"):
        columns[name] = np.array([record.get(name) for record in records], dtype=np.float64)
    return block_values(columns, base, [metric for metric in metrics if LOAD_TEST in metric.tests])


@dataclass(frozen=True)
class _Layout:
    """Where each slot belongs. A cell is a block × test; `slot_at[pair, target]` is a slot's index, or -1."""

    targets: list[str]
    base: int
    cell_names: list[tuple[int, str]]
    cell_of_pair: Ints
    slot_at: Ints
    dropped: Ints


def _lay_out(columns: Columns, base: str) -> _Layout:
    targets, target = np.unique(np.asarray(columns["target"], dtype=str), return_inverse=True)
    if base not in targets:
        raise UsageError(f"no slots of the base '{base}'; there are slots of: {', '.join(targets) or 'nobody'}")
    tests, test = np.unique(np.asarray(columns["test"], dtype=str), return_inverse=True)
    block, row = floats(columns["block"]).astype(np.int64), floats(columns["row"]).astype(np.int64)
    cells, cell = np.unique(block * len(tests) + test, return_inverse=True)
    dropped = _flags(columns.get("dropped"), len(row))
    rows_span = int(row.max(initial=0)) + 1
    kept = np.flatnonzero(~dropped)
    pairs, pair = np.unique(cell[kept] * rows_span + row[kept], return_inverse=True)
    slot_at = np.full((len(pairs), len(targets)), -1, dtype=np.int64)
    slot_at[pair, target[kept]] = kept
    lost = np.zeros((len(cells), len(targets)), dtype=np.int64)
    np.add.at(lost, (cell[dropped], target[dropped]), 1)
    return _Layout(
        targets=[str(name) for name in targets],
        base=int(np.flatnonzero(targets == base)[0]),
        cell_names=[(int(key // len(tests)), str(tests[key % len(tests)])) for key in cells],
        cell_of_pair=pairs // rows_span,
        slot_at=slot_at,
        dropped=lost,
    )


def _flags(column: npt.NDArray[np.generic] | None, count: int) -> npt.NDArray[np.bool_]:
    """A boolean column; null and absent mean False."""
    if column is None:
        return np.zeros(count, dtype=np.bool_)
    flags: npt.NDArray[np.bool_] = np.nan_to_num(floats(column)).astype(np.bool_)
    return flags


def _target_values(layout: _Layout, target: int, columns: Columns, metrics: Sequence[Metric]) -> list[BlockValue]:
    ours, theirs = layout.slot_at[:, target], layout.slot_at[:, layout.base]
    both = (ours >= 0) & (theirs >= 0)
    ours, theirs, cell = ours[both], theirs[both], layout.cell_of_pair[both]
    op_s = _seconds_per_op(
        columns, np.concatenate((ours, theirs)), np.concatenate((cell, cell)), len(layout.cell_names)
    )
    values: list[BlockValue] = []
    for metric in metrics:
        found = parts(metric, columns)
        if found is None:
            continue
        if metric.pooled:
            floor = np.maximum(metric.floor, metric.rate_floor * op_s)
            value, rows = _pooled(floor, found, ours, theirs, cell, len(layout.cell_names))
        else:
            value, rows = _midmean_of_logs(found, ours, theirs, cell, len(layout.cell_names))
        measured = not all(np.isnan(part).all() for part in found)
        values += _cell_values(layout, target, metric, value, rows, measured)
    return values


def _seconds_per_op(columns: Columns, slots: Ints, cell: Ints, cells: int) -> Floats:
    """Slot time per operation in each cell, over both targets; 0 where nothing was done or that is not known."""
    if "ops" not in columns or "elapsed_ns" not in columns:
        return np.zeros(cells)
    elapsed_s = np.bincount(cell, weights=np.nan_to_num(floats(columns["elapsed_ns"])[slots]) / 1e9, minlength=cells)
    ops = np.bincount(cell, weights=np.nan_to_num(floats(columns["ops"])[slots]), minlength=cells)
    return np.divide(elapsed_s, ops, out=np.zeros(cells), where=ops > 0)


def _cell_values(
    layout: _Layout, target: int, metric: Metric, value: Floats, rows: Ints, measured: bool
) -> list[BlockValue]:
    values = []
    for cell, (block, test) in enumerate(layout.cell_names):
        if metric.tests and test not in metric.tests:
            continue
        dropped = int(layout.dropped[cell, target])
        if rows[cell] == 0 and not (dropped and measured):
            continue
        known = None if np.isnan(value[cell]) else float(value[cell])
        values.append(BlockValue(test, layout.targets[target], metric.name, block, known, int(rows[cell]), dropped))
    return values


def _midmean_of_logs(
    found: tuple[Floats, Floats], ours: Ints, theirs: Ints, cell: Ints, cells: int
) -> tuple[Floats, Ints]:
    """Midmean over pairs of ln(ours/theirs); a pair counts when both sides are known and positive."""
    over, under = found
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(over[ours] / under[ours]) - np.log(over[theirs] / under[theirs])
    good = np.isfinite(logs)
    rows = np.bincount(cell[good], minlength=cells)
    return _midmeans(logs[good], cell[good], rows), rows


def _midmeans(values: Floats, cell: Ints, counts: Ints) -> Floats:
    """Mean of the middle half of the values of each cell (all of them where there are fewer than four); NaN for none."""
    order = np.lexsort((values, cell))
    values, cell = values[order], cell[order]
    rank = np.arange(len(cell)) - (np.cumsum(counts) - counts)[cell]
    cut = (TRIMMED * counts).astype(np.int64)[cell]
    middle = (rank >= cut) & (rank < counts[cell] - cut)
    kept = np.bincount(cell[middle], minlength=len(counts))
    sums = np.bincount(cell[middle], weights=values[middle], minlength=len(counts))
    means: Floats = np.divide(sums, kept, out=np.full(len(counts), np.nan), where=kept > 0)
    return means


def _pooled(
    floor: Floats, found: tuple[Floats, Floats], ours: Ints, theirs: Ints, cell: Ints, cells: int
) -> tuple[Floats, Ints]:
    """ln of the ratio of block sums per operation, lifted to the cell's floor; NaN where both are under it."""
    over, under = found
    good = np.isfinite(over[ours] + under[ours] + over[theirs] + under[theirs])
    rows = np.bincount(cell[good], minlength=cells)

    def per_op(slots: Ints) -> Floats:
        cost = np.bincount(cell[good], weights=over[slots[good]], minlength=cells)
        done = np.bincount(cell[good], weights=under[slots[good]], minlength=cells)
        share: Floats = np.divide(cost, done, out=np.full(cells, np.nan), where=done > 0)
        return share

    mine, base = per_op(ours), per_op(theirs)
    ratio = np.log(np.maximum(mine, floor)) - np.log(np.maximum(base, floor))
    nothing = (mine < floor) & (base < floor)
    return np.where(nothing, np.nan, ratio), np.where(np.isnan(ratio), 0, rows)
