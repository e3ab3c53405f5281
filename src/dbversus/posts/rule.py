"""What becomes of a published figure: its value with a tolerance, or what was said, against our interval (docs/posts.md)."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from dbversus.stats.means import Ratio, says_nothing

TOLERANCE = 1.05
"""By which two measurements of the same thing are taken to differ: the rule of the reference for its own figures."""


class Status(StrEnum):
    """From the best to the worst, and what nothing can be said of."""

    FOUND = "found"
    SAME_DIRECTION = "same direction"
    NOT_SHOWN = "not shown"
    OPPOSITE = "opposite"
    REFUTED = "refuted"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class Published:
    """A ratio with its tolerance: half a unit of its last printed digit, and TOLERANCE."""

    value: float
    low: float
    high: float

    @classmethod
    def printed(cls, value: float, decimals: int) -> "Published":
        half = min(0.5 * 10**-decimals, value / 2)
        return cls(value, (value - half) / TOLERANCE, (value + half) * TOLERANCE)

    def meets(self, other: "Published") -> bool:
        return self.low <= other.high and other.low <= self.high


@dataclass(frozen=True)
class Ours:
    """Our ratio. `way`: 1 up, -1 down, 0 equivalent: what its verdict shows; None: nothing. `margin`: a share.

    `holds`: its interval may be used against what was published. `note`: what has to be known of it.
    """

    ratio: Ratio
    way: int | None
    margin: float
    holds: bool = True
    note: str = ""

    @property
    def log(self) -> float:
        return math.log(self.ratio.value)

    @property
    def ends(self) -> tuple[float, float] | None:
        """Of the interval, in logarithms."""
        low, high = self.ratio.low, self.ratio.high
        return None if low is None or high is None else (math.log(low), math.log(high))

    @property
    def says_nothing(self) -> bool:
        """Whether its blocks are so far apart that they have no interval that would tell anything."""
        return says_nothing(self.ratio, self.ratio.blocks)

    @property
    def least(self) -> float:
        """Of a change that counts, in logarithms: the margin."""
        return math.log1p(self.margin)

    @property
    def half(self) -> float:
        """From which on an estimate points somewhere: half the margin, as with verdicts (docs/protocol.md)."""
        return math.log1p(self.margin / 2)

    def is_beyond(self, way: int) -> bool:
        """Whether the whole interval is beyond the margin that way."""
        return self.holds and self.ends is not None and min(way * end for end in self.ends) > self.least

    def is_short_of(self, way: int) -> bool:
        """Whether the whole interval is short of the margin that way."""
        return self.holds and self.ends is not None and max(way * end for end in self.ends) < self.least


def status_of_value(published: Published, ours: Ours) -> Status:
    """Of a printed ratio, whose size counts."""
    if ours.says_nothing:
        return Status.NOT_SHOWN
    size = math.log(published.value)
    way = 0 if abs(size) < ours.half else int(math.copysign(1, size))
    if ours.ends is None:
        return _by_size(published, ours, way)
    meets = published.low <= math.exp(ours.ends[1]) and math.exp(ours.ends[0]) <= published.high
    agreeing = {way} | ({0} if abs(size) <= ours.least else set())
    if meets and ours.way in agreeing:
        return Status.FOUND
    if not meets and _is_refuted(way, abs(size) > ours.least, ours):
        return Status.REFUTED
    return _by_direction(way, ours)


def _is_refuted(way: int, is_change: bool, ours: Ours) -> bool:
    if not way:
        return ours.is_beyond(1) or ours.is_beyond(-1)
    return ours.way == -way or (is_change and ours.is_short_of(way))


def _by_direction(way: int, ours: Ours) -> Status:
    if way and ours.way == way:
        return Status.SAME_DIRECTION
    return Status.OPPOSITE if way and -way * ours.log > ours.half else Status.NOT_SHOWN


def _by_size(published: Published, ours: Ours, way: int) -> Status:
    """Without an interval nothing is refuted."""
    if published.low <= ours.ratio.value <= published.high:
        return Status.FOUND
    if way and way * ours.log >= ours.half:
        return Status.SAME_DIRECTION
    return _by_direction(way, ours)


def status_of_words(said: str, ours: Ours) -> Status:
    """Of a direction alone: `up`, `down`, `same`, `not up`, `not down`."""
    if ours.says_nothing:
        return Status.NOT_SHOWN
    way = {"up": 1, "down": -1, "same": 0}[said.removeprefix("not ")]
    is_not = said.startswith("not ")
    shown = ours.way if ours.ends is not None else _way_of_size(ours)
    if shown is not None and (shown == way) != is_not:
        return Status.FOUND
    if ours.ends is None:
        return Status.OPPOSITE if way and shown == (way if is_not else -way) else Status.NOT_SHOWN
    if is_not:
        return Status.REFUTED if ours.is_beyond(way) else _by_direction(-way, replace(ours, way=None))
    return Status.REFUTED if _is_refuted(way, True, ours) else _by_direction(way, ours)


def _way_of_size(ours: Ours) -> int:
    return 0 if abs(ours.log) <= math.log(TOLERANCE) else int(math.copysign(1, ours.log))
