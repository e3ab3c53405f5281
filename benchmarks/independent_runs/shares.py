"""Shares with intervals that know that what happened in one run is not independent."""

import math
from collections.abc import Sequence

import numpy as np
from common import Interval
from scipy import stats

TAIL = 0.025


def clustered_share(clusters: Sequence[Sequence[bool]]) -> Interval:
    """Share of what is true, with a 95 % interval in which the cluster (a run) is the unit; NaN bounds with fewer than two.

    Tests of a run share its starts, its blocks and what befell the host. So their number is cut down to the number of
    independent ones that would spread as the shares of the clusters do, and that has Clopper and Pearson's interval (Korn and
    Graubard, Confidence intervals for proportions with small expected number of positive counts estimated from survey data,
    Survey Methodology 24, 1998). Student's t over the shares of the clusters, or a bootstrap of them, would have no width
    where all clusters say the same, as with a slowdown that was found each time.
    """
    known = [cluster for cluster in clusters if cluster]
    sizes, hits = (np.array([of(cluster) for cluster in known], dtype=float) for of in (len, sum))
    total, count = float(sizes.sum()), len(known)
    if not total:
        return Interval(math.nan, math.nan, math.nan)
    estimate = float(hits.sum()) / total
    if count < 2:
        return Interval(estimate, math.nan, math.nan)
    variance = count / (count - 1) * float(((hits - estimate * sizes) ** 2).sum()) / total**2
    alike = estimate * (1 - estimate) / variance if variance > 0 else total
    freedom = float(stats.t.isf(TAIL, total - 1) / stats.t.isf(TAIL, count - 1)) ** 2 if total > count else 1.0
    low, high = _clopper_pearson(estimate, min(total, alike * freedom))
    return Interval(estimate, low, high)


def _clopper_pearson(estimate: float, count: float) -> tuple[float, float]:
    """Of a count that need not be whole."""
    hits = estimate * count
    low = 0.0 if hits <= 0 else float(stats.beta.ppf(TAIL, hits, count - hits + 1))
    high = 1.0 if hits >= count else float(stats.beta.isf(TAIL, hits + 1, count - hits))
    return low, high


def percent(interval: Interval) -> str:
    """`97.9 % [91.0, 99.8]`; without bounds where there are none, and – for a share of nothing."""
    if math.isnan(interval.estimate):
        return "–"
    bounds = "" if math.isnan(interval.low) else f" [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
    return f"{100 * interval.estimate:.1f} %{bounds}"
