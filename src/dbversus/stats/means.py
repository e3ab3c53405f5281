"""Means over blocks of ln ratios, with Student's t intervals; and what stands beside a figure that has none."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95

VARIANCE_FLOOR = 0.0005**2
"""No spread under 0.05 % between starts of a server is believed: identical counters say nothing of the next block."""

FEWEST_BLOCKS = 3
"""With fewer, a figure has no interval: with two, Student's t makes it wide enough to hold anything."""

WIDEST = 100.0
"""Ends of an interval that are further apart than this factor say that too little happened to tell."""

_LARGEST_LOG = 700.0  # beyond it exp has no number

Logs = Mapping[int, float]
"""Block → ln(second/first)."""


class Spread(NamedTuple):
    """What stands beside a figure: the ends of its interval, or in its stead the `least` and the `most` of its blocks."""

    low: float | None = None
    high: float | None = None
    least: float | None = None
    most: float | None = None


class Spreading(Protocol):
    """What has the fields of a Spread."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def least(self) -> float | None: ...
    @property
    def most(self) -> float | None: ...


def spread(interval: tuple[float, float] | None, ends: tuple[float, float], blocks: int) -> Spread:
    """Of a figure that is never under 0: its interval, if that tells anything; else `ends`, the least and most of its blocks.

    It tells nothing with fewer than FEWEST_BLOCKS, nor where it reaches 0 or its ends are WIDEST apart.
    """
    if interval and blocks >= FEWEST_BLOCKS and interval[0] > 0 and interval[1] <= WIDEST * interval[0]:
        return Spread(*interval)
    return Spread(least=ends[0], most=ends[1]) if blocks > 1 else Spread()


def spread_of(one: Spreading) -> Spread:
    """Those fields alone."""
    return Spread(one.low, one.high, one.least, one.most)


def says_nothing(one: Spreading, blocks: int) -> bool:
    """Whether enough blocks give no interval, since too little happened in them."""
    return blocks >= FEWEST_BLOCKS and one.low is None and one.least is not None


@dataclass(frozen=True)
class Mean:
    """Mean of ln ratios, its standard error and its degrees of freedom; no error with fewer than FEWEST_BLOCKS.

    `ends`: the least and the greatest of its blocks; None: they are not told.
    """

    value: float
    error: float | None
    df: float
    blocks: int
    ends: tuple[float, float] | None = None

    def ratio(self) -> "Ratio":
        reach = None if self.error is None else self.error * float(stdtrit(self.df, (1 + CONFIDENCE) / 2))
        return Ratio(exp(self.value), blocks=self.blocks, **self.spread(reach)._asdict())

    def spread(self, reach: float | None) -> Spread:
        """Of the ratio; `reach`: how far the mean may be from the truth, on one side."""
        interval = None if reach is None else (exp(self.value - reach), exp(self.value + reach))
        least, most = self.ends or (self.value, self.value)
        return spread(interval, (exp(least), exp(most)), self.blocks)


def exp(log: float) -> float:
    """Of a logarithm that is too large for that: the largest there is."""
    return math.exp(min(log, _LARGEST_LOG))


@dataclass(frozen=True)
class Ratio:
    """A ratio between `low` and `high` at CONFIDENCE, or with blocks between `least` and `most` (`spread`); None: not known."""

    value: float
    low: float | None
    high: float | None
    blocks: int
    least: float | None = None
    most: float | None = None


def mean_of_blocks(logs: Sequence[float]) -> Mean:
    """The mean of one test over its blocks; no spread under that of stats/judging/moderate.py is believed."""
    blocks, ends = len(logs), (min(logs), max(logs))
    if blocks < FEWEST_BLOCKS:
        return Mean(fmean(logs), None, 0.0, blocks, ends)
    variance = max(float(np.var(logs, ddof=1)), VARIANCE_FLOOR)
    return Mean(fmean(logs), math.sqrt(variance / blocks), blocks - 1, blocks, ends)


def mean_of_tests(tests: Sequence[Logs]) -> Mean:
    """The mean over tests of each test's mean over its blocks: ln of a geometric mean.

    Its error is that over blocks, because what befalls a block befalls all its tests. Where all tests have the same blocks,
    it is the plain standard error of the blocks' means. Where they have not (retired tests), each block pulls the mean by the
    sum over its tests of what it adds to their means, and the error is that of the sum of these pulls (cluster-robust, each
    test scaled for its own n - 1), with the degrees of freedom of the test that has fewest blocks.
    """
    means = [fmean(test.values()) for test in tests]
    fewest, ends = min(map(len, tests)), _ends(tests)
    if fewest < FEWEST_BLOCKS:
        return Mean(fmean(means), None, 0.0, fewest, ends)
    pulls: dict[int, float] = defaultdict(float)
    for test, mean in zip(tests, means, strict=True):
        weight = 1 / math.sqrt(len(test) * (len(test) - 1)) / len(tests)
        for block, value in test.items():
            pulls[block] += weight * (value - mean)
    variance = max(math.fsum(pull**2 for pull in pulls.values()), VARIANCE_FLOOR / fewest)
    return Mean(fmean(means), math.sqrt(variance), fewest - 1, fewest, ends)


def _ends(tests: Sequence[Logs]) -> tuple[float, float]:
    """Least and greatest mean over tests of any block that all of them have; those of all tests where there is none."""
    shared = set.intersection(*(set(test) for test in tests))
    of_blocks = [fmean(test[block] for test in tests) for block in shared]
    of_blocks = of_blocks or [value for test in tests for value in test.values()]
    return min(of_blocks), max(of_blocks)


def difference(new: Mean, old: Mean) -> Mean:
    """new - old of independent means; degrees of freedom after Welch and Satterthwaite."""
    value, blocks = new.value - old.value, min(new.blocks, old.blocks)
    ends = (new.ends[0] - old.ends[1], new.ends[1] - old.ends[0]) if new.ends and old.ends else None
    if new.error is None or old.error is None:
        return Mean(value, None, 0.0, blocks, ends)
    ours, theirs = new.error**2, old.error**2
    df = (ours + theirs) ** 2 / (ours**2 / new.df + theirs**2 / old.df)
    return Mean(value, math.sqrt(ours + theirs), df, blocks, ends)
