"""Intervals from the slots of one start: they count how much slots resemble their neighbours."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.special import stdtrit

from dbversus.results.layout import lay_out
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.judging.within_start import add_within_start, series_mean
from dbversus.stats.means import CONFIDENCE
from dbversus.stats.metrics import CPU, IO_BYTES, METRICS, THROUGHPUT
from dbversus.stats.model import Finding, Verdict
from dbversus.stats.values.blocks import block_values

from ..slots import Slots, make_slots, one_after_the_other


def series(rng: np.random.Generator, length: int, correlation: float, count: int) -> np.ndarray:
    """AR(1) series of unit variance around 0, one a row."""
    shocks = rng.normal(0, np.sqrt(1 - correlation**2), (count, length))
    shocks[:, 0] /= np.sqrt(1 - correlation**2)
    return np.asarray(lfilter([1], [1, -correlation], shocks, axis=1))


@pytest.mark.parametrize(("length", "correlation"), [(18, 0.0), (18, 0.3), (60, 0.0), (60, 0.6)])
def test_the_interval_covers_the_mean_of_a_correlated_series(length: int, correlation: float) -> None:
    means = [series_mean(values) for values in series(np.random.default_rng(3), length, correlation, 2000)]
    known = [mean for mean in means if mean.error is not None]
    covered = [abs(mean.value) <= mean.error * stdtrit(mean.df, (1 + CONFIDENCE) / 2) for mean in known if mean.error]
    assert len(known) > 0.95 * len(means)
    assert np.mean(covered) >= 0.92


def test_an_interval_that_does_not_count_the_correlation_would_not() -> None:
    drawn = series(np.random.default_rng(3), 60, 0.6, 2000)
    naive = np.abs(drawn.mean(axis=1)) <= drawn.std(axis=1, ddof=1) / np.sqrt(60) * stdtrit(59, 0.975)
    assert naive.mean() < 0.75


def test_independent_values_have_the_ordinary_error() -> None:
    values = np.array([1.0, -1.0] * 6)  # neighbours differ: correlation counts as 0
    mean = series_mean(values)
    assert mean.error == pytest.approx(np.std(values, ddof=1) / np.sqrt(12))
    assert mean.df == 11


def test_too_few_values_and_a_single_trend_have_no_error() -> None:
    assert series_mean(np.zeros(7)).error is None
    assert series_mean(np.arange(8.0)).error is None


def judged(slots: Slots, blocks_looked_at: int = 1) -> dict[str, Finding]:
    findings = assess(block_values(lay_out(slots, "a")), METRICS, (blocks_looked_at,))
    return {finding.metric: finding for finding in add_within_start(findings, lay_out(slots, "a"))}


@pytest.mark.parametrize("shape", [lambda slots: slots, one_after_the_other])
def test_one_block_has_an_interval_within_its_start_and_no_verdict(shape: Callable[[Slots], Slots]) -> None:
    found = judged(shape(make_slots(tests=1, blocks=1, rows=18)))
    for metric in (CPU, THROUGHPUT):
        finding = found[metric]
        assert (finding.verdict, finding.low, finding.high) == (Verdict.UNDECIDED, None, None)
        assert finding.ratio is not None and finding.start_low is not None and finding.start_high is not None
        assert finding.start_low < finding.ratio < finding.start_high
        assert finding.note.startswith("1 of 3 blocks: no verdict; within this one start ")
    assert found[IO_BYTES].start_low is None


def test_targets_apart_are_less_certain_than_in_pairs() -> None:
    """What rows have in common cancels in pairs alone."""
    slots = make_slots(tests=1, blocks=1, rows=18)
    widths = []
    for of_shape in (slots, one_after_the_other(slots)):
        finding = judged(of_shape)[THROUGHPUT]
        assert finding.start_low and finding.start_high
        widths.append(np.log(finding.start_high / finding.start_low))
    assert widths[1] > 5 * widths[0]


def test_several_blocks_speak_for_themselves() -> None:
    found = judged(make_slots(tests=1, blocks=4, rows=18), 4)
    assert found[CPU].low is not None
    assert found[CPU].start_low is None
