"""Claims of the posts that an experiment repeats: what was published, and what became of it here."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from dbversus.posts.rule import Status
from dbversus.posts.scored import ScoredClaim, ScoredFigure, ScoredPost
from dbversus.posts.scoring import of_every_post, of_experiment
from dbversus.report.judged import Judged
from dbversus.report.section import Section
from dbversus.report.table import Cell, Column, Form, Row, Table, ratio_cell
from dbversus.report.words import ratio, spread
from dbversus.units import count_of

LACKS = "has nothing that a post claims; --table claims needs builds and tests of one (docs/posts.md)."
_COLUMNS = (
    Column("claim"),
    Column("says"),
    Column("result"),
    Column("ours [interval] against the published figure"),
)
FOR_EYES = ("test", "metric", "new ÷ old", "published", "ours [interval]", "result", "blocks", "beside")
"""Of a figure (`figure_cells`)."""
_FIGURE_COLUMNS = (
    *(Column(title) for title in ("claim", "says", "result", "test", "metric", "new", "old", "server")),
    Column("published", Form.RATIO),
    *(Column(title, Form.RATIO, name=name) for title, name in (("from", "published_low"), ("to", "published_high"))),
    Column("ours", Form.RATIO, spread=True, name="ratio"),
    Column("blocks", Form.COUNT),
    *(Column(title) for title in ("of figure", "size", "note", "differs")),
)


def section(judged: Judged) -> Section | None:
    return _section(posts_of(judged))


def asked(judged: Judged) -> Section | None:
    """Of an experiment that repeats no post, what it has of any; for eyes what each claim says, and then a line per figure."""
    posts = posts_of(judged) or of_every_post(judged.results, judged.findings, judged.spoilt)
    made = _section(posts)
    return made and replace(made, tables=[table for post in posts for table in (_said(post), _figures(post))])


def posts_of(judged: Judged) -> tuple[ScoredPost, ...]:
    return of_experiment(judged.results, judged.findings, judged.spoilt)


def _section(posts: Sequence[ScoredPost]) -> Section | None:
    if not posts:
        return None
    said = [sentence(post) for post in posts]
    rows = [row for post in posts for claim in post.claims for row in _rows(claim)]
    title = "Published claims, and what was found of them"
    return Section(
        title="Published claims",
        sentences=said,
        tables=[_table(post) for post in posts],
        data=[Table(_FIGURE_COLUMNS, rows, title=title, sheet="Claims", notes=said)],
        content=[asdict(post) for post in posts],
    )


def _table(post: ScoredPost) -> Table:
    """A line per claim: what became of it, and our ratios beside those published."""
    rows = [[claim.number, claim.says, result(claim), "\n".join(lines(claim))] for claim in post.claims]
    return Table(_COLUMNS, rows, title=f"Claims of {post.name}")


def _said(post: ScoredPost) -> Table:
    rows = [[claim.name, claim.says, result(claim), claim.note] for claim in post.claims]
    return Table([*map(Column, ("claim", "says", "result", "note"))], rows, title=f"Claims of {post.name}")


def _figures(post: ScoredPost) -> Table:
    rows = [[claim.name, *figure_cells(one)] for claim, one in post.figures()]
    return Table([*map(Column, ("claim", *FOR_EYES))], rows, title=f"Figures of {post.name}", notes=remarks(post))


def figure_cells(one: ScoredFigure) -> tuple[str, ...]:
    """As texts, under FOR_EYES."""
    said = one.said if one.published is None else ratio(one.published)
    found = sum(part.status == Status.FOUND for part in one.parts)
    ours = f"{ratio(one.ratio)} {spread(one)}".strip() if one.ratio else f"{found} found" if one.parts else "–"
    beside = ", ".join(filter(None, (one.server, _beside(one)))) or "–"
    blocks = str(one.blocks) if one.ratio else "–"
    return one.test, one.metric.replace("_", " "), one.builds, said, ours, one.words, blocks, beside


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
    yield from map(_ours, measured)
    yield from _others([one for one in claim.figures if one not in measured])
    if not claim.figures:
        yield claim.note


def _others(figures: Sequence[ScoredFigure]) -> Iterator[str]:
    """Without a ratio: how many, and why."""
    for (status, note), count in Counter((one.status, one.note) for one in figures).items():
        yield f"{count_of(count, 'figure')} {status}: {note}" if note else f"{count_of(count, 'figure')} {status}"


def _ours(one: ScoredFigure) -> str:
    """One figure: `scan throughput, a ÷ b: 0.93 [0.91, 0.95], n = 6, against 1.16: refuted (11.13 for 11.10)`."""
    against = one.said if one.published is None else ratio(one.published)
    what = f"{one.test} {one.metric.replace('_', ' ')}, {one.new} ÷ {one.old}"
    server = f" ({one.server})" if one.server else ""
    beside = "; ".join(filter(None, (_beside(one), _remark(one))))
    result = f"against {against}{server}: {one.words}{f' ({beside})' if beside else ''}"
    if one.parts:
        found = sum(part.status == Status.FOUND for part in one.parts)
        return f"{what}: {found} found, {result}"
    return f"{what}: {ratio(one.ratio)} {spread(one) or '(no interval)'}, n = {one.blocks}, {result}"


def _beside(one: ScoredFigure) -> str:
    """What has to be known of it; where it is not found, also what differs."""
    return ", ".join(filter(None, (one.note, one.differences if _is_open(one) else "")))


def _remark(one: ScoredFigure) -> str:
    """The likely reason, where it is not found."""
    return one.remark if _is_open(one) else ""


def _is_open(one: ScoredFigure) -> bool:
    return one.status not in (Status.FOUND, Status.NOT_COMPARABLE)


def remarks(post: ScoredPost) -> list[str]:
    """Likely reasons, each with its figures: they are too long for a table."""
    reasons: dict[str, dict[tuple[str, str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for claim, one in post.figures():
        if reason := _remark(one):
            reasons[reason][claim.number, one.metric.replace("_", " "), one.builds].append(one.test)
    return [
        "; ".join(_tests_of(figures, tests) for figures, tests in told.items()) + f": {reason}"
        for reason, told in reasons.items()
    ]


def _tests_of(figures: tuple[str, str, str], tests: Sequence[str]) -> str:
    claim, metric, builds = figures
    return f"{claim}, {metric} of {', '.join(dict.fromkeys(tests))}, {builds}"


def _rows(claim: ScoredClaim) -> Iterator[Row]:
    """A line per figure; tests that are one figure together are no figures of their own."""
    head = (claim.name, claim.says, str(claim.status))
    for figure in claim.figures:
        yield (*head, *_figure(figure, str(figure.status)))
        yield from ((*head, *_figure(part, None)) for part in figure.parts)
    if not claim.figures:
        nothing = (None,) * (len(_FIGURE_COLUMNS) - len(head) - 4)
        yield (*head, *nothing, str(claim.status), None, claim.note, None)


def _figure(one: ScoredFigure, status: str | None) -> Sequence[Cell | str | float | None]:
    said = one.said if one.published is None else one.published
    published = said, one.published_low, one.published_high
    note = one.note if status else f"one of the tests above: {one.status}"
    place = one.test, one.metric, one.new, one.old, one.server
    return (*place, *published, ratio_cell(one), one.blocks, status, one.size, note, one.differences)
