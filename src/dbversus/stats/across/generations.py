"""Two generations of two systems: how the ratio second/first moved from the old pair to the new pair (docs/modes.md).

Every figure is a mean over blocks of ln ratios with Student's t interval over blocks, at CONFIDENCE. Pairs of one experiment
share their blocks, so there the shift is taken block by block; pairs of two experiments do not, so there it is the
difference of two independent means (Welch).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from dbversus.results.layout import lay_out
from dbversus.results.records import Load
from dbversus.results.schema import is_load
from dbversus.stats.across.contrast import beyond, contrast
from dbversus.stats.means import FEWEST_BLOCKS, Logs, Mean, Ratio
from dbversus.stats.metrics import CPU, DISK_READ_BYTES, DISK_READS, LOAD_TEST, THROUGHPUT, Columns, metric_named, parts
from dbversus.stats.model import BlockValue, Metric
from dbversus.stats.values.blocks import block_values, load_values

MARGIN = 0.05
MARKED = (THROUGHPUT, CPU)
COMPARED = (*MARKED, DISK_READS, DISK_READ_BYTES)

_OLD, _NEW = "old", "new"
_OF_LOAD = {"load_rows_per_s": THROUGHPUT, "load_cpu_us_per_row": CPU}

Key = tuple[str, str]
"""(test, metric)"""


@dataclass(frozen=True)
class Pair:
    """Two targets of one experiment, by label. Ratios are second/first."""

    first: str
    second: str


@dataclass(frozen=True)
class Generation:
    """What one pair came to.

    `fixed` holds ratios that have no logarithm: 1 where both targets did next to nothing, inf where only the second did
    something, 0 where only the first did. `loaded_once`: the figures of the load are of one.
    """

    logs: Mapping[Key, Logs]
    fixed: Mapping[Key, float] = field(default_factory=dict)
    loaded_once: bool = False

    @property
    def tests(self) -> set[str]:
        return {test for test, _ in self.logs}

    def of(self, key: Key) -> list[Logs]:
        """For a contrast; of what was not measured there is one without blocks."""
        return [self.logs.get(key, {})]


class Mark(StrEnum):
    """Which way a ratio shifted, by more than the margin with its whole interval; for the pair's second target."""

    GAIN = "gain"
    LOSS = "loss"
    NONE = ""


@dataclass(frozen=True)
class Change:
    """One metric: second/first in the old and in the new pair, and new/old. None: not measured, or not asked for."""

    old: Ratio | None
    new: Ratio | None
    shift: Ratio | None = None
    mark: Mark = Mark.NONE


@dataclass(frozen=True)
class TestShift:
    """One test: changes by metric. `left_out`: why it bears no mark and is in no mean; empty for most."""

    __test__ = False  # pytest would take it for a class of tests

    test: str
    changes: Mapping[str, Change]
    left_out: str = ""


@dataclass(frozen=True)
class Shifts:
    """All tests in order, and by metric the geometric means over those `in_mean`, by name.

    A load that was done once (`loaded_once`) is apart from what is judged: in no mean, and without marks.
    """

    tests: tuple[TestShift, ...]
    means: Mapping[str, Change]
    in_mean: Mapping[str, tuple[str, ...]]
    margin: float
    loaded_once: bool = True

    @property
    def tests_in_mean(self) -> dict[str, int]:
        """How many, by metric."""
        return {metric: len(tests) for metric, tests in self.in_mean.items()}

    @property
    def judged(self) -> tuple[TestShift, ...]:
        return tuple(item for item in self.tests if item is not self.load)

    @property
    def load(self) -> TestShift | None:
        """Of a load that was done once."""
        return next((item for item in self.tests if item.test == LOAD_TEST and self.loaded_once), None)

    def marked(self, metric: str, mark: Mark) -> list[str]:
        """Names of the tests with that mark."""
        return [item.test for item in self.tests if metric in item.changes and item.changes[metric].mark is mark]


def generation(
    columns: Columns, pair: Pair, loads: Iterable[Load] = (), labels: Mapping[str, str] | None = None
) -> Generation:
    """One pair's block values from the slots of an experiment (columns of results/schema.py).

    `loads` are the journal's `load` records and `labels` maps the names of targets in them to labels. Where blocks repeat the
    load, they are passed over; else the test `load` has one block and no interval.
    """
    ours = np.isin(np.asarray(columns["target"], dtype=str), (pair.first, pair.second))
    slots = {name: column[ours] for name, column in columns.items()}
    metrics = [metric_named(name) for name in COMPARED]
    values = block_values(lay_out(slots, pair.first), metrics) if pair.first in slots["target"] else []
    loads = () if any(is_load(test) for test in set(slots["test"])) else loads
    loaded = [value for value in load_values(loads, labels or {}, pair.first) if value.target == pair.second]
    fixed: dict[Key, float] = {}
    for metric in metrics:
        if metric.pooled:
            fixed |= {(test, metric.name): ratio for test, ratio in _without_logarithm(slots, metric, pair).items()}
    once = bool(loaded) or len(set(slots["block"][slots["test"] == LOAD_TEST])) == 1
    return Generation(_logs([*values, *loaded]), fixed, once)


def _logs(values: Iterable[BlockValue]) -> dict[Key, dict[int, float]]:
    """A block in which both sides did nothing, though others saw something, holds no difference: ln 1."""
    logs: dict[Key, dict[int, float]] = {}
    for value in values:
        if value.rows:
            name = _OF_LOAD.get(value.metric, value.metric)
            logs.setdefault((value.test, name), {})[value.block] = value.value or 0.0
    return logs


def _without_logarithm(slots: Columns, metric: Metric, pair: Pair) -> dict[str, float]:
    """Test → ratio, by the rule of the reference's relative tables, where a side is under the metric's floor."""
    found = parts(metric, slots)
    if found is None:
        return {}
    over, under = found
    known = np.isfinite(over + under)
    tests, test = np.unique(np.asarray(slots["test"], dtype=str)[known], return_inverse=True)
    cell = 2 * test + (np.asarray(slots["target"], dtype=str)[known] == pair.second)
    cost = np.bincount(cell, weights=over[known], minlength=2 * len(tests))
    done = np.bincount(cell, weights=under[known], minlength=2 * len(tests))
    per_op = np.divide(cost, done, out=np.full(len(cost), np.nan), where=done > 0).reshape(-1, 2)
    firsts, seconds = per_op[:, 0].tolist(), per_op[:, 1].tolist()
    ratios = {
        str(name): _fixed_ratio(first, second, metric.floor)
        for name, first, second in zip(tests, firsts, seconds, strict=True)
    }
    return {name: ratio for name, ratio in ratios.items() if ratio is not None}


def _fixed_ratio(first: float, second: float, floor: float) -> float | None:
    """1 for 0/0, inf for x/0, 0 for 0/x; None: an ordinary ratio, or a side that is not known."""
    if math.isnan(first) or math.isnan(second) or min(first, second) >= floor:
        return None
    if max(first, second) < floor:
        return 1.0
    return math.inf if first < floor else 0.0


def compare_generations(
    old: Generation,
    new: Generation,
    tests: Sequence[str],
    *,
    paired: bool,
    left_out: Mapping[str, str] | None = None,
    margin: float = MARGIN,
) -> Shifts:
    """Both pairs side by side for `tests`, in that order; tests that a pair does not have are passed over.

    `paired`: both are of one experiment, so blocks of the same number belong together, and only those that both have
    count. `left_out`: test → why it is in no mean and bears no mark (wrong answers).
    """
    old, new = (_shared_blocks(old, new), _shared_blocks(new, old)) if paired else (old, new)
    common = [test for test in tests if test in old.tests and test in new.tests]
    reasons = {test: (left_out or {}).get(test, "") for test in common}
    lines = tuple(
        TestShift(test, _changes(test, old, new, paired, 0 if reasons[test] else margin), reasons[test])
        for test in common
    )
    # the one figure of a load that was done once would weigh as much as that of a test with many blocks
    once = old.loaded_once or new.loaded_once
    trusted = [test for test in common if not reasons[test] and not (once and test == LOAD_TEST)]
    means: dict[str, Change] = {}
    in_mean: dict[str, tuple[str, ...]] = {}
    for metric in MARKED:
        measured = [test for test in trusted if _measured((test, metric), old, new)]
        if counted := _with_interval(measured, metric, old, new):
            means[metric] = _geometric_mean(counted, metric, old, new, paired)
            in_mean[metric] = tuple(counted)
    return Shifts(lines, means, in_mean, margin, once)


def _shared_blocks(one: Generation, other: Generation) -> Generation:
    logs = {
        key: {block: value for block, value in of_key.items() if block in other.logs.get(key, of_key)}
        for key, of_key in one.logs.items()
    }
    return Generation({key: of_key for key, of_key in logs.items() if of_key}, one.fixed, one.loaded_once)


def _measured(key: Key, *generations: Generation) -> bool:
    return all(key in generation.logs for generation in generations)


def _changes(test: str, old: Generation, new: Generation, paired: bool, margin: float) -> dict[str, Change]:
    """By metric, those that either pair has; `margin` 0: no marks."""
    changes: dict[str, Change] = {}
    for metric in COMPARED:
        key = test, metric
        found = contrast({_OLD: old.of(key), _NEW: new.of(key)}, paired=paired)
        before, after = (_ratio(each, key, found.at.get(side)) for side, each in ((_OLD, old), (_NEW, new)))
        if before or after:
            over = found.over.get(_NEW) if metric in MARKED else None
            shift = over.ratio() if over else None
            changes[metric] = Change(before, after, shift, _mark(metric, shift, margin))
    return changes


def _ratio(generation: Generation, key: Key, mean: Mean | None) -> Ratio | None:
    if key in generation.fixed:
        return Ratio(generation.fixed[key], None, None, mean.blocks if mean else 0)
    return mean.ratio() if mean else None


def _mark(metric: str, shift: Ratio | None, margin: float) -> Mark:
    """A mark only where the whole interval lies beyond the margin."""
    way = beyond(shift, margin) if margin else 0
    better = way if metric_named(metric).higher_is_better else -way
    return (Mark.NONE, Mark.GAIN, Mark.LOSS)[better]


def _with_interval(tests: list[str], metric: str, *generations: Generation) -> list[str]:
    """Those with an interval in each pair; all of them when no test has one."""
    several = [test for test in tests if all(len(each.logs[test, metric]) >= FEWEST_BLOCKS for each in generations)]
    return several or tests


def _geometric_mean(tests: Sequence[str], metric: str, old: Generation, new: Generation, paired: bool) -> Change:
    sides = {side: [each.logs[test, metric] for test in tests] for side, each in ((_OLD, old), (_NEW, new))}
    found = contrast(sides, paired=paired)
    return Change(found.at[_OLD].ratio(), found.at[_NEW].ratio(), found.over[_NEW].ratio())
