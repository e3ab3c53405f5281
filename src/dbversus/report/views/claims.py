"""Claims of the posts that an experiment repeats, a line per figure: what was published, and what was found here."""

from collections.abc import Iterator
from typing import Any

from dbversus.errors import UsageError
from dbversus.posts.scored import PostPart
from dbversus.posts.scoring import of_every_post
from dbversus.report.assessment import build_assessment, spoilt
from dbversus.report.views.registry import Shown
from dbversus.report.words import rounded
from dbversus.results.stored import Results
from dbversus.stats.means import spread_of

_COLUMNS = [
    "claim", "result", "test", "metric", "new", "old", "published", "ratio", "low", "high", "least", "most",
    "blocks", "of figure", "note",
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


def _rows(post: PostPart) -> Iterator[tuple[Any, ...]]:
    for claim in post.claims:
        for one in claim.figures:
            said = one.said if one.published is None else one.published
            ours = (*map(rounded, (one.ratio, *spread_of(one))), one.blocks)
            yield (claim.name, claim.status, one.test, one.metric, one.new, one.old, said, *ours, one.status, one.note)
        if not claim.figures:
            yield (claim.name, claim.status, *(None,) * 10, claim.note)
