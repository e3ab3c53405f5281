"""Which runs there are, with which seeds, and which tests of which suite are slowed down."""

import importlib
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.suites import load_suite

plan: Any = importlib.import_module("independent_runs.plan")

TESTS = load_suite("sysbench").sequence[1:]


@pytest.mark.parametrize("count", [8, 9, 12, 18, 34, 42])
@pytest.mark.parametrize("number", [1, 2, 7, 100])
def test_each_suite_slows_down_four_tests_by_each_share(count: int, number: int) -> None:
    tests = [f"test{place}" for place in range(count)]
    added = plan.slowed_down(tests, number)
    assert Counter(added.values()) == {0.05: 4, 0.03: 4} and set(added) <= set(tests)


@pytest.mark.parametrize("count", [8, 9, 12, 18, 34, 42])
def test_all_tests_have_their_turn_with_both_shares(count: int) -> None:
    tests = [f"test{place}" for place in range(count)]
    suites = [plan.slowed_down(tests, number) for number in range(1, -(-count // 4) + 1)]
    for share in plan.SHARES:
        turns = Counter(test for added in suites for test, asked in added.items() if asked == share)
        assert set(turns) == set(tests) and max(turns.values()) <= 2


def test_twelve_suites_slow_down_each_test_by_both_shares_and_six_by_one() -> None:
    suites = [plan.slowed_down(TESTS, number) for number in range(1, 13)]
    for share in plan.SHARES:
        assert {test for added in suites for test, asked in added.items() if asked == share} == set(TESTS)
    assert {test for added in suites[:6] for test in added} == set(TESTS)


def test_neighbours_in_the_suite_are_not_slowed_down_together() -> None:
    for number in range(1, 13):
        places = sorted(TESTS.index(test) for test in plan.slowed_down(TESTS, number))
        assert min(later - earlier for earlier, later in pairwise(places)) > 1


def test_a_suite_of_few_tests_is_refused() -> None:
    with pytest.raises(UsageError, match="8 tests are slowed down in every suite; this one has 7"):
        plan.slowed_down(["test"] * 7, 1)


def test_without_wishes_all_usual_runs_are_planned() -> None:
    counts = Counter((run.kind, run.dbms) for run in plan.planned(None, None, None))
    assert counts == plan.RUNS and counts["quick", "postgres"] == 40 and counts["standard", "mysql"] == 4


def test_runs_can_be_narrowed_down_and_counted_otherwise() -> None:
    assert [run.name for run in plan.planned("mariadb", "busy", 2)] == ["busy-mariadb-001", "busy-mariadb-002"]
    assert {run.dbms for run in plan.planned(None, "quick", 3, "postgres:16")} == {"postgres"}
    with pytest.raises(UsageError, match="--runs"):
        plan.planned(None, "quick", None, "sqlite:3.40")


def test_every_run_of_a_dbms_has_a_seed_and_a_folder_of_its_own() -> None:
    runs = plan.planned(None, None, None)
    assert len({(run.dbms, run.seed) for run in runs}) == len({run.name for run in runs}) == len(runs)
    assert [plan.read_name(run.name) for run in runs] == runs
    assert plan.read_name("quick-postgres-17") is None and plan.read_name("short") is None


def test_equal_runs_are_the_quick_profile() -> None:
    for kind in ("quick", "busy"):
        spec = plan.spec_of(plan.Run(kind, "postgres", 17), "postgres:17")
        assert spec.targets == ["postgres:17"] * 2 and spec.profile == "quick" and spec.looks == [3, 4, 6]
        assert spec.inject is None and not spec.calibration


def test_standard_runs_slow_down_the_second_copy_alone() -> None:
    run = plan.Run("standard", "mariadb", 3)
    spec = plan.spec_of(run, "mariadb:10.11")
    assert spec.inject == {"1": {"cpu": plan.slowed_down(TESTS, 3)}} and spec.seed == run.seed
    assert spec.looks == [3, 4, 6, 8, 12] and spec.tests is None


def test_fine_runs_slow_down_every_test_by_turns() -> None:
    first, second = (plan.spec_of(plan.Run("fine", "postgres", number), "postgres:17") for number in (1, 2))
    assert first.looks == [8, 12, 16, 24] and first.margins == {
        "server_cpu_us_per_op": 0.01,
        "throughput_ops_per_s": 0.01,
    }
    slowed = [spec.inject["1"]["cpu"] for spec in (first, second)]
    assert set(slowed[0]) | set(slowed[1]) == set(TESTS) and not set(slowed[0]) & set(slowed[1])
    assert set(slowed[0].values()) == {0.01}
