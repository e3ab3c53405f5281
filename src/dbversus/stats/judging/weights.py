"""How much each block counts: one whose rows agree tells more than one in which a server purged, flushed or was hit."""

import numpy as np
from scipy.optimize import brentq

from dbversus.stats.means import VARIANCE_FLOOR
from dbversus.stats.metrics import Floats
from dbversus.stats.values.table import Bools, Table

_TINY = 1e-300
_TOLERANCE = VARIANCE_FLOOR * 1e-9


def weigh(table: Table, value: Floats) -> tuple[Floats, Floats]:
    """Weights of the values (keys × blocks), 0 where there is none; and per key, the variance e² that its rows give a block.

    A value with the standard error e of its rows counts as 1/(τ² + e²), τ² being what starts of servers vary by besides: one for
    all tests of a metric and target, as few blocks do not tell it for each. The mean weight of a key is 1. Values whose error
    nobody knows count alike; so do those of metrics that come in lumps, since there a lump is meant. e² is a mean by the same
    weights.
    """
    present = ~np.isnan(value)
    error2 = np.where(present, table.error[:, : value.shape[1]] ** 2, np.nan)
    weighed = ~table.pooled & ~(present & ~np.isfinite(error2)).any(axis=1)
    variance = np.ones_like(value)
    for pair in np.unique(table.pair[weighed]):
        chosen = weighed & (table.pair == pair)
        variance[chosen] = error2[chosen] + between_starts(value[chosen], error2[chosen])
    precision = np.where(present, 1 / np.maximum(variance, VARIANCE_FLOOR), 0.0)
    weight = np.divide(precision, _mean(precision, present)[:, None], out=np.zeros_like(precision), where=present)
    return weight, _mean(np.where(present, weight * error2, np.nan), present & np.isfinite(error2))


def between_starts(value: Floats, error2: Floats) -> float:
    """The variance τ² that values (keys × blocks; NaN: none) have besides that of their rows, for all keys together.

    With weights 1/(τ² + e²) the squared deviations from each key's mean add up to the degrees of freedom: Paule & Mandel,
    Consensus values and weighting factors, J. Res. Natl. Bur. Stand. 87 (1982), over several means at once.
    """
    present, filled = ~np.isnan(value), np.nan_to_num(value)
    df = np.maximum(np.count_nonzero(present, axis=1) - 1, 0).sum()
    if not df:
        return 0.0

    def surplus(tau2: float) -> float:
        weight = np.where(present, 1 / (tau2 + np.maximum(error2, VARIANCE_FLOOR)), 0.0)
        mean = (weight * filled).sum(axis=1) / np.maximum(weight.sum(axis=1), _TINY)
        return float((weight * (filled - mean[:, None]) ** 2).sum() - df)

    most = float(np.nansum(value**2)) + VARIANCE_FLOOR
    return float(brentq(surplus, 0.0, most, xtol=_TOLERANCE)) if surplus(0.0) > 0 else 0.0


def effective_blocks(weight: Floats) -> Floats:
    """As many blocks of one weight would tell as much of the spread: (Σw)²/Σw² (Kish, Survey Sampling, 1965)."""
    effective: Floats = weight.sum(axis=1) ** 2 / np.maximum((weight**2).sum(axis=1), _TINY)
    return effective


def _mean(matrix: Floats, known: Bools) -> Floats:
    """Mean of each line over what is known of it; NaN where nothing is."""
    count = np.count_nonzero(known, axis=1)
    total = np.where(known, matrix, 0.0).sum(axis=1)
    means: Floats = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return means
