"""Claims of the posts that an experiment repeats, a line per figure: what was published, and what was found here."""

from collections.abc import Iterator
from typing import Any

from dbversus.errors import UsageError
from dbversus.posts.scored import ScoredFigure, ScoredPost
from dbversus.posts.scoring import of_every_post
from dbversus.report.assessment import build_assessment, spoilt
from dbversus.report.views.registry import Shown
from dbversus.report.words import rounded
from dbversus.results.stored import Results
from dbversus.stats.means import spread_of

_COLUMNS = [
    "claim", "result", "test", "metric", "new", "old", "server", "published", "ratio", "low", "high", "least", "most",
    "blocks", "of figure", "size", "note", "differs",
]  # fmt: skip


def show(results: Results) -> Shown:
    """Of an experiment that repeats no post, what it has of any; UsageError where that is nothing."""
    assessment = build_assessment(results)
    posts = assessment.posts or of_every_post(results, assessment.findings, spoilt(assessment.comparisons))
    if not posts:
        raise UsageError(
            f"{results.directory} has nothing that a post claims; --table claims needs builds and tests of one (docs/posts.md)."
        )
    return Shown(_COLUMNS, [row for post in posts for row in _rows(post)])


def _rows(post: ScoredPost) -> Iterator[tuple[Any, ...]]:
    for claim in post.claims:
        for figure in claim.figures:
            yield (claim.name, claim.status, *_figure(figure, figure.status))
            # tests that are one figure together are no figures of their own
            yield from ((claim.name, claim.status, *_figure(part, None)) for part in figure.parts)
        if not claim.figures:
            yield (claim.name, claim.status, *(None,) * 12, claim.status, None, claim.note, None)


def _figure(one: ScoredFigure, status: str | None) -> tuple[Any, ...]:
    said = one.said if one.published is None else one.published
    ours = (*map(rounded, (one.ratio, *spread_of(one))), one.blocks)
    note = one.note if status else f"one of the tests above: {one.status}"
    return (one.test, one.metric, one.new, one.old, one.server, said, *ours, status, one.size, note, one.differences)
