import math
from typing import Any

import pytest

from dbversus.results.tables.counters import counter_rows
from dbversus.stats.model import BlockValue, Metric
from dbversus.stats.values.server_counters import counter_values

from ...journals import records_of

LABELS = {"t0": "old", "t1": "new"}

Counts = dict[str, float]


def _record(block: int, mine: Counts, base: Counts, ops: int = 1000) -> dict[str, Any]:
    spanned = {"t0": ops, "t1": 2 * ops}
    delta = {"t0": base, "t1": mine}
    return {"type": "counters", "block": block, "test": "insert", "spanned_ops": spanned, "delta": delta}


def _values(*records: dict[str, Any]) -> tuple[list[BlockValue], list[Metric]]:
    return counter_values(counter_rows(records_of(*records), LABELS), "old")


def test_a_counter_is_compared_per_operation() -> None:
    values, metrics = _values(_record(3, {"wal.bytes": 600_000}, {"wal.bytes": 200_000}))
    (value,) = values
    assert (value.test, value.target, value.metric, value.block) == ("insert", "new", "counter.wal.bytes", 3)
    assert value.value == pytest.approx(math.log(1.5))
    assert [metric.name for metric in metrics] == ["counter.wal.bytes"] and not metrics[0].primary


def test_what_one_side_lacks_or_neither_counts_is_left_out() -> None:
    values, _ = _values(_record(0, {"a": 5e5, "b": 0}, {"b": 0, "c": 9e5}))
    assert values == []


def test_next_to_nothing_is_nothing_to_compare() -> None:
    (value,) = _values(_record(0, {"a": 3}, {"a": 1}))[0]
    assert value.value is None


def test_without_the_base_there_is_no_value() -> None:
    record = {"type": "counters", "block": 0, "test": "x", "spanned_ops": {"t1": 10}, "delta": {"t1": {"a": 5}}}
    assert _values(record) == ([], [])


def test_targets_that_were_up_one_after_the_other_are_compared_within_a_block() -> None:
    record = {"type": "counters", "test": "x", "spanned_ops": {"t0": 10, "t1": 10}}
    alone = [record | {"block": block, "solo": name, "delta": {name: {"a": 10.0 + 10 * block + (name == "t1") * 5}}}
             for block in (0, 1) for name in ("t0", "t1")]  # fmt: skip
    found, _ = _values(*alone)
    assert [math.exp(value.value or 0) for value in found] == pytest.approx([1.5, 1.25])


def test_with_groups_the_base_of_the_same_group_counts() -> None:
    record = {"type": "counters", "test": "x", "block": 0, "spanned_ops": {"t0": 10, "t1": 10, "t2": 10}}
    groups = [
        record | {"group": "g0", "delta": {"t0": {"a": 10}, "t1": {"a": 20}}},
        record | {"group": "g1", "delta": {"t0": {"a": 100}, "t2": {"a": 100}}},
    ]
    found, _ = counter_values(counter_rows(records_of(*groups), {**LABELS, "t2": "newer"}), "old")
    assert {value.target: round(math.exp(value.value or 0), 3) for value in found} == {"new": 2.0, "newer": 1.0}
