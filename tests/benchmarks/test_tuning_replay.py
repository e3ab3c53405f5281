"""Experiments drawn from measured blocks, and from measured spreads."""

import importlib
from typing import Any

import numpy as np
import pytest

from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import BlockValue

clock: Any = importlib.import_module("tuning.clock")
replay: Any = importlib.import_module("tuning.replay")
effort: Any = importlib.import_module("tuning.effort")
variance: Any = importlib.import_module("tuning.variance")

TESTS = [f"test{number}" for number in range(8)]
LOOKS = (4, 6, 8)


def made_clock(rows: float = 20) -> Any:
    return clock.Clock(12.0, dict.fromkeys(TESTS, 1.0), dict.fromkeys(TESTS, 0.1), dict.fromkeys(TESTS, rows))


def block_values(sd: float, bias: float = 0.0, blocks: int = 10) -> list[BlockValue]:
    rng = np.random.default_rng(5)
    return [
        BlockValue(test, "other", metric, block, bias + float(rng.normal(0, sd)), 20)
        for block in range(blocks)
        for test in TESTS
        for metric in (CPU, THROUGHPUT)
    ]


def test_values_are_taken_about_their_means() -> None:
    pool = replay.make_pool(block_values(0.01, bias=0.2))
    values = [value.value for block in pool.blocks for value in block if (value.test, value.metric) == ("test3", CPU)]
    assert len(values) == 10 and np.mean(values) == pytest.approx(0, abs=1e-12)


def test_retired_tests_are_not_drawn_from() -> None:
    values = [value for value in block_values(0.01) if value.test != "test0" or value.block < 6]
    assert set(replay.make_pool(values).tests) == set(TESTS) - {"test0"}


def test_too_few_blocks_are_refused() -> None:
    with pytest.raises(ValueError, match="3 blocks"):
        replay.make_pool(block_values(0.01, blocks=3))


def test_quiet_tests_are_settled_at_the_first_look() -> None:
    one = replay.replay(replay.make_pool(block_values(0.002)), made_clock(), LOOKS, {}, np.random.default_rng(1))
    # 4 blocks of 12 s and 8 tests of 1 + 20 × 0.1 s
    assert one.minutes == pytest.approx(4 * (12 + 8 * 3) / 60)
    assert one.settled_min == [one.minutes] * len(TESTS)


def test_the_same_blocks_again_do_not_look_like_certainty() -> None:
    pool = replay.make_pool(block_values(0.02, blocks=4))
    tally = replay.compare_looks(pool, made_clock(), [(4, 8, 12)], share=0.0, effect=0.0, replays=40, seed=1)[4, 8, 12]
    assert tally.false_alarms <= 8


def test_most_tests_are_settled_when_three_quarters_are() -> None:
    tally = replay.Tally()
    for settled_min in ([1.0, 2.0, 3.0, 9.0], [1.0, 2.0]):
        tally.add(replay.Replayed(9.0, settled_min, []), frozenset(), 4)
    assert tally.most_settled_min == [3.0, float("inf")]


def test_noisy_tests_use_up_the_looks() -> None:
    one = replay.replay(replay.make_pool(block_values(0.2)), made_clock(), LOOKS, {}, np.random.default_rng(1))
    assert one.minutes == pytest.approx(8 * (12 + 8 * 3) / 60)


def test_a_change_is_found_and_costs_the_blocks_that_confirm_it() -> None:
    pool = replay.make_pool(block_values(0.003))
    tallies = replay.compare_looks(pool, made_clock(), [LOOKS], share=0.25, effect=0.2, replays=5, seed=1)
    tally = tallies[LOOKS]
    assert (tally.found, tally.changed, tally.false_alarms) == (10, 10, 0)
    # two more blocks with the two changed tests alone
    assert tally.minutes == pytest.approx([(4 * (12 + 8 * 3) + 2 * (12 + 2 * 3)) / 60] * 5)


def made_suite(between: float, within: float, rows: float = 20, fixed: frozenset[str] = frozenset()) -> Any:
    part = variance.Components(between**2, within**2)
    return effort.Suite(made_clock(rows), {test: {CPU: part, THROUGHPUT: part} for test in TESTS}, fixed)


def test_rows_by_need_follow_the_formula_within_bounds() -> None:
    # the share of a test in a block costs 1 + 12/8 s before its first row, a row 0.1 s: sqrt(25) × within / between
    assert effort.allocate(made_suite(0.01, 0.02)) == dict.fromkeys(TESTS, 10)
    assert effort.allocate(made_suite(0.01, 0.001)) == dict.fromkeys(TESTS, 4)
    assert effort.allocate(made_suite(0.0, 0.05)) == dict.fromkeys(TESTS, 40)


def test_tests_that_change_data_keep_their_rows() -> None:
    rows = effort.allocate(made_suite(0.01, 0.001, fixed=frozenset({"test2"})))
    assert rows["test2"] == 20 and rows["test1"] == 4


def test_the_noisier_metric_per_margin_decides() -> None:
    steady, noisy = variance.Components(1e-4, 1e-8), variance.Components(1e-4, 4e-2)
    suite = effort.Suite(made_clock(), {test: {CPU: steady, THROUGHPUT: noisy} for test in TESTS}, frozenset())
    assert set(effort.allocate(suite).values()) == {40}


def test_fewer_rows_save_their_time_where_all_is_quiet() -> None:
    tallies = effort.simulate(made_suite(1e-3, 1e-3), effort.POLICIES, LOOKS, share=0.0, effect=0.05, replays=3, seed=1)
    assert tallies["as planned"].minutes == pytest.approx([4 * (12 + 8 * 3) / 60] * 3)
    assert tallies["half of it"].minutes == pytest.approx([4 * (12 + 8 * 2) / 60] * 3)
    # decided at the first look: what is given afterwards does not matter
    assert tallies["by need, after the first look"].minutes == tallies["as planned"].minutes


def test_all_policies_find_a_large_change_without_false_alarms() -> None:
    tallies = effort.simulate(made_suite(2e-3, 5e-3), effort.POLICIES, LOOKS, share=0.25, effect=0.2, replays=3, seed=1)
    for tally in tallies.values():
        assert (tally.found, tally.changed, tally.false_alarms) == (6, 6, 0)
