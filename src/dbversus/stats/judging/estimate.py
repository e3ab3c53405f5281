"""Mean and spread of block values: what a look estimates, before anything is judged."""

from dataclasses import dataclass

import numpy as np

from dbversus.stats.judging.moderate import moderate
from dbversus.stats.judging.weights import effective_blocks, weigh
from dbversus.stats.means import VARIANCE_FLOOR
from dbversus.stats.metrics import Floats
from dbversus.stats.values.table import Table

FARTHEST = 3.5
"""A block value farther than this many robust standard deviations from its test's median is drawn in to there. One start in 36
that is 10-30 % slow cost a change of 5 % a fifth of its chance to be found."""

_MAD_TO_SD = 1.4826
_FEWEST_BLOCKS = 3


@dataclass(frozen=True)
class Estimate:
    """Per key: mean of ln(target/base) over blocks, its own and its moderated sd, and the latter's degrees of freedom.

    Standard deviations are those of a block of weight 1, so that sd/√n is the standard error of the mean.
    """

    mean: Floats
    sd: Floats
    moderated_sd: Floats
    df: Floats


def estimate(table: Table, count: int) -> Estimate:
    """From the first `count` blocks; NaN where there are too few."""
    value = draw_in(table, table.value[:, :count])
    weight, of_rows = weigh(table, value)
    n = np.count_nonzero(~np.isnan(value), axis=1)
    filled = np.nan_to_num(value)
    mean = np.divide((weight * filled).sum(axis=1), n, out=np.full(len(n), np.nan), where=n > 0)
    squares = (weight * (filled - mean[:, None]) ** 2).sum(axis=1)
    variance = np.divide(squares, n - 1, out=np.full(len(n), np.nan), where=table.compared & (n >= 2))
    own_df = np.where(n >= 2, np.maximum(effective_blocks(weight) - 1, 1.0), 0.0)
    squeezed, df = np.full_like(variance, np.nan), np.full_like(variance, np.nan)
    for metric in np.unique(table.metric):
        chosen = table.metric == metric
        moderated = moderate(variance[chosen], own_df[chosen], of_rows[chosen])
        squeezed[chosen], df[chosen] = moderated.variance, moderated.df
    return Estimate(mean, np.sqrt(variance), np.sqrt(squeezed), df)


def draw_in(table: Table, value: Floats) -> Floats:
    """Values (keys × blocks) with those that are far off drawn in: starts of a server that were slow as a whole.

    Far off is what lies beyond FARTHEST robust standard deviations: by the median absolute deviation of the key's own blocks, or
    the median one of its metric and target where that is more. Fewer than three blocks do not tell, and what comes in lumps
    (pooled metrics) is far off by its nature.
    """
    n = np.count_nonzero(~np.isnan(value), axis=1)
    with np.errstate(invalid="ignore"):
        middle = _median(value)
        own = _MAD_TO_SD * _median(np.abs(value - middle[:, None]))
    told = table.compared & ~table.pooled & (n >= _FEWEST_BLOCKS)
    far = np.full(len(own), np.inf)
    for pair in np.unique(table.pair[told]):
        chosen = told & (table.pair == pair)
        far[chosen] = FARTHEST * np.maximum(own[chosen], max(np.median(own[chosen]), VARIANCE_FLOOR**0.5))
    with np.errstate(invalid="ignore"):
        drawn: Floats = np.clip(value, (middle - far)[:, None], (middle + far)[:, None])
    return drawn


def _median(matrix: Floats) -> Floats:
    """Median of each line over what is known of it; NaN where nothing is."""
    known = np.count_nonzero(~np.isnan(matrix), axis=1)
    order = np.sort(matrix, axis=1)  # NaN comes last
    lines = np.arange(len(matrix))
    low, high = np.maximum(known - 1, 0) // 2, known // 2
    median: Floats = (order[lines, low] + order[lines, np.minimum(high, matrix.shape[1] - 1)]) / 2
    return median
