"""Names of metrics as users give them."""

import pytest

from dbversus.stats.judgeable import JUDGEABLE, PERCENTS, RESPONSE_TIMES, USUAL, named
from dbversus.stats.metrics import PERCENTILES, PRIMARY, metric_named


def test_order_and_repetitions_do_not_matter() -> None:
    assert named(["p99,cpu", " cpu ", "io"]) == ["cpu", "io", "p99"]
    assert named(USUAL) == list(USUAL)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["cpu,speed"], "unknown metric 'speed'; accepted: cpu, throughput, io, mean, p50, p95, p99"),
        (["CPU"], "unknown metric 'CPU'; accepted: cpu,"),
        ([], "no metric is named; name one or more of: cpu, throughput, io, mean, p50, p95, p99"),
        ([" , "], "no metric is named"),
    ],
)
def test_what_is_unknown_and_nothing_at_all_are_refused(texts: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        named(texts)


def test_every_name_is_that_of_a_metric() -> None:
    assert [metric_named(name).name for name in JUDGEABLE.values()] == list(JUDGEABLE.values())
    assert [JUDGEABLE[short] for short in USUAL] == [metric.name for metric in PRIMARY]
    assert [metric.name for metric in PERCENTILES] == list(PERCENTS)
    assert set(PERCENTS) < RESPONSE_TIMES < set(JUDGEABLE.values())
