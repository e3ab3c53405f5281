"""Weights of blocks: against statsmodels' Paule-Mandel, a known truth, and where nobody knows the rows' errors."""

import numpy as np
import pytest
from scipy.special import stdtrit

from dbversus.stats.judging.estimate import estimate
from dbversus.stats.judging.weights import between_starts, effective_blocks, weigh
from dbversus.stats.metrics import CPU, IO_BYTES, METRICS, Floats
from dbversus.stats.model import BlockValue
from dbversus.stats.values.table import Table, tabulate

STATSMODELS = 0.00014244402456415034
"""tau2 of statsmodels 0.15.0, combine_effects(…, method_re="iterated"), for the values and errors of the first test."""


def table_of(value: Floats, error: Floats, metric: str = CPU) -> Table:
    """tests × blocks; NaN: not known."""
    values = [
        BlockValue(f"t{test}", "b", metric, block, one, 36, error=None if np.isnan(known) else known)
        for test, of_test in enumerate(zip(value.tolist(), error.tolist(), strict=True))
        for block, (one, known) in enumerate(zip(*of_test, strict=True))
        if np.isfinite(one)
    ]
    return tabulate(values, METRICS, {})


def drawn(tests: int, blocks: int, tau: float, seed: int) -> tuple[Floats, Floats]:
    """Values whose truth is 0, and the errors of their rows: one in six is twenty times as large."""
    rng = np.random.default_rng(seed)
    error = 0.003 * np.where(rng.random((tests, blocks)) < 1 / 6, 20.0, 1.0)
    return rng.normal(0, np.hypot(tau, error)), error


def test_what_blocks_vary_by_besides_their_rows_is_statsmodels() -> None:
    value = np.array([[0.021, -0.004, 0.011, 0.043, -0.002, 0.006]])
    error = np.array([[0.004, 0.003, 0.009, 0.02, 0.003, 0.005]])
    assert between_starts(value, error**2) == pytest.approx(STATSMODELS, rel=1e-4)


@pytest.mark.parametrize("tau", [0.002, 0.01, 0.03])
def test_what_starts_vary_by_is_found_through_noisy_rows(tau: float) -> None:
    value, error = drawn(400, 4, tau, seed=1)
    assert between_starts(value, error**2) ** 0.5 == pytest.approx(tau, rel=0.1)


def test_starts_do_not_vary_where_rows_explain_all() -> None:
    value, error = drawn(400, 4, 0.0, seed=2)
    assert between_starts(value, error**2) ** 0.5 < 0.001
    assert between_starts(np.array([[0.1], [np.nan]]), np.array([[1e-6], [np.nan]])) == 0.0


def test_blocks_of_noisy_rows_count_less_and_means_are_sharper() -> None:
    value, error = drawn(400, 4, 0.004, seed=3)
    weight, of_rows = weigh(table_of(value, error), value)
    assert weight.sum(axis=1) == pytest.approx(4.0)
    uneven = (error.max(axis=1) > error.min(axis=1))[:, None]
    assert (weight[uneven & (error == error.max())] < 0.1).all()
    assert of_rows.max() <= error.max() ** 2
    found = estimate(table_of(value, error), 4)
    assert np.sqrt(np.mean(found.mean**2)) < 0.5 * np.sqrt(np.mean(value.mean(axis=1) ** 2))


def test_intervals_of_weighted_means_hold_the_truth() -> None:
    value, error = drawn(2000, 4, 0.004, seed=4)
    found = estimate(table_of(value, error), 4)
    t = np.abs(found.mean) / (found.moderated_sd / np.sqrt(4))
    assert 0.93 < np.mean(t < stdtrit(found.df, 0.975)) < 0.98


def test_blocks_alike_are_averaged_plainly() -> None:
    alike = np.full((12, 4), 0.003)
    value = np.random.default_rng(5).uniform(-0.01, 0.01, alike.shape)
    assert estimate(table_of(value, alike), 4).mean == pytest.approx(value.mean(axis=1))


@pytest.mark.parametrize(("metric", "is_known"), [(CPU, False), (IO_BYTES, True)])
def test_nothing_is_weighed_without_errors_or_where_lumps_are_meant(metric: str, is_known: bool) -> None:
    value, error = drawn(12, 4, 0.01, seed=6)
    error[:, 0] = error[:, 0] if is_known else np.nan
    weight, _ = weigh(table_of(value, error, metric), value)
    assert (weight == 1).all()


def test_a_test_without_a_block_has_no_weight_there() -> None:
    value, error = drawn(12, 4, 0.01, seed=7)
    value[0, 2:] = np.nan
    weight, _ = weigh(table_of(value, error), value)
    assert (weight[0, 2:] == 0).all() and weight[0].sum() == pytest.approx(2.0)


def test_effective_blocks() -> None:
    assert effective_blocks(np.array([[1.0, 1, 1, 1], [2, 2, 0, 0], [4, 0, 0, 0]])) == pytest.approx([4, 2, 1])
