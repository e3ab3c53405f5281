"""Is a known slowdown measured as what it is? Measured ln ratios against the injected ones, over tests and blocks."""

from collections.abc import Mapping, Sequence

import numpy as np

from dbversus.stats.calibration.model import Recovery
from dbversus.stats.calibration.slope import fit_line
from dbversus.stats.calibration.twins import Injected, TestBlock
from dbversus.stats.judging.moderate import moderate
from dbversus.stats.means import VARIANCE_FLOOR
from dbversus.stats.metrics import Floats

FEWEST_CLUSTERS = 3
SMALLEST_SPAN = 0.005
"""ln: truths nearer together than this tell nothing of a slope."""


def recover(injected: Mapping[TestBlock, Injected], metric: str) -> Recovery | None:
    """Weighted least squares of measured on injected ln ratios of a metric; None where the truths do not vary enough.

    A test's weight is one over the moderated variance of its residuals. What befalls a block befalls all its tests, so the
    interval is cluster-robust, by block, with Student's t of blocks - 1 degrees of freedom.
    """
    places = sorted(injected)
    blocks = np.array([block for _, block in places])
    truth = np.array([injected[place].truth for place in places])
    if len(np.unique(blocks)) < FEWEST_CLUSTERS or np.ptp(truth) < SMALLEST_SPAN:
        return None
    measured = np.array([injected[place].measured for place in places])
    weights = _weights([test for test, _ in places], measured - truth)
    line = fit_line(truth, measured, weights, blocks)
    return Recovery(
        metric=metric,
        slope=line.slope,
        low=line.low,
        high=line.high,
        offset=line.offset,
        values=len(places),
        blocks=line.clusters,
    )


def _weights(tests: Sequence[str], residual: Floats) -> Floats:
    names, test = np.unique(np.array(tests, dtype=str), return_inverse=True)
    counts = np.bincount(test, minlength=len(names))
    own = [residual[test == index] for index in range(len(names))]
    variance = np.array([values.var(ddof=1) if len(values) > 1 else np.nan for values in own])
    moderated = moderate(variance, counts.astype(np.float64) - 1).variance
    known = np.nan_to_num(moderated, nan=float(np.nanmean(variance)) if np.isfinite(variance).any() else 1.0)
    weights: Floats = 1 / np.maximum(known, VARIANCE_FLOOR)[test]
    return weights
