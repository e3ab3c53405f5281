"""Tests without a steady state: target/base moves while it is measured, so that it depends on how long one measures.

The trend of a block is by how much ln(target/base) moves over the length of its slots: the midmean of its last third minus
that of its first third, as far as a straight line goes on. What both do alike (caches that fill) cancels in each pair;
targets measured one after the other have a trend each, and the difference counts. Slots of one start resemble their
neighbours, so their number says little; as everywhere the block is the unit: trends of blocks go through the looks and verdicts
of `assess`, as a family of their own. docs/protocol.md, "No steady state".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dbversus.stats.blocks import midmeans, slot_logs, sums_per_op
from dbversus.stats.layout import Ints, Layout, Sides, lay_out
from dbversus.stats.looks import OVERALL
from dbversus.stats.metrics import CPU, DRAIN_CPU, PRIMARY, THROUGHPUT, Columns, Floats, parts
from dbversus.stats.model import BlockValue, Finding, Metric, Verdict
from dbversus.stats.table import Key
from dbversus.stats.verdicts import assess

FEWEST_SLOTS = 6
"""Two in each third."""

WATCHED: tuple[Metric, ...] = tuple(metric for metric in PRIMARY if metric.name in (CPU, THROUGHPUT))
TRENDS: tuple[Metric, ...] = tuple(
    replace(metric, name=f"drift.{metric.name}", title=f"drift of {metric.title}") for metric in WATCHED
)
_TREND_OF = {metric.name: trend.name for metric, trend in zip(WATCHED, TRENDS, strict=True)}


def judge_steadiness(
    findings: Sequence[Finding],
    columns: Columns,
    base: str,
    drains: Iterable[Mapping[str, Any]],
    looks: tuple[int, ...],
) -> list[Finding]:
    """The findings, those of CPU per op and throughput that drift replaced by `no steady state` and the cost of all work.

    `columns`: slots as in results/schema.py; `drains`: rows of its DRAIN_COLUMNS. Invalid findings stay what they are.
    """
    watched = [finding for finding in findings if finding.metric in _TREND_OF]
    margins = {(finding.test, _TREND_OF[finding.metric]): finding.margin for finding in watched}
    trends = assess(trend_values(columns, base), TRENDS, looks, margins)
    drifting = {(trend.test, trend.target, trend.metric): trend for trend in trends if is_drift(trend)}
    if not drifting:
        return list(findings)
    margins = {(finding.test, finding.metric): finding.margin for finding in watched}
    whole = {_key(each): each for each in assess(whole_work_values(columns, base, drains), WATCHED, looks, margins)}
    return [_judged(finding, drifting.get(_trend_key(finding)), whole.get(_key(finding))) for finding in findings]


def is_drift(trend: Finding) -> bool:
    """Beyond chance in its family, and beyond the margin with its whole interval."""
    if trend.low is None or trend.high is None or trend.q_value is None or trend.q_value > OVERALL:
        return False
    return trend.low > 1 + trend.margin or trend.high < 1 / (1 + trend.margin)


def _key(finding: Finding) -> Key:
    return finding.test, finding.target, finding.metric


def _trend_key(finding: Finding) -> Key:
    return finding.test, finding.target, _TREND_OF.get(finding.metric, "")


def _judged(finding: Finding, trend: Finding | None, whole: Finding | None) -> Finding:
    if trend is None or whole is None or finding.verdict is Verdict.INVALID:
        return finding
    note = (
        f"target/base moved by {_percent(trend.ratio)} during the slots of a block; "
        f"over all its work it is {_percent(whole.ratio)} ({whole.verdict})"
    )
    return replace(whole, verdict=Verdict.NO_STEADY_STATE, whole_work=whole.verdict, note=note)


def _percent(ratio: float | None) -> str:
    return "an unknown amount" if ratio is None else f"{100 * (ratio - 1):+.1f} %"


def trend_values(columns: Columns, base: str) -> list[BlockValue]:
    """Trends of ln(target/base) for the metrics TRENDS, one value per test, target and block.

    The value is ln(target/base) at the end of the block's slots minus that at their beginning. Raises as `lay_out`.
    """
    layout = lay_out(columns, base)
    cells = len(layout.cell_names)
    values: list[BlockValue] = []
    for metric, trend in zip(WATCHED, TRENDS, strict=True):
        found = parts(metric, columns)
        if found is None:
            continue
        logs = slot_logs(found)
        known = np.isfinite(logs)
        for target in layout.others:
            pairs, apart = layout.pairs(target).where(known), layout.apart(target).where(known)
            moved = trends(logs[pairs.ours] - logs[pairs.theirs], pairs.our_cell, cells)
            mine, theirs = (trends(logs[slots], cell, cells) for slots, cell in apart.each)
            rows = pairs.counts(cells) + apart.counts(cells)
            values += _values(layout, target, trend.name, np.where(np.isnan(moved), mine - theirs, moved), rows)
    return values


def own_trend_values(columns: Columns, base: str) -> list[BlockValue]:
    """As `trend_values`, of each target alone, the base among them: what both do alike is in it.

    A base that is up with several groups of targets has several starts in a block; its trend is that of one of them.
    """
    layout = lay_out(columns, base)
    cells = len(layout.cell_names)
    values: list[BlockValue] = []
    for metric, trend in zip(WATCHED, TRENDS, strict=True):
        found = parts(metric, columns)
        if found is None:
            continue
        logs = slot_logs(found)
        for target in range(len(layout.targets)):
            slots, cell = _own_slots(layout, target)
            good = np.isfinite(logs[slots])
            moved = trends(logs[slots[good]], cell[good], cells)
            values += _values(layout, target, trend.name, moved, np.bincount(cell[good], minlength=cells))
    return values


def _own_slots(layout: Layout, target: int) -> tuple[Ints, Ints]:
    """Slots of one target that are compared with the base (of the base: with the first other), and the cell of each."""
    others = [target] if target != layout.base else layout.others[:1]
    side = 0 if target != layout.base else 1
    found = [sides.each[side] for other in others for sides in (layout.pairs(other), layout.apart(other))]
    slots = np.concatenate([slots for slots, _ in found] or [np.empty(0, dtype=np.int64)])
    cell = np.concatenate([cell for _, cell in found] or [np.empty(0, dtype=np.int64)])
    order = np.argsort(cell, kind="stable")
    return slots[order], cell[order]


def trends(logs: Floats, cell: Ints, cells: int) -> Floats:
    """By how much each cell's logs move over their whole length; NaN with fewer than FEWEST_SLOTS.

    `logs` in order of cell and time. Midmeans of the first and the last third, and the line through them: a slot that was
    hit alone does not bend it.
    """
    counts = np.bincount(cell, minlength=cells)
    rank = np.arange(len(cell)) - (np.cumsum(counts) - counts)[cell]
    third = 3 * rank // np.maximum(counts, 1)[cell]
    early, late = (_middle(logs, cell, rank, third == part, cells) for part in (0, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        moved: Floats = (late[0] - early[0]) / (late[1] - early[1]) * counts
    return np.where(counts >= FEWEST_SLOTS, moved, np.nan)


def _middle(logs: Floats, cell: Ints, rank: Ints, chosen: Any, cells: int) -> tuple[Floats, Floats]:
    """Midmean and mean rank of the chosen slots of each cell."""
    counts = np.bincount(cell[chosen], minlength=cells)
    ranks = np.bincount(cell[chosen], weights=rank[chosen], minlength=cells)
    mean_rank = np.divide(ranks, counts, out=np.full(cells, np.nan), where=counts > 0)
    return midmeans(logs[chosen], cell[chosen], counts), mean_rank


def whole_work_values(columns: Columns, base: str, drains: Iterable[Mapping[str, Any]]) -> list[BlockValue]:
    """Block values of CPU per op and throughput from all slots of a block together, as if they were one.

    What the servers did after a test to pay what it had left is added to its CPU per op, where it is known for both.
    """
    layout = lay_out(columns, base)
    cells = len(layout.cell_names)
    drained = _drained(drains)
    values: list[BlockValue] = []
    for target in layout.others:
        pairs, apart = layout.pairs(target), layout.apart(target)
        for metric in WATCHED:
            found = parts(metric, columns)
            if found is None:
                continue
            left = _left(layout, target, drained) if metric.name == CPU else np.zeros((2, cells))
            together, alone = (_log_ratio(found, sides, left, cells) for sides in (pairs, apart))
            rows = pairs.counts(cells) + apart.counts(cells)
            values += _values(layout, target, metric.name, np.where(np.isnan(together), alone, together), rows)
    return values


def _log_ratio(found: tuple[Floats, Floats], sides: Sides, left: Floats, cells: int) -> Floats:
    good = sides.where(np.isfinite(found[0] + found[1]))
    mine = sums_per_op(found, good.ours, good.our_cell, cells) + left[0]
    base = sums_per_op(found, good.theirs, good.their_cell, cells) + left[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(mine / base)
    return np.where(np.isfinite(ratio), ratio, np.nan)


Drained = Mapping[tuple[int, str, str], Mapping[Any, float | None]]
"""(block, test, target) → group → drained CPU per operation, µs."""


def _drained(rows: Iterable[Mapping[str, Any]]) -> Drained:
    found: dict[tuple[int, str, str], dict[Any, float | None]] = {}
    for row in rows:
        found.setdefault((row["block"], row["test"], row["target"]), {})[row["target_group"]] = row[DRAIN_CPU]
    return found


def _left(layout: Layout, target: int, drained: Drained) -> Floats:
    """Drained CPU per operation of target and base in each cell, of the group that both were in; 0 where one is unknown."""
    left = np.zeros((2, len(layout.cell_names)))
    for cell, (block, test) in enumerate(layout.cell_names):
        mine = drained.get((block, test, layout.targets[target]), {})
        base = drained.get((block, test, layout.targets[layout.base]), {})
        for group in mine.keys() & base.keys():
            of_target, of_base = mine[group], base[group]
            if of_target is not None and of_base is not None:
                left[:, cell] = of_target, of_base
    return left


def _values(layout: Layout, target: int, metric: str, value: Floats, rows: Ints) -> list[BlockValue]:
    return [
        BlockValue(test, layout.targets[target], metric, block, float(value[cell]), int(rows[cell]))
        for cell, (block, test) in enumerate(layout.cell_names)
        if not np.isnan(value[cell])
    ]
