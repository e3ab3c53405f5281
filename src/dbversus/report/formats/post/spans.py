"""Ratios of a group of tests as words: `0.59 to 0.74, but 0.24 in random-points-1000`. A range hides no outlier."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from statistics import median

from dbversus.report.words import listing, ratio

FEWEST_IN_RANGE = 4
"""Fewer ratios are listed, in the order of their tests."""
MOST_OF_COUNTS = 100
_NEAR, _DEVIATIONS = log(1.1), 3.0
"""Of an outlier: further from the median than this ratio, and than so many median absolute deviations."""

Named = tuple[str, float]
"""Test, and its ratio."""
Show = Callable[[float], str]


@dataclass(frozen=True)
class Span:
    """`middle`: of most tests, `where` it is so; `apart`: what is said of the others, each with the number of its figures."""

    middle: str
    where: str
    figures: int
    apart: tuple[tuple[str, int], ...] = ()


def two_decimals(value: float) -> str:
    """As the reference prints ratios; where that would say nothing, as many digits as say something: `0.00357`, `640`."""
    return f"{value:.2f}" if 0.1 <= value < 100 else ratio(value)


def of_counts(value: float) -> str:
    """A ratio of counts or bytes. One to next to nothing, such as disk reads of a server that reads none, has no size: `>100`."""
    if value > MOST_OF_COUNTS:
        return f">{MOST_OF_COUNTS}"
    return f"<{1 / MOST_OF_COUNTS:.2f}" if 0 < value < 1 / MOST_OF_COUNTS else two_decimals(value)


def span(values: Sequence[Named], show: Show = two_decimals) -> Span:
    """Of one ratio at least."""
    if len(values) < FEWEST_IN_RANGE:
        return _listed([show(value) for _, value in values])
    low, middle, high = _split(values)
    said, figures = _range(middle, show)
    where = f"in {len(middle)} tests" if figures == 1 else ""
    return Span(said, where, figures, tuple(_apart(side, show) for side in (low, high) if side))


def _listed(texts: Sequence[str]) -> Span:
    if len(texts) > 1 and len(set(texts)) == 1:
        return Span(texts[0], "in both" if len(texts) == 2 else f"in all {len(texts)}", 1)
    return Span(listing(texts), "", len(texts))


def _range(values: Sequence[Named], show: Show) -> tuple[str, int]:
    """Its words, and the number of its figures."""
    texts = [show(value) for _, value in sorted(values, key=lambda named: named[1])]
    return (texts[0], 1) if texts[0] == texts[-1] else (f"{texts[0]} to {texts[-1]}", 2)


def _split(values: Sequence[Named]) -> tuple[list[Named], list[Named], list[Named]]:
    """Those that lie apart below, the others, and those that lie apart above."""
    logs = [_log(value) for _, value in values]
    middle = median(logs)
    limit = max(_NEAR, _DEVIATIONS * median(abs(one - middle) for one in logs))
    far = [one - middle if abs(one - middle) > limit else 0.0 for one in logs]
    low, mid, high = (
        [named for named, away in zip(values, far, strict=True) if (away > 0) - (away < 0) == side]
        for side in (-1, 0, 1)
    )
    return low, mid, high


def _log(value: float) -> float:
    """Of a ratio that may be nothing, or of nothing."""
    return log(min(max(value, 1e-9), 1e9))


def _apart(values: Sequence[Named], show: Show) -> tuple[str, int]:
    """`0.24 in a`, `2.04 to 4.58 in a, b and c`"""
    said, figures = _range(values, show)
    return f"{said} in {listing([name for name, _ in values], most=len(values))}", figures
