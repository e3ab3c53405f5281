"""Expected time and disk need of an experiment, before it runs and while it does."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dbversus.builds.target import parse_target
from dbversus.dbms.known import find_dbms
from dbversus.errors import UsageError
from dbversus.experiment.asked.groups import make_groups
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.plan.cases import Case, cases_of, warms_s
from dbversus.experiment.plan.disk_need import count_loads, disk_bytes, empty_bytes, planned_targets
from dbversus.experiment.plan.progress import Progress
from dbversus.experiment.plan.slots import COLD_ROWS, SLOWEST_SLOT_MS, least_rows
from dbversus.experiment.plan.strikes import strikes
from dbversus.stats.orders import williams_square
from dbversus.suites.assembly.judged_load import load_plan
from dbversus.suites.assembly.roles import planned_s_of
from dbversus.suites.load import list_variants
from dbversus.suites.model import Suite
from dbversus.suites.profiles import profile_defaults
from dbversus.units import count_of, show_count, show_duration

# measured on a 2-core virtual machine with 1M rows per table
LOAD_ROWS_PER_S = 150_000
AGED_ROWS_PER_S = 25_000
JUDGED_LOAD_ROWS_PER_S = 30_000
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


def expected_s(spec: ExperimentSpec) -> float:
    """Until the first verdicts."""
    return estimate(spec, spec.read_suite()).first_verdict_s


def estimate(spec: ExperimentSpec, suite: Suite) -> Estimate:
    """What the plan alone tells; `remaining_s` knows better once a block has run."""
    rows = sum(suite.usual_rows(size, spec.tables) for size in spec.table_sizes)
    targets = planned_targets(spec)
    loads = count_loads(targets) if suite.needs_rows else 0  # of each size
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
        disk_bytes(spec, targets, suite.usual_rows, snapshots=2 if suite.ages else 1)
        + (empty_bytes(targets) if spec.judge_load else 0),
        bool(cases),
        bool(spec.lead_in_s) and any(case.test.changes_data for case in cases),
        not all(_known_s(case, spec) for case in _work(spec, suite)),
    )


def remaining_s(
    spec: ExperimentSpec, suite: Suite, progress: Progress, targets: int, block_s: float | None
) -> float | None:
    """Seconds until the next look that may be the last, from the last block's time once there is one (None: none yet).

    None of work that ends when it is done, before a block has told how long it takes.
    """
    undecided = undecided_cases(spec, suite, progress)
    if not block_s and not all(planned_case_s(spec, case, targets) for case in undecided):
        return None
    slots = [case for case in undecided if not case.test.work]
    return blocks_left(spec, progress) * (block_s or _block_s(spec, suite, targets, slots))


def undecided_cases(spec: ExperimentSpec, suite: Suite, progress: Progress) -> list[Case]:
    """Those that are measured in the next block, in the order of the suite."""
    cases = [case for test in suite.reported_tests for case in cases_of(test, spec)]
    return [case for case in cases if case.name not in progress.retired]


def planned_case_s(spec: ExperimentSpec, case: Case, targets: int) -> float:
    """Of a test in one block on targets that are up together; work without a rate counts as nothing."""
    return _known_s(case, spec) * targets if case.test.work else _test_s(spec, case, targets, longest=False)


def blocks_left(spec: ExperimentSpec, progress: Progress) -> int:
    """Until the next look that may be the last."""
    done = len(progress.blocks)
    return next((look for look in spec.looks if look > done), spec.looks[-1]) - done


def check_time_budget(spec: ExperimentSpec, suite: Suite) -> str:
    """A sentence when the time budget is expected to end before the first look; UsageError when not even slots fit in.

    The least is the slots of one block, without starts and the ends of tests.
    """
    if not spec.time_budget_s:
        return ""
    block_s = estimate(spec, suite).block_s
    if spec.time_budget_s < _slots_s(spec, suite):
        raise UsageError(f"{too_short(spec.time_budget_s, block_s)}; give it more, or choose fewer tests.")
    if spec.time_budget_s >= block_s * (1 if spec.alone else spec.looks[0]):
        return ""
    if spec.alone:
        return f"{too_short(spec.time_budget_s, block_s)}: measuring may end after the first."
    return f"{before_first_look(spec)} (about {show_duration(block_s)} each); give it more, or choose fewer tests."


def before_first_look(spec: ExperimentSpec) -> str:
    """That the time budget gives no verdict, or no profile, without the full stop."""
    assert spec.time_budget_s
    blocks = count_of(spec.looks[0], "block")
    budget = f"A time budget of {show_duration(spec.time_budget_s)}"
    if spec.functions or spec.waits:
        return (
            f"{budget} is too short for a profile of {'functions' if spec.functions else 'waits'}: that takes {blocks}"
        )
    return f"{budget} gives no verdict: the first look needs {blocks}"


def shorter_ways(spec: ExperimentSpec, expected: Estimate) -> list[tuple[str, float]]:
    """Flags that would bring first verdicts in less than half of the time, each with the seconds it would take then."""
    ways: list[tuple[str, float]] = []
    for flag, choices in _other_choices(spec):
        with contextlib.suppress(UsageError):  # a choice that does not go with the others
            other = spec.with_choices(choices)
            ways.append((flag, estimate(other, other.read_suite()).first_verdict_s))
    return [way for way in ways if way[1] < expected.first_verdict_s / 2]


def _other_choices(spec: ExperimentSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    quick = "quick"
    if spec.profile != quick:
        own = {"targets": spec.targets, "suite": spec.suite, "profile": quick}
        tests = {"tests": spec.tests} if spec.tests else {}
        yield f"--profile {quick}", {"tests": None, "variants": [], **profile_defaults(own), **own, **tests}
    if spec.folder is None and not spec.variants:
        for name in list_variants(spec.suite):
            yield f"--variant {name}", {"variants": [name]}
    if len(spec.clients) > 1:
        yield f"--clients {spec.clients[0]}", {"clients": spec.clients[:1]}
    if len(spec.table_sizes) > 1:
        size = spec.table_sizes[0]
        yield f"--table-size {show_count(size)}", {"table_size": size}


def too_short(time_budget_s: float, block_s: float) -> str:
    return (
        f"The time budget of {show_duration(time_budget_s)} is too short for one block (about {show_duration(block_s)})"
    )


def _slots_s(spec: ExperimentSpec, suite: Suite) -> float:
    """What one block takes for slots and paced steps alone, when no operation is longer than a slot: less cannot be had."""
    slot_s = (spec.slot_ms + spec.warm_up_ms) / 1000
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
    tests = [test for test in suite.reported_tests if not test.work]
    return [case for test in tests for case in cases_of(test, spec)]


def _work(spec: ExperimentSpec, suite: Suite) -> list[Case]:
    """Those that are work with an end."""
    return [case for test in suite.tests.values() if test.work for case in cases_of(test, spec)]


def _paced_s(case: Case, spec: ExperimentSpec) -> float:
    """How long a step with a rate lasts on one target, if it is held; 0 of work without one."""
    return planned_s_of(case.test, case.table_size, spec.tables, case.clients)


def _known_s(case: Case, spec: ExperimentSpec) -> float:
    """As `_paced_s`, or as long as the load usually takes."""
    if case.test.loads:
        return load_plan(case.test, case.table_size, spec.tables).rows_in_all / JUDGED_LOAD_ROWS_PER_S
    return _paced_s(case, spec)


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
    warm_ups = sizes * len(spec.clients) * sum(test.warm_up for test in suite.tests.values())
    known_s = sum(_known_s(case, spec) for case in _work(spec, suite)) + warm_ups * warms_s(spec)
    per_target_s = settles * SETTLE_S + starts_s + changes * min(DRAIN_S, spec.drain_s) + known_s
    put_off_s = max(map(_deferred_work_s, spec.targets))
    waits = changes * (bool(spec.drain_s) * strikes(put_off_s, spec.freeze) + spec.freeze)
    clock_s = waits * put_off_s
    groups = make_groups([str(number) for number in range(targets)], spec.order, spec.at_once)
    return sum(
        sum(_test_s(spec, case, len(group.members), longest) for case in cases)
        + clock_s
        + per_target_s * len(group.members)
        for group in groups
    )


def _deferred_work_s(target: str) -> float:
    return find_dbms(parse_target(target).dbms).deferred_work_s


def _test_s(spec: ExperimentSpec, case: Case, targets: int, longest: bool) -> float:
    if spec.cache == "cold":
        return targets * (COLD_ROWS * spec.cold_slot_ms / 1000 + COLD_RESTART_S_PER_TARGET)
    lead_in_s = spec.lead_in_s * targets if case.test.changes_data else 0
    return lead_in_s + _rows_s(spec, case, targets, longest) + TEST_EDGE_S


def _rows_s(spec: ExperimentSpec, case: Case, targets: int, longest: bool) -> float:
    """Slow operations lengthen slots until the test's time is up, except where slots are too long for that."""
    slot_ms = spec.write_slot_ms if case.test.by_count else spec.slot_ms
    row_s = targets * (slot_ms + spec.warm_up_ms) / 1000
    least_s = least_rows(spec.rows, len(williams_square(targets))) * row_s
    most_s = spec.seconds_of(case.test.name)
    if slot_ms >= SLOWEST_SLOT_MS:
        return max(least_s, min(most_s, spec.rows * targets * slot_ms / 1000))
    return max(least_s, most_s if longest else min(most_s, STRETCHED * spec.rows * row_s))
