"""Moderated variances: the spread of a test's few blocks, steadied by the spread of all other tests.

Empirical Bayes after Smyth (2004), as limma's squeezeVar does it: s̃² = (d0·s0² + d·s²) / (d0 + d), where the prior
(d0, s0²) is fitted to the variances of all tests.
"""

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dbversus.stats.metrics import Floats

FEWEST_TESTS = 3
LARGEST_PRIOR_DF = 10.0
"""limma finds an infinite prior when variances agree by chance; we never trust the other tests that far: with 50, twice as
many simulated suites that are looked at once have a false alarm (6.5 % instead of 3.5), for no more changes found."""

VARIANCE_FLOOR = 0.0005**2
"""No spread under 0.05 % between starts of a server is believed: identical counters say nothing of the next block."""


@dataclass(frozen=True)
class Moderated:
    """Variance and its degrees of freedom for each test; NaN where there was none to begin with."""

    variance: Floats
    df: Floats


def moderate(variance: Floats, df: Floats) -> Moderated:
    """Moderate sample variances with `df` degrees of freedom each, all of one metric; NaN or df < 1: no variance.

    With fewer than three variances above the floor, or when no prior fits, they are returned as they are (but floored).
    As in limma, the final degrees of freedom are at most the sum of all tests'.
    """
    known = np.isfinite(variance) & (df >= 1)
    floored = np.where(known, np.maximum(variance, VARIANCE_FLOOR), np.nan)
    own = np.where(known, df, np.nan)
    informative = known & (floored > VARIANCE_FLOOR)
    if np.count_nonzero(informative) < FEWEST_TESTS:
        return Moderated(floored, own)
    prior_variance, prior_df = _prior(floored[informative], df[informative])
    squeezed = (prior_df * prior_variance + own * floored) / (prior_df + own)
    return Moderated(squeezed, np.minimum(prior_df + own, float(np.sum(df[known]))))


def _prior(variance: Floats, df: Floats) -> tuple[float, float]:
    """Prior variance and its capped degrees of freedom; zero degrees of freedom when no prior fits."""
    return _fit(tuple(variance.tolist()), tuple(df.tolist()))


@lru_cache(maxsize=1024)
def _fit(variance: tuple[float, ...], df: tuple[float, ...]) -> tuple[float, float]:
    """`_prior`, remembered: every look replays the earlier ones."""
    from pylimma import squeeze_var  # takes two seconds, and only those who judge need it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit: dict[str, Any] = squeeze_var(np.array(variance), np.array(df))
    except ValueError:
        return 0.0, 0.0
    prior_variance, prior_df = float(fit["var_prior"]), float(fit["df_prior"])
    if not np.isfinite(prior_variance) or np.isnan(prior_df):
        return 0.0, 0.0
    return prior_variance, min(prior_df, LARGEST_PRIOR_DF)
