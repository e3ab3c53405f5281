"""Claims of a published post and what became of them, the same in every report."""

from collections import Counter

from dbversus.posts.scored import ClaimFigure, ClaimPart, ClaimStatus, PostPart
from dbversus.report.formats.tables.matrix_table import Table
from dbversus.report.words import ratio, spread
from dbversus.units import count_of

COLUMNS = ["claim", "says", "result", "ours [interval] against the published figure"]


def table(post: PostPart) -> Table:
    """A line per claim that can be checked here: what became of it, and our ratios beside those published."""
    rows = [
        [claim.name.rpartition("/")[2], claim.says, _status(claim), _ours(claim)]
        for claim in post.claims
        if claim.status != ClaimStatus.NOT_HERE
    ]
    return Table(f"Claims of {post.name}", COLUMNS, rows)


def sentence(post: PostPart) -> str:
    """How many claims the post has, and how many became what."""
    counts = Counter(claim.status for claim in post.claims)
    summary = ", ".join(f"{counts[status]} {status}" for status in ClaimStatus if counts[status])
    return f"{post.title}: {count_of(len(post.claims), 'claim')}, {summary}."


def _status(claim: ClaimPart) -> str:
    found, decided = claim.count(ClaimStatus.FOUND), claim.count(ClaimStatus.FOUND, ClaimStatus.NOT_FOUND)
    return f"{claim.status} ({found} of {decided} figures)" if decided > 1 else str(claim.status)


def _ours(claim: ClaimPart) -> str:
    measured = [one for one in claim.figures if one.ratio is not None]
    return "; ".join(map(_ours_of, measured)) or claim.note or "–"


def _ours_of(one: ClaimFigure) -> str:
    against = one.said if one.published is None else ratio(one.published)
    interval_or_count = spread(one) or "(no interval)"
    what = f"{one.test} {one.metric.replace('_', ' ')}, {one.new} ÷ {one.old}"
    return f"{what}: {ratio(one.ratio)} {interval_or_count}, n = {one.blocks}, against {against}: {one.status}"
