#!/usr/bin/env python
"""Writes docs/posts.md and docs/posts/: published posts, their commands, and what became of their claims.

    tools/posts_page.py              scores the runs that are kept in docs/results/posts, by the rules of today
    tools/posts_page.py keep RUNS …  keeps more first: RUNS are results folders, or folders of such; the newest of each experiment

A kept run is its block values (src/dbversus/posts/kept.py), so that pages can be made again where the results folder is gone.
"""

import math
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dbversus.errors import DbversusError, UsageError
from dbversus.experiment.asked.bundled import POSTS, find_experiment
from dbversus.explain.cause import Explanation
from dbversus.posts.claims import Post
from dbversus.posts.kept import SUFFIX, read_run, write_run
from dbversus.posts.reading import list_posts, load_post
from dbversus.posts.rule import Status
from dbversus.posts.run import PostRun, Reason, experiment_of, run_of
from dbversus.posts.scored import ScoredClaim, ScoredFigure, ScoredPost
from dbversus.posts.scoring import score_together
from dbversus.posts.unseen import Change, Unseen, unseen
from dbversus.report.assessment import build_assessment
from dbversus.report.formats.markdown import escape, prose, table
from dbversus.report.judged import spoilt
from dbversus.report.parts.notes.cause_words import why
from dbversus.report.sections import claims as claims_section
from dbversus.report.words import experiment_facts, percent, ratio, spread, title_of, without_shared_configs
from dbversus.results.journal import read_header
from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL
from dbversus.stats.metrics import THROUGHPUT, metric_named
from dbversus.units import count_of

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, KEPT = "posts.md", "results/posts"
BEGIN = "<!-- made by tools/posts_page.py, from kept runs and from experiments/posts -->\n"
NOT_RUN = "not run yet"
WIDTH = 150
MOST_DISAGREEMENTS, MOST_UNSEEN = 10, 10
_UNSEEN = "What the post could not see"
_ABOUT_UNSEEN = (
    "A post has one run per figure, so it cannot say how sure a figure is. Each post's page lists the published changes whose\n"
    "interval here lies within the margin, and the largest changes that no figure is about. Causes and leads are those that\n"
    "were told when the run was kept."
)
_ANCHOR = "what-the-post-could-not-see"
# in the order of the table, which tells apart what speaks for a post and what against it
COLUMNS = (
    Status.FOUND, Status.SAME_DIRECTION, Status.OPPOSITE, Status.REFUTED, Status.NOT_SHOWN, Status.NOT_COMPARABLE,
)  # fmt: skip
_DISAGREE = (Status.SAME_DIRECTION, Status.OPPOSITE, Status.REFUTED)


@dataclass(frozen=True)
class Scored:
    """A post, and what kept runs say of it; `runs`: by the name of their experiment."""

    runs: Mapping[str, PostRun]
    post: ScoredPost

    @property
    def unseen(self) -> dict[str, Unseen]:
        """By the name of the experiment."""
        return {name: unseen(run, self.post) for name, run in self.runs.items()}


def main(arguments: list[str]) -> None:
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return
    if arguments[:1] == ["keep"]:
        keep([Path(place) for place in arguments[1:]], DOCS / KEPT)
    elif arguments:
        raise UsageError(f"unknown command '{arguments[0]}'; accepted: keep RUNS …, or nothing.")
    write_pages(DOCS)


def keep(places: Sequence[Path], folder: Path) -> None:
    """The newest results of each experiment of a post in `places`. Raises UsageError where one of these has none."""
    for place in places:
        if not newest_results([place]):
            raise UsageError(f"{place} holds no results of a post; name results folders of `dbversus run posts/…`.")
    if not places:
        raise UsageError("keep needs results folders, or folders of such.")
    folder.mkdir(parents=True, exist_ok=True)
    for name, results in newest_results(places).items():
        write_run(kept_run(results), folder / f"{name}{SUFFIX}")


def kept_run(folder: Path) -> PostRun:
    results = open_results(folder)
    assessment = build_assessment(results)
    run = run_of(results, assessment.findings, spoilt(assessment.comparisons))
    return replace(run, reasons=[one for found in assessment.explanations if (one := _reason_of(found))])


def _reason_of(found: Explanation) -> Reason | None:
    """Its first sentence after what changed: the cause, or the likely one."""
    if not found.likely:
        return None
    metric = found.metric if found.likely[0].is_of_one_metric else ""
    return Reason(found.test, found.target, why(found)[1], metric)


def newest_results(places: Iterable[Path]) -> dict[str, Path]:
    """Experiment of a post → the folder of its newest results, in `places` or right below them."""
    known = {name for post in map(load_post, list_posts()) for name in post.experiments}
    found: dict[str, tuple[int, Path]] = {}
    for journal in (path for place in places for glob in (JOURNAL, f"*/{JOURNAL}") for path in place.glob(glob)):
        header = read_header(journal)
        named = experiment_of(header.command)
        for name in [named] if named in known else header.spec.get("posts", []):
            found[name] = max(found.get(name, (0, journal.parent)), (header.at_unix_ns or 0, journal.parent))
    return {name: folder for name, (_, folder) in found.items()}


def write_pages(docs: Path) -> None:
    """The table in docs/posts.md, under what is written there by hand, and a page per post."""
    scored = scored_runs(docs / KEPT)
    page = docs / PAGE
    page.write_text(with_table(page.read_text(encoding="utf-8"), scored), encoding="utf-8")
    (docs / POSTS).mkdir(exist_ok=True)
    for name in list_posts():
        (docs / POSTS / f"{name}.md").write_text(page_of(load_post(name), scored.get(name)), encoding="utf-8")


def scored_runs(folder: Path) -> dict[str, Scored]:
    """By the rules of today."""
    scored = {}
    for post in map(load_post, list_posts()):
        files = {name: file for name in post.experiments if (file := folder / f"{name}{SUFFIX}").is_file()}
        if runs := {name: read_run(file) for name, file in files.items()}:
            scored[post.name] = Scored(runs, score_together(runs, post))
    return scored


def with_table(page: str, scored: Mapping[str, Scored]) -> str:
    head, _, _ = page.partition(BEGIN)
    return head + BEGIN + "\n" + "\n\n".join([_overview(scored), *_disagreements(scored), *_unseen(scored)]) + "\n"


def _overview(scored: Mapping[str, Scored]) -> str:
    rows, totals, figures = [], Counter[Status](), 0
    for name in list_posts():
        count = sum(claim.count for claim in load_post(name).claims)
        figures += count
        counts = scored[name].post.counts if name in scored else None
        totals += counts or Counter()
        cells = [str(counts[status]) for status in COLUMNS] if counts else [NOT_RUN, *["–"] * (len(COLUMNS) - 1)]
        rows.append([f"[{name}]({POSTS}/{name}.md)", str(count), *cells])
    if scored:
        rows.append(
            [f"{len(scored)} of {len(rows)} posts", str(totals.total()), *(str(totals[one]) for one in COLUMNS)]
        )
    shown = table(["post", "figures", *map(str, COLUMNS)], rows)
    return f"{shown}\n\n{count_of(len(list_posts()), 'post')}, {count_of(figures, 'figure')}."


def _disagreements(scored: Mapping[str, Scored]) -> list[str]:
    """The largest of figures whose sizes do not meet, where an interval tells."""
    found: dict[tuple[str, ...], list[tuple[ScoredClaim, ScoredFigure]]] = {}
    for name, one in scored.items():
        for claim, figure in one.post.figures():
            if figure.status in _DISAGREE and figure.published and figure.ratio and figure.low:
                found.setdefault((name, *_cells(figure)), []).append((claim, figure))
    largest = sorted(found.items(), key=lambda item: _apart(item[1][0][1]), reverse=True)
    if not found:
        return []
    rows = [
        [
            f"[{place[0]}]({POSTS}/{place[0]}.md) {', '.join(claim.number for claim, _ in figures)}",
            *map(escape, place[1:]),
            prose(_reason([figure for _, figure in figures], scored[place[0]].post)),
        ]
        for place, figures in largest[:MOST_DISAGREEMENTS]
    ]
    head = ["claim", *claims_section.FOR_EYES[:-1], "likely reason, or what differs"]
    return [f"## The {MOST_DISAGREEMENTS} largest disagreements", table(head, rows)]


def _apart(figure: ScoredFigure) -> float:
    return abs(math.log((figure.published or 1.0) / (figure.ratio or 1.0)))


def _unseen(scored: Mapping[str, Scored]) -> list[str]:
    """What no post could see, as it has one run per figure: how sure each is, what is none, what else changed, and why."""
    rows = [
        [f"[{name}]({POSTS}/{name}.md#{_ANCHOR})", *_counts(parts)]
        for name, one in scored.items()
        if (parts := [part for part in one.unseen.values() if part.ratios])
    ]
    head = ["post", "ratios with an interval", "median half-width", "published changes within our margin"]
    head += ["changes that no figure is about", "of these, with a cause or lead"]
    return ["## What the posts could not see", _ABOUT_UNSEEN, table(head, rows)] if rows else []


def _counts(parts: Sequence[Unseen]) -> Iterator[str]:
    changes = [change for part in parts for change in part.changes]
    yield str(sum(part.ratios for part in parts))
    yield ", ".join(percent(part.half_width) for part in parts if part.half_width is not None)
    yield str(sum(len(part.none) for part in parts))
    yield str(len(changes))
    yield str(sum(bool(change.why) for change in changes))


def _unseen_of(scored: Scored) -> Iterator[str]:
    """On a post's own page."""
    parts = scored.unseen
    if none := dict.fromkeys(_none(figure) for part in parts.values() for figure in part.none):
        yield "\n".join(["Published changes whose interval here lies within the margin:", "", *none])
    for name, part in parts.items():
        if part.changes:
            of = f" of {POSTS}/{name}" if len(parts) > 1 else ""
            many = len(part.changes) > MOST_UNSEEN
            first = f"The {MOST_UNSEEN} largest of {len(part.changes)} changes" if many else "Changes"
            called = _names(scored.runs[name])
            yield f"{first}{of} that no figure is about, against {escape(next(iter(called.values())))}:"
            rows = [list(map(escape, _change(one, called))) for one in part.changes[:MOST_UNSEEN]]
            yield table(["test", "metric", "target", "ours [interval]", "why"], rows)


def _names(run: PostRun) -> dict[str, str]:
    """Of its targets, the base first, by label: without configs that all of them have, which the experiment's file names."""
    labels = [target.label for target in run.targets]
    return dict(zip(labels, without_shared_configs(labels), strict=True))


def _none(one: ScoredFigure) -> str:
    return f"- {escape(f'{one.test}, {one.metric}, {one.builds}: {ratio(one.published)}; ours {ratio(one.ratio)} {spread(one)}')}"


def _change(one: Change, called: Mapping[str, str]) -> Iterator[str]:
    finding = one.finding
    yield from (finding.test, metric_named(finding.metric).title, called[finding.target])
    yield f"{ratio(finding.ratio)} {spread(finding)}"
    yield one.why or "–"


def _cells(one: ScoredFigure) -> tuple[str, ...]:
    return claims_section.figure_cells(one)[:-1]


def _reason(figures: Sequence[ScoredFigure], post: ScoredPost) -> str:
    """Of the same ratio, in several claims: the likely one, else the server and the builds."""
    if remark := next((one.remark for one in figures if one.remark), ""):
        return remark
    return "; ".join(filter(None, [_servers(figures[0], post), figures[0].differences])) or "–"


def _servers(figure: ScoredFigure, post: ScoredPost) -> str:
    """`i3 NUC (i5 NUC: 1.400)`; empty where the post has one server."""
    others = {
        one.server: ratio(one.published)
        for _, one in post.figures()
        if one.published and _place(one) == _place(figure) and one.server != figure.server
    }
    if not figure.server or not others:
        return figure.server
    return f"{figure.server} ({', '.join(f'{server}: {printed}' for server, printed in others.items())})"


def _place(figure: ScoredFigure) -> tuple[str, str, str]:
    return figure.test, figure.metric, figure.builds


def page_of(post: Post, scored: Scored | None) -> str:
    parts = [
        f"# {post.name}",
        escape(f"{post.title}."),
        *(f"`dbversus run {POSTS}/{name} --scaled`\n\n{_remarks(name)}" for name in post.experiments),
    ]
    parts += list(_results(scored)) if scored else list(_not_run(post))
    return "\n\n".join([*parts, "How figures are scored: [posts](../posts.md)."]) + "\n"


def _not_run(post: Post) -> Iterator[str]:
    rows = [[claim.id, claim.words, claim.lacking or (f"to be read by eye: {claim.look}" if claim.look else NOT_RUN)]
            for claim in post.claims]  # fmt: skip
    yield from _lacking(post)
    yield table(["claim", "says", "result"], [list(map(escape, row)) for row in rows])


def _lacking(post: Post) -> Iterator[str]:
    """Builds that cannot be had, and the claims that fall out for it."""
    for name, build in post.builds.items():
        claims = [claim.id for claim in post.claims if any(name in (one.new, one.old) for one in claim.figures)]
        if build.lacking and claims:
            yield escape(f"Without {name}, of claims {', '.join(claims)}: {build.lacking}.")


def _disturbed(run: PostRun) -> Iterator[str]:
    if run.disturbed_share:
        yield f"other work disturbed {percent(run.disturbed_share, 0)} of rows"


def _results(scored: Scored) -> Iterator[str]:
    post = scored.post
    for name, run in scored.runs.items():
        repeated = {one.test for one in run.rows if one.metric == THROUGHPUT}  # a load that was done once is none
        facts = "; ".join([*experiment_facts(run.header, len(repeated), run.blocks), *_disturbed(run)])
        base, *others = _names(run).values()
        compared = title_of(run.header, base, others)
        yield escape(f"{f'{POSTS}/{name}: ' if len(scored.runs) > 1 else ''}{compared}: {facts}.")
    yield escape(claims_section.sentence(post))
    yield from _lacking(load_post(post.name))
    claims = [[claim.number, claim.says, claims_section.result(claim)] for claim in post.claims]
    yield table(["claim", "says", "result"], [list(map(escape, row)) for row in claims])
    rows = [[claim.number, *claims_section.figure_cells(one)] for claim, one in post.figures()]
    yield "## Figures"
    yield table(["claim", *claims_section.FOR_EYES], [list(map(escape, row)) for row in rows])
    if remarks := [f"- {prose(one)}" for one in claims_section.remarks(post)]:
        yield "\n".join(["Likely reasons:", "", *remarks])
    if told := list(_unseen_of(scored)):
        yield "\n\n".join([f"## {_UNSEEN}", *told])
    if notes := [f"- {escape(f'{claim.number}: {claim.note}')}" for claim in post.claims if claim.note]:
        yield "\n".join(["## Not compared", *notes])


def _remarks(name: str) -> str:
    """What the experiment's file says at its head, without its title and its command."""
    lines = find_experiment(f"{POSTS}/{name}").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    words = prose(" ".join(line.lstrip("# ") for line in lines[4:]))
    return textwrap.fill(words, WIDTH, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except DbversusError as error:
        sys.exit(f"posts_page.py: {error}")
