import math
from typing import Any

import pytest

from dbversus.stats.metrics import DRAIN, DRAIN_CPU, DRAIN_WRITES, METRICS, metric_named
from dbversus.stats.values.drain import drain_values


def row(target: str, cpu: float | None, written: float | None = 0.0, **more: Any) -> dict[str, Any]:
    figures = {DRAIN_CPU: cpu, DRAIN_WRITES: written}
    return {"test": "insert", "block": 2, "target_group": None, "target": target, **figures, **more}


def test_what_was_left_is_compared_per_operation() -> None:
    values = {value.metric: value for value in drain_values([row("old", 2.0, 1000.0), row("new", 3.0, 500.0)], "old")}
    cpu = values[DRAIN_CPU]
    assert (cpu.test, cpu.target, cpu.block) == ("insert", "new", 2)
    assert cpu.value == pytest.approx(math.log(1.5))
    assert values[DRAIN_WRITES].value == pytest.approx(math.log(0.5))


def test_next_to_nothing_is_nothing_and_nothing_against_something_is_finite() -> None:
    values = {value.metric: value for value in drain_values([row("old", 0.01, 0.0), row("new", 0.02, 6400.0)], "old")}
    assert values[DRAIN_CPU].value is None
    assert values[DRAIN_WRITES].value == pytest.approx(math.log(100))


def test_what_a_host_cannot_tell_has_no_value() -> None:
    assert [value.metric for value in drain_values([row("old", 2.0, None), row("new", 3.0)], "old")] == [DRAIN_CPU]


def test_targets_meet_the_base_of_their_own_group() -> None:
    rows = [
        row(target, cpu, target_group=group)
        for group, target, cpu in (("g0", "old", 1.0), ("g0", "a", 2.0), ("g1", "old", 4.0), ("g1", "b", 2.0))
    ]
    values = {value.target: value.value for value in drain_values(rows, "old") if value.metric == DRAIN_CPU}
    assert values == {"a": pytest.approx(math.log(2)), "b": pytest.approx(math.log(0.5))}
    assert drain_values([row("new", 3.0)], "old") == []


def test_drained_work_is_no_part_of_other_metrics() -> None:
    assert not {metric.name for metric in DRAIN} & {metric.name for metric in METRICS}
    assert not any(metric.primary for metric in DRAIN)
    assert metric_named(DRAIN_CPU).unit == "µs/op"
