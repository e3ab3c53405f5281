"""Expected time and disk need of an experiment, before it runs and while it does."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbversus.builds.target import parse_target
from dbversus.dbms.known import find_dbms
from dbversus.errors import UsageError
from dbversus.experiment.asked.groups import make_groups
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.plan.cases import Case, cases_of
from dbversus.experiment.plan.disk_need import count_loads, disk_bytes, planned_targets
from dbversus.experiment.plan.progress import Progress
from dbversus.experiment.plan.slots import COLD_ROWS, SLOWEST_SLOT_MS
from dbversus.experiment.plan.strikes import strikes
from dbversus.suites.build.roles import planned_s_of
from dbversus.suites.model import Suite
from dbversus.units import show_duration

# measured on a 2-core virtual machine with 1M rows per table
LOAD_ROWS_PER_S = 150_000
AGED_ROWS_PER_S = 25_000
SETTLE_S = 3.0
BLOCK_START_S_PER_TARGET = 4.0
TEST_EDGE_S = 0.25
STRETCHED = 1.1
"""Time of a test's rows ÷ that of its slots, over all tests of sysbench: a few have operations longer than a slot."""
DRAIN_S = 0.5
COLD_RESTART_S_PER_TARGET = 2.5


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes. `first_verdict_s`: until the first look; `most_s`: when no test is decided before the last.

    `loads`: how many times the data is loaded; targets that differ in what acts at run time alone share it. `has_slots`: there
    are tests at a steady state; `has_lead_in`: some of them are driven for a while before they count. `has_unpaced`: there is
    work that ends when it is done; the time it takes is in none of these.
    """

    loads: int
    load_s: float
    block_s: float
    first_verdict_s: float
    most_s: float
    disk_bytes: int
    has_slots: bool
    has_lead_in: bool
    has_unpaced: bool


def estimate(spec: ExperimentSpec, suite: Suite) -> Estimate:
    """What the plan alone tells; `remaining_s` knows better once a block has run."""
    rows = sum(suite.usual_rows(size, spec.tables) for size in spec.table_sizes)
    targets = planned_targets(spec)
    loads = count_loads(targets)  # of each size
    load_s = loads * (rows / LOAD_ROWS_PER_S + SETTLE_S)
    if suite.aging and suite.ages:
        load_s += loads * (rows / AGED_ROWS_PER_S + suite.aging.rounds * SETTLE_S)
    cases = _cases(spec, suite)
    block_s = _block_s(spec, suite, len(spec.targets), cases)
    return Estimate(
        loads,
        load_s,
        block_s,
        load_s + spec.looks[0] * block_s,
        load_s + spec.looks[-1] * _block_s(spec, suite, len(spec.targets), cases, longest=True),
        disk_bytes(spec, targets, suite.usual_rows, snapshots=2 if suite.ages else 1),
        bool(cases),
        bool(spec.lead_in_s) and any(case.test.changes_data for case in cases),
        not all(_paced_s(case, spec) for case in _work(spec, suite)),
    )


def remaining_s(spec: ExperimentSpec, suite: Suite, progress: Progress, targets: int, block_s: float | None) -> float:
    """Seconds until the next look that may be the last, from the last block's time once there is one (None: none yet)."""
    undecided = [case for case in _cases(spec, suite) if case.name not in progress.retired]
    expected_s = block_s or _block_s(spec, suite, targets, undecided)
    done = len(progress.blocks)
    next_look = next((look for look in spec.looks if look > done), spec.looks[-1])
    return (next_look - done) * expected_s


def check_time_budget(spec: ExperimentSpec, suite: Suite) -> str:
    """A sentence when no block is expected to fit into the time budget; UsageError when the slots of one alone do not."""
    if not spec.time_budget_s:
        return ""
    block_s = estimate(spec, suite).block_s
    if spec.time_budget_s >= block_s:
        return ""
    words = too_short(spec.time_budget_s, block_s)
    if spec.time_budget_s < _slots_s(spec, suite):
        raise UsageError(f"{words}; give it more, or choose fewer tests.")
    return f"{words}: measuring may end after the first."


def too_short(time_budget_s: float, block_s: float) -> str:
    return (
        f"The time budget of {show_duration(time_budget_s)} is too short for one block (about {show_duration(block_s)})"
    )


def _slots_s(spec: ExperimentSpec, suite: Suite) -> float:
    """What one block takes for slots and paced steps alone, when no operation is longer than a slot: less cannot be had."""
    slot_s = (spec.slot_ms + spec.settle_ms) / 1000
    paced_s = _paced_block_s(spec, suite)
    groups = make_groups(spec.targets, spec.order, spec.at_once)
    return sum(
        sum(
            min(_test_s(spec, case, len(group.members), longest=False), spec.rows * len(group.members) * slot_s)
            for case in _cases(spec, suite)
        )
        + paced_s * len(group.members)
        for group in groups
    )


def _cases(spec: ExperimentSpec, suite: Suite) -> list[Case]:
    """Those that take as long as their slots."""
    tests = [test for test in suite.tests.values() if not test.warm_up and not test.work]
    return [case for test in tests for case in cases_of(test, spec)]


def _work(spec: ExperimentSpec, suite: Suite) -> list[Case]:
    """Those that are work with an end."""
    return [case for test in suite.tests.values() if test.work for case in cases_of(test, spec)]


def _paced_s(case: Case, spec: ExperimentSpec) -> float:
    """How long a step with a rate lasts on one target, if it is held; 0 of work without one."""
    return planned_s_of(case.test, case.table_size, spec.tables, case.clients)


def _paced_block_s(spec: ExperimentSpec, suite: Suite) -> float:
    """All paced steps of a block on one target. Targets take turns, so the next one adds as much."""
    return sum(_paced_s(case, spec) for case in _work(spec, suite))


def _block_s(
    spec: ExperimentSpec, suite: Suite, targets: int, cases: Sequence[Case], *, longest: bool = False
) -> float:
    """As long as it usually takes, or as it takes when every test needs all its time."""
    sizes = len(spec.table_sizes)
    settles = sizes * sum(phase.settle for phase in suite.phases)
    changes = sizes * len(spec.clients) * sum(test.changes_data for test in suite.tests.values())
    starts_s = (sizes * len(suite.stretches) if spec.restore == "block" else 1) * BLOCK_START_S_PER_TARGET
    per_target_s = settles * SETTLE_S + starts_s + changes * min(DRAIN_S, spec.drain_s) + _paced_block_s(spec, suite)
    put_off_s = max(map(_puts_off_s, spec.targets))
    waits = changes * (bool(spec.drain_s) * strikes(put_off_s, spec.freeze) + spec.freeze)
    clock_s = waits * put_off_s
    groups = make_groups([str(number) for number in range(targets)], spec.order, spec.at_once)
    return sum(
        sum(_test_s(spec, case, len(group.members), longest) for case in cases)
        + clock_s
        + per_target_s * len(group.members)
        for group in groups
    )


def _puts_off_s(target: str) -> float:
    return find_dbms(parse_target(target).dbms).puts_off_s


def _test_s(spec: ExperimentSpec, case: Case, targets: int, longest: bool) -> float:
    if spec.cache == "cold":
        return targets * (COLD_ROWS * spec.cold_slot_ms / 1000 + COLD_RESTART_S_PER_TARGET)
    lead_in_s = spec.lead_in_s * targets if case.test.changes_data else 0
    return lead_in_s + _rows_s(spec, case, targets, longest) + TEST_EDGE_S


def _rows_s(spec: ExperimentSpec, case: Case, targets: int, longest: bool) -> float:
    """Slow operations lengthen slots until the test's time is up, except where slots are too long for that."""
    slot_ms = spec.write_slot_ms if case.test.by_count else spec.slot_ms
    most_s = spec.seconds_of(case.test.name)
    if slot_ms >= SLOWEST_SLOT_MS:
        return min(most_s, spec.rows * targets * slot_ms / 1000)
    return most_s if longest else min(most_s, STRETCHED * spec.rows * targets * (slot_ms + spec.settle_ms) / 1000)
