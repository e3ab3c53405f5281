"""Block values from slots: pairing, errors, lumps, nulls."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbversus.errors import UsageError
from dbversus.results.layout import lay_out
from dbversus.results.records import Load, LoadFigures
from dbversus.stats.metrics import CPU, DISK_WRITE_BYTES, DISK_WRITES, IO_BYTES, METRICS, THROUGHPUT, WRITE_BYTES
from dbversus.stats.model import BlockValue
from dbversus.stats.values.blocks import block_values, lifted_log_ratio, load_values

from ..slots import Slots, make_slots, one_after_the_other


def find(values: list[BlockValue], **wanted: object) -> list[BlockValue]:
    return [value for value in values if all(getattr(value, name) == what for name, what in wanted.items())]


def test_mean_of_log_ratios_by_hand() -> None:
    slots = make_slots(tests=1, blocks=1, rows=2)
    slots["ops"] = np.array([100.0, 110.0, 50.0, 60.0])  # row 0: a, b; row 1: a, b
    (value,) = find(block_values(lay_out(slots, "a")), metric=THROUGHPUT)
    assert value.value == pytest.approx((np.log(1.1) + np.log(1.2)) / 2)
    assert (value.target, value.rows, value.disturbed) == ("b", 2, 0)


def test_noise_of_a_whole_row_cancels() -> None:
    values = find(block_values(lay_out(make_slots(rows=200), "a")), metric=THROUGHPUT)
    assert all(abs(value.value or 0) < 0.01 for value in values)


def test_disturbed_rows_count_and_are_counted() -> None:
    slots = make_slots(tests=1, blocks=1, rows=5)
    quiet = find(block_values(lay_out(slots, "a")), metric=THROUGHPUT)[0]
    slots["disturbed"] = slots["row"] == 3
    (value,) = find(block_values(lay_out(slots, "a")), metric=THROUGHPUT)
    assert value == replace(quiet, disturbed=1)
    assert value.rows == 5


def test_the_error_of_a_midmean_is_the_spread_of_many() -> None:
    """Of blocks that differ by their rows alone."""
    values = find(block_values(lay_out(make_slots(tests=40, blocks=10, rows=36, seed=4), "a")), metric=THROUGHPUT)
    spread = np.std([value.value or 0.0 for value in values])
    assert np.sqrt(np.mean([value.error**2 for value in values if value.error])) == pytest.approx(spread, rel=0.1)


def by_order(slots: Slots, effect: float) -> Slots:
    """`slots` with orders that alternate from row to row, in which who comes second does `effect` less (in logarithms)."""
    is_second = (slots["row"].astype(int) % 2 == 1) ^ (slots["target"] == "b")
    return slots | {"position": is_second.astype(float), "ops": slots["ops"] * np.exp(-effect * is_second)}


def test_the_order_in_a_row_makes_no_block_value_less_sure() -> None:
    """One slot in eight is hit by something that its row's other slot does not see."""
    many = make_slots(tests=40, blocks=10, rows=36, seed=4)
    hit = np.random.default_rng(6).random(len(many["row"])) < 1 / 8
    many["ops"] = many["ops"] * np.where(hit, 0.7, 1.0)
    clustered = by_order(many, 0.12)
    unknown = {name: column for name, column in clustered.items() if name != "position"}
    plain, known, apart = (
        find(block_values(lay_out(slots, "a")), metric=THROUGHPUT)
        for slots in (by_order(many, 0.0), clustered, unknown)
    )
    spread, of_known, of_apart = (np.std([v.value or 0.0 for v in each]) for each in (plain, known, apart))
    assert of_known < 1.6 * spread and of_apart > 2.5 * of_known
    assert np.mean([value.value or 0.0 for value in known]) == pytest.approx(0, abs=0.001)
    assert known[0].rows == 36 and np.mean([v.error or 0.0 for v in known]) < 1.3 * np.mean(
        [v.error or 0.0 for v in plain]
    )


def test_an_order_that_does_nothing_changes_nothing() -> None:
    many = make_slots(tests=10, blocks=10, rows=36, seed=5)
    known = find(block_values(lay_out(by_order(many, 0.0), "a")), metric=THROUGHPUT)
    same = [
        mine == other
        for mine, other in zip(known, find(block_values(lay_out(many, "a")), metric=THROUGHPUT), strict=True)
    ]
    assert np.mean(same) > 0.9


def test_a_change_stays_what_it_is_where_an_order_has_few_rows() -> None:
    slots = by_order(make_slots(tests=1, blocks=1, rows=36), 0.3)
    slots["ops"] = slots["ops"] * np.where(slots["target"] == "b", 1.1, 1.0)
    first_rows = {name: column[slots["row"] < 7] for name, column in slots.items()}
    of_all, of_few = (find(block_values(lay_out(each, "a")), metric=THROUGHPUT)[0] for each in (slots, first_rows))
    assert of_all.value == pytest.approx(np.log(1.1), abs=0.01)
    assert of_few.rows == 7 and abs((of_few.value or 0.0) - np.log(1.1)) < 0.3


def test_the_error_of_sums_is_the_spread_of_many() -> None:
    slots = make_slots(tests=40, blocks=10, rows=36, seed=4)
    rng = np.random.default_rng(5)
    slots["driven_write_bytes"] = np.where(rng.random(len(slots["ops"])) < 0.5, 1e7, 0)
    values = find(block_values(lay_out(slots, "a")), metric=IO_BYTES)
    spread = np.std([value.value or 0.0 for value in values])
    assert np.sqrt(np.mean([value.error**2 for value in values if value.error])) == pytest.approx(spread, rel=0.1)


def test_one_row_tells_nothing_of_its_error() -> None:
    assert {value.error for value in find(block_values(lay_out(make_slots(rows=1), "a")), metric=CPU)} == {None}


def test_only_pairs_of_the_same_row_count() -> None:
    slots = make_slots(tests=1, blocks=1, rows=5)
    lost = (slots["row"] == 2) & (slots["target"] == "b")
    kept = {name: column[~lost] for name, column in slots.items()}
    (value,) = find(block_values(lay_out(kept, "a")), metric=THROUGHPUT)
    assert value.rows == 4


def test_lumpy_bytes_are_compared_as_block_sums() -> None:
    slots = make_slots(tests=1, blocks=1, rows=4)
    slots["driven_ops"] = np.full(8, 1000.0)
    slots["driven_write_bytes"] = np.zeros(8)
    slots["driven_write_bytes"][[0, 5]] = 1_000_000.0, 1_300_000.0  # a in row 0, b in row 2
    (value,) = find(block_values(lay_out(slots, "a")), metric=IO_BYTES)
    assert value.value == pytest.approx(np.log(1.3))


@pytest.mark.parametrize(
    ("base_bytes", "bytes_", "expected"),
    [(0, 0, None), (60, 10, None), (0, 6400, np.log(100)), (6400, 0, -np.log(100)), (64, 128, np.log(2))],
)
def test_next_to_nothing(base_bytes: float, bytes_: float, expected: float | None) -> None:
    slots = make_slots(tests=1, blocks=1)
    per_op = np.where(slots["target"] == "a", base_bytes, bytes_)
    slots["driven_read_bytes"] = slots["ops"] * per_op
    (value,) = find(block_values(lay_out(slots, "a")), metric=IO_BYTES)
    assert value.value == (None if expected is None else pytest.approx(expected))
    assert value.rows == 5


@pytest.mark.parametrize(("affected", "expected"), [(0.0, None), (1.0, np.log(2))])
def test_housekeeping_is_nothing_only_where_no_data_was_changed(affected: float, expected: float | None) -> None:
    """100 operations a second, at 4 and at 8 kB each: under 1 MB/s; of 10 of them and of 5 the disk is asked."""
    slots = make_slots(tests=1, blocks=1)
    slots["ops"] = slots["driven_ops"] = np.full(len(slots["ops"]), 5.0)
    twice = np.where(slots["target"] == "a", 1, 2)
    slots["driven_write_bytes"] = slots["disk_write_bytes"] = slots["ops"] * 4000 * twice
    slots["disk_writes"] = slots["ops"] * 0.05 * twice
    slots["affected"] = slots["ops"] * affected
    for metric in (IO_BYTES, WRITE_BYTES, DISK_WRITE_BYTES, DISK_WRITES):
        (value,) = find(block_values(lay_out(slots, "a")), metric=metric)
        assert value.value == (None if expected is None else pytest.approx(expected)), metric


def test_of_two_tests_only_the_one_that_writes_has_the_lower_floor() -> None:
    slots = make_slots(tests=2, blocks=1)
    slots["ops"] = slots["driven_ops"] = np.full(len(slots["ops"]), 5.0)
    slots["driven_write_bytes"] = slots["ops"] * np.where(slots["target"] == "a", 4000, 8000)
    slots["affected"] = np.where(slots["test"] == "t1", 1.0, np.nan)
    values = {value.test: value.value for value in find(block_values(lay_out(slots, "a")), metric=IO_BYTES)}
    assert values == {"t0": None, "t1": pytest.approx(np.log(2))}


@pytest.mark.parametrize(
    ("mine", "base", "expected"), [(1.0, 2.0, None), (2.0, 2.0, None), (8.0, 4.0, np.log(2)), (8.0, 0.0, np.log(4))]
)
def test_lifted_to_a_floor_of_two(mine: float, base: float, expected: float | None) -> None:
    found = lifted_log_ratio(mine, base, 2.0)
    assert found == (None if expected is None else pytest.approx(expected))


def test_what_the_host_cannot_tell_gives_no_value() -> None:
    slots = make_slots()
    slots["driven_read_bytes"] = np.ma.masked_array(slots["ops"], mask=True)
    slots["server_cpu_ns"] = np.full(len(slots["ops"]), None, dtype=object)
    del slots["mean_ns"]
    names = {value.metric for value in block_values(lay_out(slots, "a"))}
    assert not names & {IO_BYTES, CPU, "read_bytes_per_op", "latency_mean_us"}
    assert {THROUGHPUT, "write_bytes_per_op", "client_cpu_us_per_op"} <= names


def test_several_targets_each_against_the_base() -> None:
    slots = make_slots(targets=("new", "old", "older"))
    slots["ops"] = np.where(slots["target"] == "older", slots["ops"] / 2, slots["ops"])
    values = find(block_values(lay_out(slots, "old")), metric=THROUGHPUT)
    assert {value.target for value in values} == {"new", "older"}
    assert all(value.value == pytest.approx(np.log(0.5), abs=0.05) for value in find(values, target="older"))


def test_one_disturbed_slot_does_not_move_a_block() -> None:
    slots = make_slots(tests=1)
    before = {value.block: value.value for value in find(block_values(lay_out(slots, "a")), metric=CPU)}
    hit = (slots["row"] == 1) & (slots["target"] == "b")
    slots["server_cpu_ns"] = np.where(hit, slots["server_cpu_ns"] * 50, slots["server_cpu_ns"])
    after = {value.block: value.value for value in find(block_values(lay_out(slots, "a")), metric=CPU)}
    assert all(after[block] == pytest.approx(before[block], abs=0.05) for block in before)


def test_unknown_base_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no slots of the base 'c'.*a, b"):
        block_values(lay_out(make_slots(), "c"))


def test_load_compares_rows_per_second_and_cpu_per_row() -> None:
    loads = [
        Load("t0", "x", earlier=False, figures=LoadFigures(rows=1000, elapsed_ns=10**9, server_cpu_ns=10**8)),
        Load("t1", "x", earlier=False, figures=LoadFigures(rows=1000, elapsed_ns=2 * 10**9)),
    ]
    (value,) = load_values(loads, {"t0": "old", "t1": "new"}, "old")
    assert (value.test, value.target, value.metric) == ("load", "new", "load_rows_per_s")
    assert value.value == pytest.approx(np.log(0.5))
    assert load_values([], {}, "old") == []
    shared = Load("t1", "x", earlier=True, shares="old")
    assert load_values([loads[0], shared], {"t0": "old", "t1": "new"}, "old") == []


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**31), shuffled=st.randoms(use_true_random=False))
def test_order_of_slots_does_not_matter(seed: int, shuffled: "st.Random") -> None:  # type: ignore[name-defined]
    slots = make_slots(seed=seed)
    order = list(range(len(slots["ops"])))
    shuffled.shuffle(order)
    mixed = {name: column[order] for name, column in slots.items()}
    assert _rounded(block_values(lay_out(mixed, "a"))) == _rounded(block_values(lay_out(slots, "a")))


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**31))
def test_swapping_base_and_target_flips_the_sign(seed: int) -> None:
    slots = make_slots(seed=seed)
    there, back = block_values(lay_out(slots, "a")), block_values(lay_out(slots, "b"))
    for one, other in zip(there, back, strict=True):
        assert (one.value is None) == (other.value is None)
        assert one.value is None or other.value == pytest.approx(-one.value)


def test_a_whole_experiment_gives_a_value_for_every_block_test_metric_and_target() -> None:
    values = block_values(lay_out(make_slots(targets=("a", "b", "c", "d"), tests=43, blocks=12, rows=60), "a"))
    assert len(values) == 3 * 43 * 12 * len([metric for metric in METRICS if not metric.tests])


def _rounded(values: list[BlockValue]) -> list[tuple[object, ...]]:
    return [
        (v.test, v.target, v.metric, v.block, v.rows, v.disturbed, None if v.value is None else round(v.value, 9))
        for v in values
    ]


class TestSequentialOrder:
    """Targets measured one after the other: slots of the same number are no pairs."""

    def test_a_block_is_compared_as_a_whole(self) -> None:
        slots = one_after_the_other(make_slots(tests=1, blocks=1, rows=2))
        slots["ops"] = np.array([100.0, 110.0, 50.0, 60.0])  # row 0: a, b; row 1: a, b
        (value,) = find(block_values(lay_out(slots, "a")), metric=THROUGHPUT)
        assert value.value == pytest.approx(np.log(170 / 150))
        assert (value.rows, value.disturbed) == (2, 0)

    def test_cpu_is_the_cost_of_all_operations(self) -> None:
        slots = one_after_the_other(make_slots(tests=1, blocks=1, rows=2))
        slots["ops"] = np.array([100.0, 100.0, 300.0, 100.0])
        slots["server_cpu_ns"] = np.array([1e6, 2e6, 3e6, 2e6])
        (value,) = find(block_values(lay_out(slots, "a")), metric=CPU)
        assert value.value == pytest.approx(np.log((4e6 / 200) / (4e6 / 400)))

    def test_a_disturbed_slot_of_one_target_counts(self) -> None:
        slots = one_after_the_other(make_slots(tests=1, blocks=1, rows=5))
        slots["disturbed"] = (slots["row"] == 3) & (slots["target"] == "b")
        (value,) = find(block_values(lay_out(slots, "a")), metric=THROUGHPUT)
        assert (value.rows, value.disturbed) == (5, 1)

    def test_next_to_nothing_is_nothing_to_compare(self) -> None:
        slots = one_after_the_other(make_slots(tests=1, blocks=1))
        (value,) = find(block_values(lay_out(slots, "a")), metric=IO_BYTES)
        assert (value.value, value.rows) == (None, 5)

    def test_blocks_interleaved_and_not_stand_in_one_experiment(self) -> None:
        slots = make_slots(tests=1, blocks=2)
        apart = one_after_the_other(slots)["started_unix_ns"]
        slots["started_unix_ns"] = np.where(slots["block"] == 1, apart, 1.0)
        paired, alone = find(block_values(lay_out(slots, "a")), metric=THROUGHPUT)
        assert paired == find(block_values(lay_out(make_slots(tests=1, blocks=2), "a")), metric=THROUGHPUT)[0]
        ops = {name: slots["ops"][(slots["block"] == 1) & (slots["target"] == name)].sum() for name in "ab"}
        assert alone.value == pytest.approx(np.log(ops["b"] / ops["a"]))

    def test_swapping_base_and_target_flips_the_sign(self) -> None:
        slots = one_after_the_other(make_slots(seed=5))
        there, back = block_values(lay_out(slots, "a")), block_values(lay_out(slots, "b"))
        assert [v.value for v in back] == [None if v.value is None else pytest.approx(-v.value) for v in there]
