"""What a plan is expected to take: relations only, since the rates behind it are of some host."""

import re
from typing import Any

import pytest

from dbversus.dbms.sizes import WRITTEN_BYTES
from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.plan.cases import LEAST_WARM_S, MOST_WARM_S
from dbversus.experiment.plan.disk_need import data_and_log_bytes, planned_targets, target_bytes
from dbversus.experiment.plan.estimate import (
    BLOCK_START_S_PER_TARGET,
    SETTLE_S,
    Estimate,
    check_time_budget,
    estimate,
    remaining_s,
    shorter_ways,
)
from dbversus.experiment.plan.progress import Progress
from dbversus.suites.load import list_suites, load_suite
from dbversus.suites.profiles import profile_defaults

FOUR = ["postgres:17", "postgres:17@sync1", "postgres:17@work_mem=8MB", "postgres:16"]


def of(targets: list[str], **choices: Any) -> Estimate:
    return estimate(make_spec({"targets": targets, "tests": "point-query", **choices}), load_suite("sysbench"))


def test_a_test_with_a_time_of_its_own_takes_that() -> None:
    usual = of(FOUR, seconds=5, looks=[4]).most_s
    assert of(FOUR, seconds=5, looks=[4], test_seconds={"no-such-*": 2}).most_s == usual
    assert of(FOUR, seconds=5, looks=[4], test_seconds={"hot-*": 2, "*": 5}).most_s == pytest.approx(usual - 4 * 3)


def test_fast_operations_take_the_time_of_their_slots_and_slow_ones_at_most_that_of_their_test() -> None:
    short = of(FOUR, seconds=5, rows=10, slot_ms=20, warm_up_ms=5, looks=[4])
    longer = of(FOUR, seconds=5, rows=20, slot_ms=20, warm_up_ms=5, looks=[4])
    assert short.block_s < longer.block_s and short.most_s == longer.most_s > short.first_verdict_s
    bounded = [of(FOUR, seconds=0.5, rows=rows, slot_ms=20, warm_up_ms=5) for rows in (40, 80)]
    assert bounded[0].block_s == bounded[1].block_s


def test_a_test_takes_at_least_a_cycle_of_the_balanced_order() -> None:
    """Of five targets that is ten rows, whatever time a test may have."""
    suite = load_suite("sysbench").select("point-query")
    choices = {"seconds": 1, "slot_ms": 1000, "warm_up_ms": 0, "rows": 36}
    four, five = (
        estimate(make_spec({"targets": targets, **choices}), suite).block_s
        for targets in (FOUR, [*FOUR, "postgres:15"])
    )
    warm_ups = sum(test.warm_up for test in suite.tests.values())
    per_target_s = BLOCK_START_S_PER_TARGET + SETTLE_S + warm_ups * LEAST_WARM_S
    assert five - four == pytest.approx(10 * 5 - 4 * 4 + per_target_s)


def test_targets_that_differ_in_settings_share_their_load() -> None:
    assert of(FOUR).loads == 2
    assert of([*FOUR, "postgres:17@checksums_off", "postgres:17@init.wal_segsize=64"]).loads == 4


def test_groups_take_longer_and_less_room() -> None:
    together, groups, alone = of(FOUR), of(FOUR, at_once=2), of(FOUR, order="sequential")
    assert together.block_s < alone.block_s < groups.block_s  # alone, the base is measured once
    assert together.disk_bytes > groups.disk_bytes > alone.disk_bytes
    assert together.load_s == groups.load_s


def test_draining_takes_time_after_writes_only() -> None:
    def block_s(tests: str, drain_s: float) -> float:
        spec = make_spec({"targets": FOUR, "drain_s": drain_s})
        return estimate(spec, load_suite("sysbench").select(tests)).block_s

    assert block_s("update-index", 2) > block_s("update-index", 0)
    assert block_s("point-query", 2) == block_s("point-query", 0)


def test_a_lead_in_takes_time_of_every_target_before_writes_only() -> None:
    def block_s(tests: str, lead_in_s: float) -> float:
        spec = make_spec({"targets": FOUR, "lead_in_s": lead_in_s})
        return estimate(spec, load_suite("sysbench").select(tests)).block_s

    assert block_s("update-index", 40) - block_s("update-index", 0) == pytest.approx(4 * 40)
    # but what only warms caches is driven for longer
    warm_ups = sum(test.warm_up for test in load_suite("sysbench").select("point-query").tests.values())
    more_s = block_s("point-query", 40) - block_s("point-query", 0)
    assert more_s == pytest.approx(4 * warm_ups * (MOST_WARM_S - LEAST_WARM_S))


def test_steps_have_no_lead_in() -> None:
    spec = make_spec({"targets": FOUR, "lead_in_s": 40})
    assert estimate(spec, load_suite("sysbench").select("update-index")).has_lead_in
    assert not estimate(spec, load_suite("sysbench").select("point-query")).has_lead_in
    assert not estimate(spec, load_suite("insert")).has_lead_in


def test_slots_too_long_to_be_stretched_take_no_more_than_their_length() -> None:
    def most_s(write_slot_ms: float, seconds: float) -> float:
        spec = make_spec({"targets": FOUR, "write_slot_ms": write_slot_ms, "rows": 8, "seconds": seconds})
        return estimate(spec, load_suite("sysbench").select("update-index")).most_s

    assert most_s(2000, 80) == most_s(2000, 64) > most_s(2000, 32)
    assert most_s(40, 80) > most_s(40, 64)


def test_servers_that_work_by_a_clock_are_waited_for_before_and_after_writes() -> None:
    def clock_s(tests: str, drain_s: float, *, freeze: bool) -> float:
        def block_s(targets: list[str]) -> float:
            spec = make_spec({"targets": targets, "drain_s": drain_s, "freeze": freeze})
            return estimate(spec, load_suite("sysbench").select(tests)).block_s

        return block_s(["mariadb:10.11", "mariadb:11.4"]) - block_s(["postgres:16", "postgres:17"])

    assert clock_s("update-index", 2, freeze=True) > clock_s("update-index", 0, freeze=True) > 0
    assert clock_s("update-index", 2, freeze=False) > 0 == clock_s("update-index", 0, freeze=False)
    assert clock_s("point-query", 2, freeze=True) == 0


def test_redo_logs_that_are_allocated_at_once_need_room() -> None:
    assert of(["mysql:8.0", "mysql:5.7"]).disk_bytes > of(["postgres:17", "postgres:16"]).disk_bytes


def test_a_time_budget_that_ends_before_the_first_look_is_said_and_one_for_less_than_a_blocks_slots_refused() -> None:
    suite = load_suite("sysbench").select("point-query")

    def said(budget_s: float | None, **choices: Any) -> str:
        spec = make_spec({"targets": FOUR, "rows": 36, "slot_ms": 20, "time_budget_s": budget_s, **choices})
        return check_time_budget(spec, suite)

    assert said(None) == said(600) == said(60, looks=[1]) == ""
    words = r"A time budget of 1 min 00 s gives no verdict: the first look needs 3 blocks \(about \d+ s each\); give"
    assert re.match(words, said(60))
    assert re.match(r"A time budget of 15 s gives no verdict: the first look needs 3 blocks", said(15))
    with pytest.raises(UsageError, match=r"The time budget of 3 s is too short for one block \(about \d+ s\); give"):
        said(3)
    assert said(3, rows=4)  # 4 rows of 4 slots of 25 ms
    assert "is too short for a profile of functions: that takes 3 blocks" in said(60, functions=True)
    assert "is too short for a profile of waits: that takes 3 blocks" in said(60, waits=True)


@pytest.mark.parametrize(
    ("base", "item"),
    [
        ("mysql:8.0", "innodb_default_row_format=REDUNDANT,character_set_server=utf8mb4"),
        ("mysql:8.0", "innodb_fill_factor=50"),
        ("mysql:8.0", "innodb_page_size=4096"),
        ("mysql:8.0", "innodb_redo_log_capacity=4G"),
        ("mysql:5.7", "innodb_log_file_size=1G"),
        ("mariadb:10.11", "innodb_log_file_size=4G"),
        ("postgres:17", "fillfactor=50"),
    ],
)
def test_room_follows_settings(base: str, item: str) -> None:
    def of_one(target: str) -> int:
        (planned,) = planned_targets(make_spec({"targets": [target]}))
        return target_bytes(planned, 1_000_000)

    assert of_one(f"{base}@{item}") > of_one(base)


def test_logs_are_as_large_as_settings_let_them_be() -> None:
    def log(target: str, rows: int = 10_000_000) -> float:
        (planned,) = planned_targets(make_spec({"targets": [target], "table_size": rows}))
        return data_and_log_bytes(planned, rows)[1]

    assert log("postgres:17@small_wal") == 128 * 2**20
    assert log("postgres:17@max_wal_size=256MB") == log("postgres:17@max_wal_size=256") == 256 * 2**20
    assert log("mysql:8.0@innodb_redo_log_capacity=4G") - log("mysql:8.0@innodb_redo_log_capacity=1G") == 3 * 2**30
    assert log("mysql:5.7@innodb_log_file_size=1G,innodb_log_files_in_group=2,bl0") < 2 * 2**30 + WRITTEN_BYTES
    assert log("mysql:8.0@bl0") < log("mysql:8.0")


def test_loads_are_counted_as_snapshots_are_keyed() -> None:
    assert of(["mysql:8.0", "mysql:8.0@sync1", "mysql:8.0@bl0,jemalloc"]).loads == 1
    assert of(["mysql:8.0", "mysql:8.0@innodb_fill_factor=50", "mysql:8.0@server_defaults"]).loads == 3
    assert of(["mysql:8.0", "mysql:8.0.33"]).loads == of(["mysql:8.0", "mysql:8.0"]).loads


def test_aged_data_is_loaded_time_and_room_and_another_start_in_each_block() -> None:
    suite = load_suite("sysbench")
    spec = make_spec({"targets": ["sqlite:bundled", "sqlite:bundled@wal"], "table_size": 1_000_000})
    fresh = estimate(spec, suite.select("point-query.pre"))
    aged = estimate(spec, suite.select("point-query.pre,point-query"))
    assert aged.disk_bytes > fresh.disk_bytes and aged.load_s > 1.5 * fresh.load_s
    assert aged.block_s - fresh.block_s > spec.seconds + 2 * BLOCK_START_S_PER_TARGET


def test_steps_with_a_rate_take_as_long_as_their_operations_on_each_target_in_turn() -> None:
    """insert-2021 has twelve steps of `seconds` beside its loads, which take what they take."""

    def of_steps(targets: int, tests: str | None = None) -> Estimate:
        spec = make_spec({"targets": ["postgres:17"] * targets, "suite": "insert-2021", "table_size": 100_000})
        suite = load_suite("insert-2021")
        return estimate(spec, suite.select(tests) if tests else suite)

    seconds = int(str(load_suite("insert-2021").variables["seconds"]))
    loads, two, three = of_steps(2, "l.*"), of_steps(2), of_steps(3)
    assert two.block_s - loads.block_s == pytest.approx(2 * 12 * seconds, rel=0.2)
    assert three.block_s == pytest.approx(1.5 * two.block_s, rel=0.1)
    assert two.has_unpaced and not two.has_slots
    only_points = of(FOUR)
    assert only_points.has_slots and not only_points.has_unpaced


def test_a_time_budget_for_less_than_the_steps_of_a_block_is_refused() -> None:
    spec = make_spec({"targets": ["postgres:17"] * 2, "suite": "insert-2021", "time_budget_s": 600})
    with pytest.raises(UsageError, match="too short for one block"):
        check_time_budget(spec, load_suite("insert-2021"))


@pytest.mark.parametrize("suite", [suite.name for suite in list_suites()])
def test_every_suite_has_a_quick_form_of_a_few_minutes(suite: str) -> None:
    given = {"targets": ["mysql:5.7", "mysql:8.0"], "profile": "quick", "suite": suite}
    spec = make_spec(profile_defaults(given) | given)
    assert estimate(spec, spec.read_suite()).first_verdict_s < 300


def test_what_would_bring_first_verdicts_sooner() -> None:
    given = {"targets": ["mysql:5.7", "mysql:8.0"], "suite": "insert", "table_size": [100_000, 1_000_000]}
    spec = make_spec(profile_defaults(given) | given)
    expected = estimate(spec, spec.read_suite())
    ways = dict(shorter_ways(spec, expected))
    assert {"--profile quick", "--variant short-steps"} <= ways.keys()
    assert all(seconds < expected.first_verdict_s / 2 for seconds in ways.values())


def test_the_load_as_a_test_takes_time_in_every_block_and_needs_no_other_load() -> None:
    def of_load(**choices: Any) -> Estimate:
        spec = make_spec({"targets": FOUR, "looks": [4], **choices})
        return estimate(spec, spec.read_suite())

    without = of_load(tests="point-query")
    small, large = (of_load(tests="point-query", judge_load=True, table_size=size) for size in (10_000, 1_000_000))
    assert without.block_s < small.block_s < large.block_s and not large.has_unpaced
    assert small.loads == 2 and of_load(tests="load", judge_load=True).loads == 0
    assert of_load(tests="point-query", judge_load=True).disk_bytes > without.disk_bytes


def test_what_is_left_of_work_of_unknown_length_is_told_once_a_block_has_run() -> None:
    spec, suite = make_spec({"suite": "insert", "targets": FOUR, "looks": [3]}), load_suite("insert")
    steps = suite.select("q*")
    assert remaining_s(spec, suite, Progress(), 4, None) is None
    assert remaining_s(spec, suite, Progress(), 4, 100.0) == 300
    assert remaining_s(spec, steps, Progress(), 4, None) == pytest.approx(3 * estimate(spec, steps).block_s)
