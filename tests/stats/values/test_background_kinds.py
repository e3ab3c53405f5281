"""CPU of background work by kind as figures that are judged."""

import math

import pytest

from dbversus.results.tables.background import background_rows
from dbversus.stats.metrics import metric_named
from dbversus.stats.values.background_kinds import background_values

from ...journals import records_of

LABELS = {"t0": "old", "t1": "new"}


def _record(block: int, **cpu_us: dict[str, float]) -> dict[str, object]:
    targets = {
        name: {"ops": 1000, "cpu_ns": {kind: round(us * 1e6) for kind, us in kinds.items()}}
        for name, kinds in cpu_us.items()
    }
    return {"type": "background", "test": "insert", "block": block, "targets": targets}


def test_a_kind_has_a_value_in_each_block() -> None:
    records = [_record(0, t0={"purge": 10}, t1={"purge": 180}), _record(1, t0={"purge": 20}, t1={"purge": 180})]
    values, metrics = background_values(background_rows(records_of(*records), LABELS), "old")
    assert [(value.block, value.target, value.metric) for value in values] == [
        (0, "new", "background.purge"),
        (1, "new", "background.purge"),
    ]
    assert [math.exp(value.value or 0) for value in values] == pytest.approx([18, 9])
    assert metrics == [metric_named("background.purge")] and not metrics[0].primary


def test_a_kind_that_one_side_lacks_is_compared_with_the_floor_and_trifles_are_not() -> None:
    (value,), _ = background_values(
        background_rows(records_of(_record(0, t0={"a": 0.01}, t1={"b": 5, "a": 0.02})), LABELS), "old"
    )
    assert value.metric == "background.b" and math.exp(value.value or 0) == pytest.approx(100)


def test_without_the_base_there_is_nothing_to_compare() -> None:
    assert background_values(background_rows(records_of(_record(0, t1={"a": 5})), LABELS), "old") == ([], [])
