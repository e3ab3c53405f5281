"""All work of a block together, as if its slots were one: judged beside the rows, which do not tell everything.

The midmean over rows leaves out a quarter of them at each end, so that what hit single slots moves no block. A target that
stalls in single slots by its own doing, is dearer in bursts, or puts work off until the test is over, would have that left
out too. So all work is judged as a family of its own. What it shows for certain is a change, also where the rows show none;
where it speaks against a change of the rows, or less surely against rows that are within the margin, nothing is decided.
docs/protocol.md, "All the work".
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dbversus.results.layout import Layout, Sides, flags
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.metrics import CPU, DRAIN_CPU, SMOOTH, THROUGHPUT, Floats, metric_named
from dbversus.stats.model import CHANGES, WITHIN, BlockValue, Finding, Metric, Verdict
from dbversus.stats.values.blocks import known_values, slot_parts, sums_per_op
from dbversus.stats.values.table import Key
from dbversus.units import show_change

Drained = Mapping[tuple[int, str, str], Mapping[Any, float | None]]
"""(block, test, target) → group → drained CPU per operation, µs."""

CONTRADICTS = 0.05
"""The p-value alone, not for all looks and tests at once: it withholds a verdict from one test, and calls none changed."""

DECIDES = 0.025
"""The q-value, of all looks and tests at once. Half of that of rows: a change of all work comes on top of theirs, and the false
alarms of both together are to stay under 5 %."""

_OPEN = frozenset({*WITHIN, Verdict.UNDECIDED, Verdict.UNSTABLE})

UNDRAINED = "what was done after the test is not in all its work: it was not measured"

_CAUSES: Mapping[tuple[str, Verdict], str] = {
    (THROUGHPUT, Verdict.REGRESSION): "single slots were slow",
    (THROUGHPUT, Verdict.IMPROVEMENT): "single slots of the base were slow",
    (CPU, Verdict.REGRESSION): "single slots, or what it left to do after the test, cost more",
    (CPU, Verdict.IMPROVEMENT): "single slots of the base, or what that left to do after the test, cost more",
}
_LESS_AND_MORE: Mapping[str, tuple[str, str]] = {CPU: ("cheaper", "dearer"), THROUGHPUT: ("slower", "faster")}


def judge_whole_work(
    values: Sequence[BlockValue],
    looks: tuple[int, ...],
    margins: Mapping[tuple[str, str], float],
    metrics: Sequence[Metric] = SMOOTH,
    undrained: Container[Key] = frozenset(),
) -> dict[Key, Finding]:
    """Findings of all work, by test, target and metric, for `metrics` of SMOOTH (CPU per op, throughput).

    `values`: as `whole_work_values` gives them; `undrained`: keys of which some of the work is not known. Raises as `assess`.
    """
    findings = assess(values, metrics, looks, margins)
    return {finding.key: with_note(finding, UNDRAINED) if finding.key in undrained else finding for finding in findings}


def check_whole_work(findings: Sequence[Finding], whole: Mapping[Key, Finding]) -> list[Finding]:
    """The findings, each held against what `whole` says of the same key.

    A change that all work contradicts is undecided; one that it puts at another size says so. Where rows show none, and all work
    does, that is the verdict; where it is not certain, those that are within the margin by their rows are undecided.
    """
    return [_checked(finding, whole.get(finding.key)) for finding in findings]


def _checked(finding: Finding, whole: Finding | None) -> Finding:
    if whole is None:
        return finding
    checked = _held_against(finding, whole) if finding.verdict in CHANGES else _completed(finding, whole)
    return with_note(checked, UNDRAINED) if UNDRAINED in whole.note and UNDRAINED not in checked.note else checked


def _held_against(finding: Finding, whole: Finding) -> Finding:
    """A change of the rows: undecided where all work is one in the other direction."""
    change = _change(whole)
    if change is not None and change is not finding.verdict:
        typical, total = (f"{_direction(each)}, {_figure(each)}" for each in (finding, whole))
        note = f"a typical slot is {typical}, but the total {total}"
        return replace(finding, verdict=Verdict.UNDECIDED, whole_work=change, note=note)
    if whole.low is None or whole.high is None or finding.ratio is None or whole.low <= finding.ratio <= whole.high:
        return finding
    cause = _CAUSES[finding.metric, _worse_or_better(finding.metric, whole.low > finding.ratio)]
    return with_note(finding, f"a typical slot {_figure(finding)}, the total {_figure(whole)}: {cause}")


def _completed(finding: Finding, whole: Finding) -> Finding:
    """What the rows leave open, or put within the margin, with the change that all work shows."""
    change = _change(whole)
    if change is None or finding.verdict not in _OPEN:
        return finding
    over_all = f"over all its work {percent(whole.ratio)}: {_CAUSES[finding.metric, change]}"
    if whole.verdict is change and whole.q_value is not None and whole.q_value <= DECIDES:
        note = f"{finding.verdict} in the middle half of its rows ({percent(finding.ratio)}); {over_all}; {whole.note}"
        return replace(whole, whole_work=change, note=note)
    if finding.verdict not in WITHIN:
        return finding
    note = f"{finding.verdict} in the middle half of its rows; {over_all}"
    return replace(finding, verdict=Verdict.UNDECIDED, whole_work=change, note=note)


def _change(whole: Finding) -> Verdict | None:
    """The change that all work shows: one beyond the margin, which chance alone seldom makes."""
    if whole.ratio is None or whole.p_value is None or whole.p_value > CONTRADICTS:
        return None
    if 1 / (1 + whole.margin) <= whole.ratio <= 1 + whole.margin:
        return None
    return _worse_or_better(whole.metric, whole.ratio > 1)


def _worse_or_better(metric: str, more: bool) -> Verdict:
    return Verdict.REGRESSION if more != metric_named(metric).higher_is_better else Verdict.IMPROVEMENT


def _direction(finding: Finding) -> str:
    return _LESS_AND_MORE[finding.metric][(finding.ratio or 1) > 1]


def _figure(finding: Finding) -> str:
    """`0.957 [0.931, 0.984]`"""
    bounds = "" if finding.low is None or finding.high is None else f" [{finding.low:.3f}, {finding.high:.3f}]"
    return f"{finding.ratio:.3f}{bounds}"


def with_note(finding: Finding, more: str) -> Finding:
    """The finding with `more` at the end of its note."""
    return replace(finding, note="; ".join(filter(None, (finding.note, more))))


def percent(ratio: float | None) -> str:
    """`+5.1 %`, `×3.2`, `to 1/700`"""
    return "an unknown amount" if ratio is None else show_change(ratio)


def whole_work_values(layout: Layout, drains: Iterable[Mapping[str, Any]]) -> list[BlockValue]:
    """Block values of CPU per op and throughput from all slots of a block together, as if they were one.

    What the servers did after a test to pay what it had left is added to its CPU per op, where it is known for both in all
    blocks.
    """
    cells = len(layout.cell_names)
    drained = _drained(drains)
    values: list[BlockValue] = []
    for target in layout.others:
        pairs, apart = layout.pairs(target), layout.apart(target)
        for metric in SMOOTH:
            found = slot_parts(layout, metric)
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
    """Drained CPU per operation of target and base in each cell, of the group that both were in.

    0 in all blocks of a test where one is unknown in any: with it in some of them only, they would not be repetitions.
    """
    left = _drained_in_cells(layout, target, drained)
    unknown = _unknown_in(layout, target, left)
    left[:, [test in unknown for _, test in layout.cell_names]] = 0.0
    return np.nan_to_num(left)


def _drained_in_cells(layout: Layout, target: int, drained: Drained) -> Floats:
    """As `_left`; NaN where one is unknown."""
    left = np.full((2, len(layout.cell_names)), np.nan)
    for cell, (block, test) in enumerate(layout.cell_names):
        mine = drained.get((block, test, layout.targets[target]), {})
        base = drained.get((block, test, layout.targets[layout.base]), {})
        for group in mine.keys() & base.keys():
            of_target, of_base = mine[group], base[group]
            if of_target is not None and of_base is not None:
                left[:, cell] = of_target, of_base
    return left


def _unknown_in(layout: Layout, target: int, left: Floats) -> set[str]:
    """Tests in which the two were measured in a block without what they drained then."""
    cells = len(layout.cell_names)
    measured = layout.pairs(target).counts(cells) + layout.apart(target).counts(cells) > 0
    return {test for cell, (_, test) in enumerate(layout.cell_names) if measured[cell] and np.isnan(left[0, cell])}


def undrained_keys(layout: Layout, drains: Iterable[Mapping[str, Any]]) -> set[Key]:
    """Keys of CPU per op of tests that change data, after which what servers with work in the background did is unknown."""
    columns = layout.columns
    count = len(columns["target"])
    changes, background = (flags(columns.get(name), count) for name in ("affected", "server_background_cpu_ns"))
    tests = set(columns["test"][changes]) & set(columns["test"][background])
    drained = _drained(drains)
    return {
        (test, layout.targets[target], CPU)
        for target in layout.others
        for test in tests & _unknown_in(layout, target, _drained_in_cells(layout, target, drained))
    }
