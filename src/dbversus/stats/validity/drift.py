"""Tests without a steady state: target/base moves while it is measured, so that it depends on how long one measures.

The trend of a block is by how much ln(target/base) moves over the length of its slots: the midmean of its last third minus
that of its first third, as far as a straight line goes on. What both do alike (caches that fill) cancels in each pair;
targets measured one after the other have a trend each, and the difference counts. Slots of one start resemble their
neighbours, so their number says little; as everywhere the block is the unit: trends of blocks go through the looks and verdicts
of `assess`, as a family of their own. docs/protocol.md, "No steady state".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dbversus.results.layout import Ints, Layout
from dbversus.stats.judging.looks import OVERALL
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.judging.whole_work import UNDRAINED, percent, with_note
from dbversus.stats.metrics import SMOOTH, Floats
from dbversus.stats.model import CHANGES, MOVED, BlockValue, Finding, Metric, Verdict
from dbversus.stats.values.blocks import known_values, slot_logs, slot_parts
from dbversus.stats.values.midmean import midmeans, without_order_effect
from dbversus.stats.values.table import Key

FEWEST_SLOTS = 6
"""Two in each third."""

TRENDS: tuple[Metric, ...] = tuple(
    replace(metric, name=f"drift.{metric.name}", title=f"drift of {metric.title}") for metric in SMOOTH
)
_TREND_OF = {metric.name: trend.name for metric, trend in zip(SMOOTH, TRENDS, strict=True)}


def judge_steadiness(
    findings: Sequence[Finding],
    trends: Sequence[BlockValue],
    looks: tuple[int, ...],
    whole: Mapping[Key, Finding],
    metrics: Sequence[Metric] = SMOOTH,
) -> list[Finding]:
    """The findings, those of `metrics` of SMOOTH that drift replaced by `no steady state` and the cost of all work.

    `trends`: as `trend_values` gives them; `whole`: what `judge_whole_work` says. Changes that all work bears out stay changes,
    with a note.
    """
    margins = {
        (finding.test, _TREND_OF[finding.metric]): finding.margin for finding in findings if finding.metric in _TREND_OF
    }
    names = {_TREND_OF[metric.name] for metric in metrics}
    judged = assess(trends, [trend for trend in TRENDS if trend.name in names], looks, margins)
    drifting = {trend.key: trend for trend in judged if is_drift(trend)}
    return [_judged(finding, drifting.get(_trend_key(finding)), whole.get(finding.key)) for finding in findings]


def is_drift(trend: Finding) -> bool:
    """Beyond chance in its family, and beyond the margin with its whole interval."""
    if trend.low is None or trend.high is None or trend.q_value is None or trend.q_value > OVERALL:
        return False
    return trend.low > 1 + trend.margin or trend.high < 1 / (1 + trend.margin)


def _trend_key(finding: Finding) -> Key:
    return finding.test, finding.target, _TREND_OF.get(finding.metric, "")


def _judged(finding: Finding, trend: Finding | None, whole: Finding | None) -> Finding:
    if trend is None or whole is None:
        return finding
    moved = f"target/base moved by {percent(trend.ratio)} {MOVED}"
    if finding.verdict in CHANGES and whole.verdict is finding.verdict:
        return with_note(finding, moved)
    note = f"{moved}; over all its work it is {percent(whole.ratio)} ({whole.verdict})"
    judged = replace(whole, verdict=Verdict.NO_STEADY_STATE, whole_work=whole.verdict, note=note)
    return with_note(judged, UNDRAINED) if UNDRAINED in whole.note else judged


def trend_values(layout: Layout) -> list[BlockValue]:
    """Trends of ln(target/base) for the metrics TRENDS, one value per test, target and block.

    The value is ln(target/base) at the end of the block's slots minus that at their beginning.
    """
    cells = len(layout.cell_names)
    values: list[BlockValue] = []
    for trend, logs in _logs_by_trend(layout):
        known = np.isfinite(logs)
        for target in layout.others:
            pairs, apart = layout.pairs(target).where(known), layout.apart(target).where(known)
            distances = logs[pairs.ours] - logs[pairs.theirs]
            distances = without_order_effect(distances, pairs, layout.columns.get("position"), cells)
            moved = trends(distances, pairs.our_cell, cells)
            mine, theirs = (trends(logs[slots], cell, cells) for slots, cell in apart.both)
            rows = pairs.counts(cells) + apart.counts(cells)
            values += known_values(layout, target, trend, np.where(np.isnan(moved), mine - theirs, moved), rows)
    return values


def own_trend_values(layout: Layout) -> list[BlockValue]:
    """As `trend_values`, of each target alone, the base among them: what both do alike is in it.

    A base that is up with several groups of targets has several starts in a block; its trend is that of one of them.
    """
    cells = len(layout.cell_names)
    values: list[BlockValue] = []
    for trend, logs in _logs_by_trend(layout):
        for target in range(len(layout.targets)):
            slots, cell = _own_slots(layout, target)
            good = np.isfinite(logs[slots])
            moved = trends(logs[slots[good]], cell[good], cells)
            values += known_values(layout, target, trend, moved, np.bincount(cell[good], minlength=cells))
    return values


def _logs_by_trend(layout: Layout) -> Iterator[tuple[str, Floats]]:
    """Names of TRENDS, and ln of the metric of each slot; without those whose columns are missing."""
    for metric, trend in zip(SMOOTH, TRENDS, strict=True):
        found = slot_parts(layout, metric)
        if found is not None:
            yield trend.name, slot_logs(found)


def _own_slots(layout: Layout, target: int) -> tuple[Ints, Ints]:
    """Slots of one target that are compared with the base (of the base: with the first other), and the cell of each."""
    others = [target] if target != layout.base else layout.others[:1]
    side = 0 if target != layout.base else 1
    found = [sides.both[side] for other in others for sides in (layout.pairs(other), layout.apart(other))]
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
