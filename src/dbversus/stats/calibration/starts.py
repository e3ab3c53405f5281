"""Whether, of two equal servers, the one that is started first in its block is dearer or cheaper."""

import numpy as np
from scipy.stats import ttest_ind

from dbversus.results.stored import Results
from dbversus.stats.calibration.model import OrderBias
from dbversus.stats.calibration.twins import Twins
from dbversus.stats.calibration.variation import CONFIDENCE, by_place
from dbversus.stats.metrics import CPU, THROUGHPUT, Floats
from dbversus.stats.orders import starting_order

FEWEST_BLOCKS = 2
"""With the twin started first, and with the base."""


def start_bias(results: Results, twins: Twins) -> list[OrderBias]:
    """By how much (ln ratio) a target has more of a metric for having been started first in its block.

    Half the difference between blocks in which the twin was first and those in which the base was, with Welch's t interval; of
    the blocks' means over all tests (test "") and per test. Empty where either was first in fewer than FEWEST_BLOCKS.
    """
    first = np.array([starting_order(results.targets, block)[0].label for block in twins.blocks])
    found = []
    for metric in (CPU, THROUGHPUT):
        logs = {test: values for (test, name), values in by_place(twins, twins.values).items() if name == metric}
        if logs:
            logs = {"": np.nanmean(list(logs.values()), axis=0), **logs}
        for test, values in logs.items():
            sides = [values[(first == target.label) & np.isfinite(values)] for target in (twins.twin, twins.base)]
            if min(map(len, sides)) >= FEWEST_BLOCKS:
                found.append(_half_difference(test, metric, *sides))
    return found


def _half_difference(test: str, metric: str, twin_first: Floats, base_first: Floats) -> OrderBias:
    bounds = ttest_ind(twin_first, base_first, equal_var=False).confidence_interval(CONFIDENCE)
    bias = float(twin_first.mean() - base_first.mean()) / 2
    return OrderBias(test=test, metric=metric, bias=bias, low=float(bounds.low) / 2, high=float(bounds.high) / 2)
