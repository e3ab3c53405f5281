"""What a run shows that its post could not: how sure a figure is, which published changes are within the margin, what else
changed, and why."""

import math
from dataclasses import dataclass

import numpy as np

from dbversus.posts.run import METRICS, PostRun, judged
from dbversus.posts.scored import ScoredFigure, ScoredPost
from dbversus.stats.model import CHANGES, Finding


@dataclass(frozen=True)
class Change:
    """A regression or an improvement that no figure of the post is about; `why`: empty where nothing is known."""

    finding: Finding
    why: str


@dataclass(frozen=True)
class Unseen:
    """`ratios`: how many with an interval one run was scored by. `half_width`: the median of half the width of these intervals,
    as a share.

    `none`: published changes beyond the margin whose interval here lies within it. `changes`: largest first.
    """

    ratios: int
    half_width: float | None
    none: tuple[ScoredFigure, ...]
    changes: tuple[Change, ...]


def unseen(run: PostRun, post: ScoredPost) -> Unseen:
    """Changes are those against the base of the run; imports have no intervals, and show none of it."""
    figures = [one for one in _compared(post) if one.experiment == run.experiment]
    found = [one for one in judged(run) if one.judged and (one.test, one.target) not in run.spoilt]
    margins = {(one.test, one.metric): one.margin for one in found}
    widths = {_ratio(one): math.log(one.high / one.low) / 2 for one in figures if one.low and one.high}
    claimed = {(one.test, _metric(one), frozenset((one.new, one.old))) for one in _compared(post)}
    base = run.targets[0].label
    changes = [
        Change(one, _why(run, one))
        for one in found
        if one.counted in CHANGES and one.low and (one.test, one.metric, frozenset((one.target, base))) not in claimed
    ]
    return Unseen(
        len(widths),
        math.expm1(float(np.median(list(widths.values())))) if widths else None,
        tuple(one for one in figures if _is_none(one, margins.get((one.test, _metric(one)), math.inf))),
        tuple(sorted(changes, key=lambda one: -abs(math.log(one.finding.ratio or 1.0)))),
    )


def _compared(post: ScoredPost) -> list[ScoredFigure]:
    """Figures that have one of ours, and the parts of figures over many tests."""
    return [part for _, one in post.figures() for part in (one, *one.parts) if part.ratio]


def _ratio(figure: ScoredFigure) -> tuple[str, str, str, str]:
    """Which one it is: several figures may be about it."""
    return figure.test, figure.metric, figure.new, figure.old


def _metric(figure: ScoredFigure) -> str:
    return METRICS.get(figure.metric, figure.metric)


def _is_none(figure: ScoredFigure, margin: float) -> bool:
    """Whether a change beyond the margin was published, and the whole interval lies within it."""
    if not (figure.published and figure.low and figure.high):
        return False
    ends = abs(math.log(figure.low)), abs(math.log(figure.high))
    return max(ends) <= math.log1p(margin) < abs(math.log(figure.published))


def _why(run: PostRun, finding: Finding) -> str:
    return next((one.words for one in run.reasons if one.explains(finding)), "")
