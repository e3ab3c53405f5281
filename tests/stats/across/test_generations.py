"""Two generations: ratios, shifts, marks and means against hand calculation, SciPy and a simulated truth."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from dbversus.results.records import Load, LoadFigures
from dbversus.stats.across.generations import (
    Generation,
    Mark,
    Pair,
    Shifts,
    compare_generations,
    generation,
)
from dbversus.stats.means import Logs, Mean, mean_of_blocks, mean_of_tests
from dbversus.stats.metrics import CPU, DISK_READ_BYTES, DISK_READS, THROUGHPUT

from ..slots import make_slots

RUNS = 2000


def one_metric(ratios: Mapping[str, list[float]], metric: str = THROUGHPUT) -> Generation:
    """Test → second/first in blocks 0, 1, …"""
    return Generation({(test, metric): dict(enumerate(map(math.log, of))) for test, of in ratios.items()})


def compare(old: Generation, new: Generation, *, paired: bool = True, **options: object) -> Shifts:
    tests = sorted(old.tests | new.tests)
    return compare_generations(old, new, tests, paired=paired, **options)  # type: ignore[arg-type]


def test_shift_is_new_over_old_by_hand() -> None:
    old, new = one_metric({"a": [0.9, 0.9, 0.9]}), one_metric({"a": [1.08, 1.08, 1.08]})
    for paired in (True, False):
        [item] = compare(old, new, paired=paired).tests
        change = item.changes[THROUGHPUT]
        assert change.old
        assert change.new
        assert change.shift
        assert (change.old.value, change.new.value, change.shift.value) == pytest.approx((0.9, 1.08, 1.2))
        assert change.shift.blocks == 3


def test_paired_shift_takes_blocks_that_both_have() -> None:
    old = Generation({("a", THROUGHPUT): {0: 0.1, 1: 0.2, 2: 9.0}})
    new = Generation({("a", THROUGHPUT): {0: 0.3, 1: 0.4, 3: -9.0}})
    [item] = compare(old, new).tests
    change = item.changes[THROUGHPUT]
    assert change.old
    assert change.new
    assert change.shift
    assert change.shift.value == pytest.approx(math.exp(0.2))
    assert change.shift.value == pytest.approx(change.new.value / change.old.value)
    assert change.shift.blocks == 2


def test_mean_of_tests_with_the_same_blocks_is_that_of_the_blocks_means() -> None:
    values = np.random.default_rng(1).normal(0, 0.02, (30, 5))
    over_tests = mean_of_tests([dict(enumerate(line)) for line in values.tolist()])
    plain = mean_of_blocks(list(values.mean(axis=0)))
    assert (over_tests.value, over_tests.error, over_tests.df) == pytest.approx((plain.value, plain.error, plain.df))


def covered(draw: Callable[[np.random.Generator], Mean], truth: float) -> float:
    """Share of simulated runs whose 95 % interval holds the truth."""
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(RUNS):
        ratio = draw(rng).ratio()
        assert ratio.low is not None
        assert ratio.high is not None
        hits += ratio.low <= math.exp(truth) <= ratio.high
    return hits / RUNS


@pytest.mark.parametrize("longest", [4, 12])
def test_interval_of_the_geometric_mean_covers_the_truth(longest: int) -> None:
    """Half of the tests are retired after 4 blocks; blocks befall all their tests at once."""

    def draw(rng: np.random.Generator) -> Mean:
        shared = rng.normal(0, 0.01, longest)
        tests: list[Logs] = []
        for number in range(20):
            blocks = 4 if number % 2 else longest
            tests.append(dict(enumerate(rng.normal(0.02 * number, 0.02, blocks) + shared[:blocks])))
        return mean_of_tests(tests)

    share = covered(draw, 0.02 * 9.5)
    assert share >= 0.93
    assert share <= (0.97 if longest == 4 else 1)


@pytest.mark.parametrize(
    ("metric", "new", "mark"),
    [
        (THROUGHPUT, [1.08, 1.09, 1.10], Mark.GAIN),
        (THROUGHPUT, [0.90, 0.91, 0.92], Mark.LOSS),
        (CPU, [0.90, 0.91, 0.92], Mark.GAIN),
        (CPU, [1.08, 1.09, 1.10], Mark.LOSS),
        (THROUGHPUT, [1.02, 1.03, 1.02], Mark.NONE),  # real, but within 5 %
        (THROUGHPUT, [0.95, 1.12, 1.29], Mark.NONE),  # 12 %, but not beyond its interval
        (THROUGHPUT, [1.5], Mark.NONE),  # one block has no interval
    ],
)
def test_a_mark_takes_the_whole_interval(metric: str, new: list[float], mark: Mark) -> None:
    old = one_metric({"a": [1.0] * len(new)}, metric)
    [item] = compare(old, one_metric({"a": new}, metric)).tests
    assert item.changes[metric].mark is mark


@pytest.mark.slow
def test_marks_at_the_margin_are_rarely_false() -> None:
    """A true shift of exactly the margin is the worst case: 2.5 % of such tests may bear a mark by chance."""
    rng = np.random.default_rng(5)
    tests = [f"t{number}" for number in range(3000)]
    old = Generation({(test, THROUGHPUT): dict(enumerate(rng.normal(0, 0.01, 4))) for test in tests})
    new = Generation({(test, THROUGHPUT): dict(enumerate(rng.normal(math.log(1.05), 0.01, 4))) for test in tests})
    assert len(compare(old, new).marked(THROUGHPUT, Mark.GAIN)) / len(tests) == pytest.approx(0.025, abs=0.012)
    equal = Generation({(test, THROUGHPUT): dict(enumerate(rng.normal(0, 0.01, 4))) for test in tests})
    marked = compare(old, equal).marked
    assert len(marked(THROUGHPUT, Mark.GAIN)) + len(marked(THROUGHPUT, Mark.LOSS)) <= 0.01 * len(tests)


def test_wrong_tests_are_in_no_mean_and_bear_no_mark() -> None:
    ratios = {"good": [2.0, 2.1, 2.0], "wrong": [9.0, 9.1, 9.0]}
    old, new = one_metric({name: [1.0, 1.0, 1.0] for name in ratios}), one_metric(ratios)
    found = compare(old, new, left_out={"wrong": "other answers"})
    assert found.marked(THROUGHPUT, Mark.GAIN) == ["good"]
    assert {item.test: item.left_out for item in found.tests} == {"good": "", "wrong": "other answers"}
    mean = found.means[THROUGHPUT].shift
    assert mean
    assert mean.value == pytest.approx((2.0 * 2.1 * 2.0) ** (1 / 3))
    assert found.tests_in_mean == {THROUGHPUT: 1}


def test_what_has_one_block_is_in_no_mean_beside_what_has_more() -> None:
    old, new = one_metric({"load": [1.0], "t": [1.0] * 3}), one_metric({"load": [5.0], "t": [1.1] * 3})
    found = compare(old, new)
    assert found.tests_in_mean == {THROUGHPUT: 1}
    alone = compare(one_metric({"a": [1.0], "b": [1.0]}), one_metric({"a": [1.0], "b": [4.0]}), paired=False)
    mean = alone.means[THROUGHPUT].shift
    assert mean
    assert mean.value == pytest.approx(2.0)
    assert mean.low is mean.high is None


@pytest.mark.parametrize("once", [True, False])
def test_a_load_that_was_done_once_is_in_no_mean(once: bool) -> None:
    old, new = one_metric({"load": [1.0], "t": [1.0]}), one_metric({"load": [5.0], "t": [1.1]})
    found = compare(replace(old, loaded_once=once), replace(new, loaded_once=once), paired=False)
    assert found.tests_in_mean == {THROUGHPUT: 1 if once else 2} and bool(found.load) == once
    assert [item.test for item in found.judged] == (["t"] if once else ["load", "t"])


def test_tests_of_one_generation_only_are_passed_over() -> None:
    found = compare(one_metric({"a": [1.0, 1.0], "gone": [1.0, 1.0]}), one_metric({"a": [1.0, 1.0], "new": [1.0, 1.0]}))
    assert [item.test for item in found.tests] == ["a"]


def test_each_pair_is_measured_against_its_own_first_target() -> None:
    slots = make_slots(targets=("a", "b", "c", "d"), blocks=4, rows=40)
    speed = {"a": 1.0, "b": 0.5, "c": 2.0, "d": 3.0}
    slots["ops"] = slots["ops"] * np.array([speed[name] for name in slots["target"]])
    slots["server_cpu_ns"] = slots["ops"] * 20_000.0
    old, new = (generation(slots, Pair(*pair)) for pair in (("a", "b"), ("c", "d")))
    found = compare_generations(old, new, ["t0", "t1"], paired=True)
    for item in found.tests:
        change = item.changes[THROUGHPUT]
        assert change.old
        assert change.new
        assert change.old.value == pytest.approx(0.5, rel=0.02)
        assert change.new.value == pytest.approx(1.5, rel=0.02)
    assert found.marked(THROUGHPUT, Mark.GAIN) == ["t0", "t1"]
    assert found.marked(CPU, Mark.GAIN) == []


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(0, 0, 1.0), (60, 10, 1.0), (0, 6400, math.inf), (6400, 0, 0.0), (6400, 12_800, 2.0)],
)
def test_the_references_rule_for_nothing(first: float, second: float, expected: float) -> None:
    slots = make_slots(tests=1, rows=4)
    slots["disk_read_bytes"] = slots["ops"] * np.where(slots["target"] == "a", first, second)
    pair = generation(slots, Pair("a", "b"))
    [item] = compare_generations(pair, pair, ["t0"], paired=True).tests
    reads = item.changes[DISK_READ_BYTES].old
    assert reads
    assert reads.value == pytest.approx(expected)
    assert (reads.low is None) == (expected != 2.0)
    calls = item.changes[DISK_READS].new
    assert calls
    assert calls.value == 1.0


def test_the_load_has_one_run_and_no_interval() -> None:
    loads = [
        Load(name, "x", earlier=False, figures=LoadFigures(rows=1000, elapsed_ns=elapsed, server_cpu_ns=10**8))
        for name, elapsed in (("t0", 10**9), ("t1", 2 * 10**9))
    ]
    pair = generation(make_slots(), Pair("a", "b"), loads, {"t0": "a", "t1": "b"})
    [item] = compare_generations(pair, pair, ["load"], paired=True).tests
    rate = item.changes[THROUGHPUT].old
    assert rate
    assert rate.value == pytest.approx(0.5)
    assert (rate.low, rate.blocks) == (None, 1)


@pytest.mark.parametrize("judged", ["load", "load@20k"])
def test_a_load_that_blocks_repeat_takes_the_place_of_the_first(judged: str) -> None:
    slots = make_slots(tests=1)
    slots["test"] = np.array([judged] * len(slots["ops"]))
    loads = [Load(name, "x", earlier=False, figures=LoadFigures(rows=9, elapsed_ns=9)) for name in ("t0", "t1")]
    assert generation(slots, Pair("a", "b"), loads, {"t0": "a", "t1": "b"}).tests == {judged}


def test_what_one_target_cannot_tell_is_no_ratio() -> None:
    slots = make_slots(tests=1)
    for unknown in (slots["target"] == "b", np.ones(len(slots["ops"]), dtype=bool)):
        slots["disk_read_bytes"] = np.ma.masked_array(slots["ops"] * 6400, mask=unknown)
        pair = generation(slots, Pair("a", "b"))
        [item] = compare_generations(pair, pair, ["t0"], paired=True).tests
        assert DISK_READ_BYTES not in item.changes
        assert item.changes[THROUGHPUT].shift


def test_a_target_without_slots_gives_nothing() -> None:
    assert generation(make_slots(), Pair("a", "nobody")).tests == set()
    assert generation(make_slots(), Pair("nobody", "a")).tests == set()
