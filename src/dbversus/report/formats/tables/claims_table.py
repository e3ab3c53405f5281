"""Claims of a published post and what became of them, the same in every report."""

from collections import Counter
from collections.abc import Iterator, Sequence

from dbversus.posts.rule import Status
from dbversus.posts.scored import ScoredClaim, ScoredFigure, ScoredPost
from dbversus.report.formats.tables.matrix_table import Table
from dbversus.report.words import ratio, spread
from dbversus.units import count_of

COLUMNS = ["claim", "says", "result", "ours [interval] against the published figure"]


def table(post: ScoredPost) -> Table:
    """A line per claim: what became of it, and our ratios beside those published."""
    rows = [[claim.number, claim.says, result(claim), "; ".join(lines(claim))] for claim in post.claims]
    return Table(f"Claims of {post.name}", COLUMNS, rows)


def sentence(post: ScoredPost) -> str:
    """How many figures the post has, how many became what, and what is known to differ."""
    counts = post.counts
    summary = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])
    figures = f"{count_of(len(post.claims), 'claim')}, {count_of(counts.total(), 'figure')}: {summary}"
    return f"{post.title}: {figures}.{f' Here: {post.differences}.' if post.differences else ''}"


def result(claim: ScoredClaim) -> str:
    figures = len(claim.figures)
    return (
        f"{claim.status} ({claim.count(Status.FOUND)} of {figures} figures found)" if figures > 1 else str(claim.status)
    )


def lines(claim: ScoredClaim) -> Iterator[str]:
    """Our figures beside those published; those that have no ratio by the reason."""
    measured = [one for one in claim.figures if one.ratio is not None or one.parts]
    yield from map(ours_of, measured)
    yield from _others([one for one in claim.figures if one not in measured])
    if not claim.figures:
        yield claim.note
    elif claim.remark and any(one.status not in (Status.FOUND, Status.NOT_COMPARABLE) for one in claim.figures):
        yield claim.remark


def _others(figures: Sequence[ScoredFigure]) -> Iterator[str]:
    """Without a ratio: how many, and why."""
    for (status, note), count in Counter((one.status, one.note) for one in figures).items():
        yield f"{count_of(count, 'figure')} {status}: {note}" if note else f"{count_of(count, 'figure')} {status}"


def ours_of(one: ScoredFigure) -> str:
    """One figure: `scan throughput, a ÷ b: 0.93 [0.91, 0.95], n = 6, against 1.16: refuted (11.13 for 11.10)`."""
    against = one.said if one.published is None else ratio(one.published)
    what = f"{one.test} {one.metric.replace('_', ' ')}, {one.new} ÷ {one.old}"
    server = f" ({one.server})" if one.server else ""
    beside = ", ".join(filter(None, (one.note, one.differences if one.status != Status.FOUND else "")))
    result = f"against {against}{server}: {one.words}{f' ({beside})' if beside else ''}"
    if one.parts:
        found = sum(part.status == Status.FOUND for part in one.parts)
        return f"{what}: {found} found, {result}"
    return f"{what}: {ratio(one.ratio)} {spread(one) or '(no interval)'}, n = {one.blocks}, {result}"
