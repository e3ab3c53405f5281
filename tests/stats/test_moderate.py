"""Moderated variances against an independent implementation, and where there is little to go on."""

import numpy as np
import pytest

from dbversus.stats.moderate import LARGEST_PRIOR_DF, VARIANCE_FLOOR, moderate

# sample variances, and what inmoose 0.9.1 (limma.squeezeVar) makes of them at 7 degrees of freedom
VARIANCES = np.array([12, 31, 8, 55, 21, 17, 42, 9, 27, 190]) * 1e-5
INMOOSE_PRIOR_DF = 4.411308961593297
INMOOSE_POSTERIOR = np.array(
    [
        0.00016312362915772585, 0.00027967467553429326, 0.000138586566762659, 0.00042689704990469423,
        0.00021833201954662618, 0.00019379495715155935, 0.000347151597120727, 0.00014472083236142573,
        0.00025513761313922646, 0.0012550229057381997,
    ]
)  # fmt: skip
INMOOSE_POOLED = 0.000412  # at 3 degrees of freedom: an infinite prior, all variances are one


def test_agrees_with_inmoose() -> None:
    result = moderate(VARIANCES, np.full(10, 7.0))
    assert result.variance == pytest.approx(INMOOSE_POSTERIOR, rel=1e-6)
    assert result.df == pytest.approx(np.full(10, 7 + INMOOSE_PRIOR_DF), rel=1e-6)


def test_an_infinite_prior_is_capped() -> None:
    result = moderate(VARIANCES, np.full(10, 3.0))
    expected = (LARGEST_PRIOR_DF * INMOOSE_POOLED + 3 * VARIANCES) / (LARGEST_PRIOR_DF + 3)
    assert result.variance == pytest.approx(expected, rel=1e-6)
    assert result.df == pytest.approx(np.full(10, LARGEST_PRIOR_DF + 3))


def test_no_more_degrees_of_freedom_than_all_tests_have_together() -> None:
    assert moderate(VARIANCES[:4], np.full(4, 2.0)).df == pytest.approx(np.full(4, 8.0))


def test_few_tests_keep_their_own_variance() -> None:
    result = moderate(np.array([1e-4, 4e-4]), np.array([3.0, 3.0]))
    assert result.variance == pytest.approx([1e-4, 4e-4])
    assert result.df == pytest.approx([3, 3])


def test_identical_counters_do_not_spoil_the_prior() -> None:
    noisy = moderate(VARIANCES, np.full(10, 7.0))
    mixed = moderate(np.append(VARIANCES, [0.0, 0.0]), np.full(12, 7.0))
    assert mixed.variance[:10] == pytest.approx(noisy.variance)
    assert (mixed.variance[10:] > VARIANCE_FLOOR).all()
    assert moderate(np.zeros(5), np.full(5, 3.0)).variance == pytest.approx(np.full(5, VARIANCE_FLOOR))


def test_unknown_variances_stay_unknown() -> None:
    result = moderate(np.append(VARIANCES, np.nan), np.append(np.full(10, 7.0), 0))
    assert np.isnan(result.variance[-1])
    assert np.isfinite(result.variance[:-1]).all()


def test_tests_with_unequal_numbers_of_blocks() -> None:
    result = moderate(VARIANCES, np.where(np.arange(10) < 6, 3.0, 7.0))
    assert np.isfinite(result.variance).all()
    assert result.df[6:] - result.df[:6].min() == pytest.approx(4)
