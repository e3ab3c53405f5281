"""Levels that every experiment accepts, and the figures that are made of its results."""

import argparse
import importlib
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dbversus.experiment.asked.spec import make_spec
from dbversus.results.records import Block, Load, Look
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.suites import load_suite

from ..journals import header

factors: Any = importlib.import_module("tuning.factors")
live: Any = importlib.import_module("tuning.live")


def asked(factor: str, **more: Any) -> argparse.Namespace:
    given: dict[str, Any] = {"targets": ["null", "null"], "minutes": None, "quick": True, "table_size": None}
    return argparse.Namespace(**(given | {"factor": factor, "tests": None, "keep": None} | more))


def made_run(values: dict[str, list[float]], minutes: float = 1.0, cost: float = 3.0) -> Any:
    ratios = {(metric, test): found for test, found in values.items() for metric in (CPU, THROUGHPUT)}
    costs = {(test, target): [cost + value for value in found] for test, found in values.items() for target in "ab"}
    return live.Run(minutes, ratios, costs)


def noisy_runs(count: int, sd: float, rng: np.random.Generator, tests: int = 6) -> list[Any]:
    return [made_run({f"test{number}": rng.normal(0, sd, 2).tolist() for number in range(tests)}) for _ in range(count)]


@pytest.mark.parametrize("factor", list(factors.FACTORS))
@pytest.mark.parametrize("quick", [True, False])
def test_all_levels_are_accepted(factor: str, quick: bool) -> None:
    plan = live.make_plan(asked(factor, quick=quick))
    for name, overrides in live.levels(plan).items():
        spec = make_spec(dict(plan.base) | dict(overrides))
        assert load_suite(spec.suite).select(spec.tests).tests, name
        for choice, value in overrides.items():
            assert getattr(spec, choice) == value


@pytest.mark.parametrize("factor", list(factors.FACTORS))
def test_the_first_level_is_the_default(factor: str) -> None:
    plan = live.make_plan(asked(factor))
    first = next(iter(plan.factor.levels.values()))
    placed = make_spec(dict(plan.base))
    for choice, value in first.items():
        assert value == ("together" if choice == "placement" else getattr(placed, choice))


def test_quick_runs_fit_into_eight_minutes() -> None:
    assert live.make_plan(asked("slot")).budget_s == 480
    assert live.make_plan(asked("slot", minutes=20)).budget_s == 1200


def test_each_level_has_each_place_in_the_order() -> None:
    names = ["a", "b", "c"]
    orders = [live.rotated(names, number) for number in range(3)]
    assert [{order[place] for order in orders} for place in range(3)] == [set(names)] * 3


def test_spread_of_single_blocks_is_the_median_over_tests() -> None:
    runs = [made_run({"a": [0.0, 0.02], "b": [0.0, 0.2], "c": [0.0, 0.0]})]
    assert live.block_sd(runs, CPU) == pytest.approx(0.02 / math.sqrt(2))


def test_of_equal_targets_bias_counts_of_others_only_spread() -> None:
    runs = [made_run({"a": [0.1, 0.1]}), made_run({"a": [0.1, 0.1]})]
    assert live.mean_square(runs, CPU, True) == (pytest.approx(0.01), 2)
    assert live.mean_square(runs, CPU, False) == (pytest.approx(0.0), 1)


def test_twice_the_spread_in_the_same_time_costs_four_times_as_much() -> None:
    rng = np.random.default_rng(1)
    quiet, noisy = noisy_runs(200, 0.01, rng), noisy_runs(200, 0.02, rng)
    found = live.relative_cost(noisy, quiet, CPU, True)
    assert found.low < 4 < found.high and found.estimate == pytest.approx(4, rel=0.2)
    assert live.relative_cost(quiet, quiet, CPU, True).estimate == 1


def test_the_interval_of_the_relative_cost_covers_the_truth() -> None:
    rng = np.random.default_rng(2)
    found = [live.relative_cost(noisy_runs(3, 0.02, rng), noisy_runs(3, 0.01, rng), CPU, True) for _ in range(400)]
    assert 0.92 <= np.mean([one.low <= 4 <= one.high for one in found]) <= 0.98


def test_a_difference_has_the_interval_of_welch() -> None:
    rng = np.random.default_rng(3)
    ours, reference = rng.normal(3.05, 0.01, 6).tolist(), rng.normal(3.0, 0.03, 4).tolist()
    found = live.change(ours, reference)
    welch = stats.ttest_ind(ours, reference, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((math.expm1(welch.low), math.expm1(welch.high)))
    assert found.estimate == pytest.approx(math.expm1(np.mean(ours) - np.mean(reference)))


def test_tables_have_a_line_per_level_and_per_test() -> None:
    plan = live.make_plan(asked("freeze"))
    rng = np.random.default_rng(4)
    runs = {name: noisy_runs(3, 0.01, rng, tests=2) for name in live.levels(plan)}
    spread = live.spread_table(plan, runs).splitlines()
    assert [line.split(" | ")[0] for line in spread[2:]] == ["| frozen", "| running"]
    assert spread[2].split(" | ")[7].startswith("1.00 [")
    bias = live.bias_table(runs).splitlines()
    assert [line.split(" | ")[0] for line in bias[2:]] == ["| test0", "| test1", "| mean of all"]


def test_bias_is_what_the_level_costs_more_than_long_slots() -> None:
    runs = {
        "short": [made_run({"a": [0.001, -0.001]}, cost=math.log(22))] * 2,
        "long": [made_run({"a": [0.001, -0.001]}, cost=math.log(20))] * 2,
    }
    line = live.bias_table(runs).splitlines()[2]
    assert "| 20.0 | +10.0% [" in line


def test_minutes_are_those_of_the_blocks() -> None:
    minute_ns = 60_000_000_000
    records = [
        header(),
        Load("t0", "x", earlier=False, at_unix_ns=2 * minute_ns),
        Block(0, "started", at_unix_ns=3 * minute_ns),
        Block(0, "finished", at_unix_ns=5 * minute_ns),
        Look(1, [], at_unix_ns=6 * minute_ns),
    ]
    assert live.block_minutes(records) == 3
