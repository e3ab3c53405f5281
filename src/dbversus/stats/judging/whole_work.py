"""All work of a block together, as if its slots were one: judged beside the rows, which do not tell everything.

The midmean over rows leaves out a quarter of them at each end, so that what hit single slots moves no block. A target that
stalls in single slots by its own doing, is dearer in bursts, or puts work off until the test is over, would have that left
out too. So all work is judged as a family of its own. What it shows for certain is a change, also where the rows show none;
where it speaks less surely against rows that are equivalent, nothing is decided. docs/protocol.md, "All the work".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dbversus.stats.judging.verdicts import assess
from dbversus.stats.metrics import CPU, DRAIN_CPU, SMOOTH, THROUGHPUT, Columns, Floats, metric_named, parts
from dbversus.stats.model import BlockValue, Finding, Metric, Verdict
from dbversus.stats.values.blocks import known_values, sums_per_op
from dbversus.stats.values.layout import Layout, Sides, lay_out
from dbversus.stats.values.table import Key
from dbversus.units import show_change

Drained = Mapping[tuple[int, str, str], Mapping[Any, float | None]]
"""(block, test, target) → group → drained CPU per operation, µs."""

CONTRADICTS = 0.05
"""The p-value alone, not for all looks and tests at once: it withholds a verdict from one test, and calls none changed."""

DECIDES = 0.025
"""The q-value, of all looks and tests at once. Half of that of rows: a change of all work comes on top of theirs, and the false
alarms of both together are to stay under 5 %."""

_OPEN = frozenset({Verdict.EQUIVALENT, Verdict.UNDECIDED, Verdict.UNSTABLE})

_CAUSES: Mapping[tuple[str, Verdict], str] = {
    (THROUGHPUT, Verdict.REGRESSION): "single slots were slow",
    (THROUGHPUT, Verdict.IMPROVEMENT): "single slots of the base were slow",
    (CPU, Verdict.REGRESSION): "single slots, or what it left to do after the test, cost more",
    (CPU, Verdict.IMPROVEMENT): "single slots of the base, or what that left to do after the test, cost more",
}


def judge_whole_work(
    columns: Columns,
    base: str,
    drains: Iterable[Mapping[str, Any]],
    looks: tuple[int, ...],
    margins: Mapping[tuple[str, str], float],
    metrics: Sequence[Metric] = SMOOTH,
) -> dict[Key, Finding]:
    """Findings of all work, by test, target and metric, for `metrics` of SMOOTH (CPU per op, throughput).

    `columns`: slots as in results/schema.py; `drains`: rows of its DRAIN_COLUMNS. Raises as `lay_out` and `assess`.
    """
    findings = assess(whole_work_values(columns, base, drains), metrics, looks, margins)
    return {finding.key: finding for finding in findings}


def check_whole_work(findings: Sequence[Finding], whole: Mapping[Key, Finding]) -> list[Finding]:
    """The findings; those in which all work shows a change that the rows do not are replaced by that.

    Where it is not certain, those that are equivalent by their rows are undecided. A change that is another in size over all
    work says so.
    """
    return [_checked(finding, whole.get(finding.key)) for finding in findings]


def _checked(finding: Finding, whole: Finding | None) -> Finding:
    if whole is None or (change := _change(whole)) is None:
        return finding
    over_all = f"over all its work {percent(whole.ratio)}: {_CAUSES[finding.metric, change]}"
    if finding.verdict is change and _are_apart(finding, whole):
        return replace(finding, note=f"{finding.note}; {over_all}")
    if finding.verdict not in _OPEN:
        return finding
    if whole.verdict is change and whole.q_value is not None and whole.q_value <= DECIDES:
        note = f"{finding.verdict} in the middle half of its rows ({percent(finding.ratio)}); {over_all}; {whole.note}"
        return replace(whole, whole_work=change, note=note)
    if finding.verdict is not Verdict.EQUIVALENT:
        return finding
    note = f"equivalent in the middle half of its rows; {over_all}"
    return replace(finding, verdict=Verdict.UNDECIDED, whole_work=change, note=note)


def _are_apart(finding: Finding, whole: Finding) -> bool:
    """Whether no ratio is in the intervals of both."""
    if finding.low is None or finding.high is None or whole.low is None or whole.high is None:
        return False
    return whole.low > finding.high or whole.high < finding.low


def _change(whole: Finding) -> Verdict | None:
    """The change that all work shows: one beyond the margin, which chance alone seldom makes."""
    if whole.ratio is None or whole.p_value is None or whole.p_value > CONTRADICTS:
        return None
    if 1 / (1 + whole.margin) <= whole.ratio <= 1 + whole.margin:
        return None
    worse = (whole.ratio > 1) != metric_named(whole.metric).higher_is_better
    return Verdict.REGRESSION if worse else Verdict.IMPROVEMENT


def percent(ratio: float | None) -> str:
    """`+5.1 %`, `×3.2`, `to 1/700`"""
    return "an unknown amount" if ratio is None else show_change(ratio)


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
        for metric in SMOOTH:
            found = parts(metric, columns)
            if found is None:
                continue
            left = _left(layout, target, drained) if metric.name == CPU else np.zeros((2, cells))
            together, alone = (_log_ratio(found, sides, left, cells) for sides in (pairs, apart))
            rows = pairs.counts(cells) + apart.counts(cells)
            values += known_values(layout, target, metric.name, np.where(np.isnan(together), alone, together), rows)
    return values


def _log_ratio(found: tuple[Floats, Floats], sides: Sides, left: Floats, cells: int) -> Floats:
    good = sides.where(np.isfinite(found[0] + found[1]))
    mine = sums_per_op(found, good.ours, good.our_cell, cells) + left[0]
    base = sums_per_op(found, good.theirs, good.their_cell, cells) + left[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(mine / base)
    return np.where(np.isfinite(ratio), ratio, np.nan)


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
