"""Trends within blocks: found where they are, not found in equal tests whose slots resemble their neighbours."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from scipy.signal import lfilter

from dbversus.results.layout import lay_out
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.judging.whole_work import judge_whole_work, whole_work_values
from dbversus.stats.metrics import CPU, IO_BYTES, METRICS, PRIMARY, THROUGHPUT
from dbversus.stats.model import Finding, Verdict
from dbversus.stats.validity.drift import (
    TRENDS,
    is_drift,
    judge_steadiness,
    own_trend_values,
    trend_values,
    trends,
)
from dbversus.stats.values.blocks import block_values

from ..slots import Slots, make_slots, one_after_the_other

ROWS = 30
LOOKS = (4,)
Shape = Callable[[Slots], Slots]
DRIFT_CPU = f"drift.{CPU}"


def place(slots: Slots) -> np.ndarray:
    """Of each slot within its block, from -1/2 to 1/2."""
    return np.asarray((slots["row"] + 0.5) / (slots["row"].max() + 1) - 0.5)


def drifting(slots: Slots, by: float, target: str = "b", test: str = "t0") -> Slots:
    """CPU per op of one target and test moves by `by` (of ln) over each block's slots."""
    moved = np.where((slots["target"] == target) & (slots["test"] == test), by * place(slots), 0.0)
    return slots | {"server_cpu_ns": slots["server_cpu_ns"] * np.exp(moved)}


def judged(slots: Slots, margins: Mapping[tuple[str, str], float] | None = None) -> dict[tuple[str, str], Finding]:
    findings = assess(block_values(lay_out(slots, "a"), PRIMARY), PRIMARY, LOOKS, margins)
    whole = judge_whole_work(whole_work_values(lay_out(slots, "a"), []), LOOKS, margins or {})
    after = judge_steadiness(findings, trend_values(lay_out(slots, "a")), LOOKS, whole)
    assert [(f.test, f.target, f.metric) for f in after] == [(f.test, f.target, f.metric) for f in findings]
    return {(finding.test, finding.metric): finding for finding in after}


def test_a_straight_line_has_its_own_slope() -> None:
    line = np.linspace(0.1, 0.4, 31)[:-1]  # 30 steps of 0.01
    cell = np.zeros(30, dtype=np.int64)
    assert trends(line, cell, 1) == pytest.approx([0.3])
    assert trends(np.concatenate((line, line[::-1])), np.repeat([0, 2], 30), 3) == pytest.approx(
        [0.3, np.nan, -0.3], nan_ok=True
    )


def test_few_slots_have_no_trend_and_one_wild_slot_makes_none() -> None:
    assert np.isnan(trends(np.arange(5.0), np.zeros(5, dtype=np.int64), 1)).all()
    flat = np.zeros(30)
    flat[29] = 50.0
    assert trends(flat, np.zeros(30, dtype=np.int64), 1) == pytest.approx([0.0])


@pytest.mark.parametrize("shape", [lambda slots: slots, one_after_the_other])
def test_a_drift_is_no_steady_state_judged_on_all_work(shape: Shape) -> None:
    slots = shape(drifting(make_slots(tests=8, blocks=4, rows=ROWS), 0.20))
    found = judged(slots)
    finding = found["t0", CPU]
    assert finding.verdict is Verdict.NO_STEADY_STATE
    assert finding.ratio == pytest.approx(1.0, abs=0.02)
    assert finding.whole_work is not None
    assert finding.low is not None and finding.high is not None
    assert "moved by +2" in finding.note
    others = [f for (test, metric), f in found.items() if (test, metric) != ("t0", CPU)]
    assert all(f.verdict is not Verdict.NO_STEADY_STATE and f.whole_work is None for f in others)


def test_a_drift_under_the_margin_is_none() -> None:
    slots = drifting(make_slots(tests=8, blocks=12, rows=ROWS), 0.025)
    assert judged(slots)["t0", CPU].verdict is not Verdict.NO_STEADY_STATE


def test_the_margin_of_the_test_counts() -> None:
    slots = drifting(make_slots(tests=8, blocks=12, rows=ROWS), 0.15)
    assert judged(slots)["t0", CPU].verdict is Verdict.NO_STEADY_STATE
    wide = judged(slots, {("t0", CPU): 0.30})
    assert not [finding for finding in wide.values() if finding.verdict is Verdict.NO_STEADY_STATE]


def test_what_both_do_alike_cancels_and_is_told_of_each() -> None:
    slots = drifting(drifting(make_slots(tests=8, blocks=8, rows=200), 0.30), 0.30, target="a")
    assert judged(slots)["t0", CPU].verdict is not Verdict.NO_STEADY_STATE
    found = assess(own_trend_values(lay_out(slots, "a")), TRENDS, LOOKS)
    assert {(f.test, f.target) for f in found if f.metric == DRIFT_CPU and is_drift(f)} == {("t0", "a"), ("t0", "b")}


def test_a_regression_that_all_work_bears_out_stays_one() -> None:
    slots = drifting(make_slots(tests=8, blocks=4, rows=ROWS), 0.20)
    slots["server_cpu_ns"] *= np.where((slots["test"] == "t0") & (slots["target"] == "b"), 1.3, 1.0)
    finding = judged(slots)["t0", CPU]
    assert finding.verdict is Verdict.REGRESSION
    assert finding.ratio == pytest.approx(1.3, abs=0.01)
    assert "target/base moved by +2" in finding.note


def test_hosts_that_cannot_tell_cpu_and_other_metrics_are_left_as_they_are() -> None:
    slots = drifting(make_slots(tests=8, blocks=4, rows=ROWS), 0.20)
    slots["server_cpu_ns"] = np.full(len(slots["ops"]), None, dtype=object)
    assert {value.metric for value in trend_values(lay_out(slots, "a"))} == {f"drift.{THROUGHPUT}"}
    assert judged(slots)["t0", IO_BYTES].verdict is Verdict.EQUIVALENT


def steady(rng: np.random.Generator, blocks: int, correlation: float, sd: float, tests: int = 42) -> Slots:
    """Equal targets without drift, whose CPU per op and throughput follow an AR(1) process within each block."""
    slots = make_slots(tests=tests, blocks=blocks, rows=ROWS, seed=int(rng.integers(2**31)))
    shape = blocks, tests, ROWS, 2
    for name in ("server_cpu_ns", "ops"):
        scale = sd * np.sqrt(1 - correlation**2)
        # a start of its own for each series: from the distribution that the process settles in
        shocks = rng.normal(0, scale, shape)
        shocks[:, :, 0] /= np.sqrt(1 - correlation**2)
        series = lfilter([1], [1, -correlation], shocks, axis=2)
        slots[name] = slots[name] * np.exp(series.ravel())
    return slots


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("blocks", [4, 8])
def test_at_most_one_percent_of_equal_steady_tests_is_flagged(correlation: float, blocks: int) -> None:
    rng = np.random.default_rng(17)
    flagged, looked = 0, 0
    for _ in range(6):
        found = assess(trend_values(lay_out(steady(rng, blocks, correlation, 0.06), "a")), TRENDS, (4, 6, 8, 12))
        flagged += sum(is_drift(trend) for trend in found)
        looked += len(found)
    assert looked == 6 * 84
    assert flagged <= 0.01 * looked


def test_metrics_that_drift_are_not_among_the_others() -> None:
    assert not {trend.name for trend in TRENDS} & {metric.name for metric in METRICS}
