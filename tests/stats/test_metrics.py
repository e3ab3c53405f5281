"""The metric table against the columns that there are."""

import numpy as np
import pytest

from dbversus.errors import UsageError
from dbversus.results.schema import SLOT_COLUMNS
from dbversus.stats.metrics import CPU, IO_BYTES, METRICS, PRIMARY, SMOOTH, THROUGHPUT, metric_named, parts


def test_all_metrics_use_known_columns_and_have_distinct_names() -> None:
    for metric in METRICS:
        assert set(metric.numerator) <= set(SLOT_COLUMNS)
        assert not metric.denominator or metric.denominator in SLOT_COLUMNS
        assert metric.margin > 0
        assert not metric.pooled or metric.floor > 0
    assert len({metric.name for metric in METRICS}) == len(METRICS)


def test_primary_metrics_and_margins() -> None:
    expected = {CPU: (0.03, False), THROUGHPUT: (0.05, True), IO_BYTES: (0.05, False)}
    assert {metric.name: (metric.margin, metric.higher_is_better) for metric in PRIMARY} == expected
    assert [metric.name for metric in SMOOTH] == [CPU, THROUGHPUT]


@pytest.mark.parametrize(("name", "value"), [(CPU, 25.0), (THROUGHPUT, 20_000.0), ("latency_mean_us", 80.0)])
def test_parts_make_the_metric_in_its_unit(name: str, value: float) -> None:
    columns = {
        "ops": np.array([1000]),
        "elapsed_ns": np.array([50_000_000]),
        "server_cpu_ns": np.array([25_000_000]),
        "mean_ns": np.array([80_000]),
    }
    found = parts(metric_named(name), columns)
    assert found is not None
    assert found[0] / found[1] == pytest.approx([value])
    assert parts(metric_named(IO_BYTES), columns) is None


def test_a_percentile_is_no_figure_of_slots() -> None:
    assert parts(metric_named("latency_p99_us"), {"p99_ns": np.array([80_000])}) is None


def test_unknown_metric_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown metric 'tps'; known are: server_cpu_us_per_op"):
        metric_named("tps")
