"""Moderated variances: the spread of a test's few blocks, steadied by the spread of all other tests.

Empirical Bayes: s̃² = (d0·s0² + d·s²) / (d0 + d). The prior (d0, s0²) is fitted to the variances of all tests by the moments of
their logarithms, for whatever degrees of freedom d each has: Smyth, Linear models and empirical Bayes methods for assessing
differential expression in microarray experiments, Stat. Appl. Genet. Mol. Biol. 3 (2004), section 6.2.

Tests whose single rows vary more are expected to vary more from block to block, too: variances are compared in units of what the
rows alone would make them. So a test that is noisy within its blocks is not taken for one as quiet as the rest. Where blocks do
not vary as rows do, the prior finds its variances to agree less, and weighs less.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from dbversus.stats.means import VARIANCE_FLOOR
from dbversus.stats.metrics import Floats
from dbversus.stats.values.table import Bools

FEWEST_TESTS = 3
LARGEST_PRIOR_DF = 10.0
"""The prior is infinite when variances agree by chance; we never trust the other tests that far: with 50, twice as many
simulated suites that are looked at once have a false alarm (6.5 % instead of 3.5), for no more changes found."""

LARGEST_PRIOR_PER_OWN_DF = 3.0
"""Nor further than that: where weights leave a test little more than one block, it does not pass for eleven. Of simulated
suites of 12 tests with uneven blocks, looked at once, 1.3 instead of 4.3 % have a false alarm (docs/evidence/estimates.md)."""

FARTHEST_ROWS = 25.0
"""No test is expected to vary more than so many times as much, or as little, as the usual one."""


@dataclass(frozen=True)
class Moderated:
    """Variance and its degrees of freedom for each test; NaN where there was none to begin with."""

    variance: Floats
    df: Floats


def moderate(variance: Floats, df: Floats, of_rows: Floats | None = None) -> Moderated:
    """Moderate sample variances with `df` degrees of freedom each, all of one metric; NaN or df < 1: no variance.

    `of_rows`: the variance that the rows alone give a block's value; NaN: unknown. With fewer than three variances above the
    floor they are returned as they are (but floored). As in limma, the final degrees of freedom are at most the sum of all
    tests'.
    """
    known = np.isfinite(variance) & (df >= 1)
    floored = np.where(known, np.maximum(variance, VARIANCE_FLOOR), np.nan)
    own = np.where(known, df, np.nan)
    informative = known & (floored > VARIANCE_FLOOR)
    if np.count_nonzero(informative) < FEWEST_TESTS:
        return Moderated(floored, own)
    expected = np.ones(len(variance)) if of_rows is None else _expected(of_rows, informative)
    prior_variance, prior_df = fit_prior((floored / expected)[informative], df[informative])
    trusted_df = np.minimum(min(prior_df, LARGEST_PRIOR_DF), LARGEST_PRIOR_PER_OWN_DF * own)
    squeezed = (trusted_df * prior_variance * expected + own * floored) / (trusted_df + own)
    return Moderated(squeezed, np.minimum(trusted_df + own, float(np.sum(df[known]))))


def fit_prior(variance: Floats, df: Floats) -> tuple[float, float]:
    """Prior variance and its degrees of freedom (may be infinite), from positive variances of `df` degrees of freedom each.

    ln s² of a test has the mean ln s0² + ψ(d/2) - ln(d/2) - ψ(d0/2) + ln(d0/2) and the variance ψ'(d/2) + ψ'(d0/2).
    Where the variances spread no more than their degrees of freedom explain, they are pooled, as limma does.
    """
    logs = np.log(variance) - digamma(df / 2) + np.log(df / 2)
    excess = float(logs.var(ddof=1) - polygamma(1, df / 2).mean())
    if excess <= 0:
        return float(variance.mean()), np.inf
    half = _trigamma_inverse(excess)
    return float(np.exp(logs.mean() + digamma(half) - np.log(half))), 2 * half


def _trigamma_inverse(value: float) -> float:
    """y with ψ'(y) = value > 0; 1/y < ψ'(y) < 1/y + 1/y² gives the bounds."""
    low, high = 1 / value, (1 + (1 + 4 * value) ** 0.5) / (2 * value)
    return float(brentq(lambda y: float(polygamma(1, y)) - value, low, high, rtol=1e-12))


def _expected(of_rows: Floats, informative: Bools) -> Floats:
    """What the rows of each test make of its variance between blocks, relative to that of the usual test; 1 where unknown."""
    usable = informative & (np.nan_to_num(of_rows) > 0)
    if not usable.any():
        return np.ones(len(of_rows))
    usual = float(np.exp(np.log(of_rows[usable]).mean()))
    known = np.nan_to_num(of_rows) > 0
    expected: Floats = np.where(known, np.clip(of_rows / usual, 1 / FARTHEST_ROWS, FARTHEST_ROWS), 1.0)
    return expected
