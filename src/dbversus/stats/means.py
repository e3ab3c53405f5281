"""Means over blocks of ln ratios, with Student's t intervals."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95

VARIANCE_FLOOR = 0.0005**2
"""No spread under 0.05 % between starts of a server is believed: identical counters say nothing of the next block."""

_LARGEST_LOG = 700.0  # beyond it exp has no number

Logs = Mapping[int, float]
"""Block → ln(second/first)."""


@dataclass(frozen=True)
class Mean:
    """Mean of ln ratios, its standard error and its degrees of freedom; no error with fewer than two blocks."""

    value: float
    error: float | None
    df: float
    blocks: int

    def ratio(self) -> "Ratio":
        if self.error is None:
            return Ratio(math.exp(self.value), None, None, self.blocks)
        distance = self.error * float(stdtrit(self.df, (1 + CONFIDENCE) / 2))
        low, high = (math.exp(min(end, _LARGEST_LOG)) for end in (self.value - distance, self.value + distance))
        return Ratio(math.exp(self.value), low, high, self.blocks)


@dataclass(frozen=True)
class Ratio:
    """A ratio between `low` and `high` at CONFIDENCE; None: no interval, for want of blocks or of a logarithm."""

    value: float
    low: float | None
    high: float | None
    blocks: int


def mean_of_blocks(logs: Sequence[float]) -> Mean:
    """The mean of one test over its blocks; no spread under that of stats/judging/moderate.py is believed."""
    blocks = len(logs)
    if blocks < 2:
        return Mean(fmean(logs), None, 0.0, blocks)
    variance = max(float(np.var(logs, ddof=1)), VARIANCE_FLOOR)
    return Mean(fmean(logs), math.sqrt(variance / blocks), blocks - 1, blocks)


def mean_of_tests(tests: Sequence[Logs]) -> Mean:
    """The mean over tests of each test's mean over its blocks: ln of a geometric mean.

    Its error is that over blocks, because what befalls a block befalls all its tests. Where all tests have the same blocks,
    it is the plain standard error of the blocks' means. Where they have not (retired tests), each block pulls the mean by the
    sum over its tests of what it adds to their means, and the error is that of the sum of these pulls (cluster-robust, each
    test scaled for its own n - 1), with the degrees of freedom of the test that has fewest blocks.
    """
    means = [fmean(test.values()) for test in tests]
    fewest = min(map(len, tests))
    if fewest < 2:
        return Mean(fmean(means), None, 0.0, fewest)
    pulls: dict[int, float] = defaultdict(float)
    for test, mean in zip(tests, means, strict=True):
        weight = 1 / math.sqrt(len(test) * (len(test) - 1)) / len(tests)
        for block, value in test.items():
            pulls[block] += weight * (value - mean)
    variance = max(math.fsum(pull**2 for pull in pulls.values()), VARIANCE_FLOOR / fewest)
    return Mean(fmean(means), math.sqrt(variance), fewest - 1, fewest)


def difference(new: Mean, old: Mean) -> Mean:
    """new - old of independent means; degrees of freedom after Welch and Satterthwaite."""
    value, blocks = new.value - old.value, min(new.blocks, old.blocks)
    if new.error is None or old.error is None:
        return Mean(value, None, 0.0, blocks)
    ours, theirs = new.error**2, old.error**2
    df = (ours + theirs) ** 2 / (ours**2 / new.df + theirs**2 / old.df)
    return Mean(value, math.sqrt(ours + theirs), df, blocks)
