import math

import pytest

from dbversus.stats.server_counters import counter_values

LABELS = {"t0": "old", "t1": "new"}


def _record(block: int, mine: dict[str, float], base: dict[str, float], ops: int = 1000) -> dict[str, object]:
    return {"block": block, "test": "insert", "ops": {"t0": ops, "t1": 2 * ops}, "delta": {"t0": base, "t1": mine}}


def test_a_counter_is_compared_per_operation() -> None:
    values, metrics = counter_values([_record(3, {"wal.bytes": 600_000}, {"wal.bytes": 200_000})], LABELS, "t0")
    (value,) = values
    assert (value.test, value.target, value.metric, value.block) == ("insert", "new", "counter.wal.bytes", 3)
    assert value.value == pytest.approx(math.log(1.5))
    assert [metric.name for metric in metrics] == ["counter.wal.bytes"] and not metrics[0].primary


def test_what_one_side_lacks_or_neither_counts_is_left_out() -> None:
    values, _ = counter_values([_record(0, {"a": 5e5, "b": 0}, {"b": 0, "c": 9e5})], LABELS, "t0")
    assert values == []


def test_next_to_nothing_is_nothing_to_compare() -> None:
    (value,) = counter_values([_record(0, {"a": 3}, {"a": 1})], LABELS, "t0")[0]
    assert value.value is None


def test_without_the_base_there_is_no_value() -> None:
    record = {"block": 0, "test": "x", "ops": {"t1": 10}, "delta": {"t1": {"a": 5}}}
    assert counter_values([record], LABELS, "t0") == ([], [])
