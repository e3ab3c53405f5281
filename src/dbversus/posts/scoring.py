"""Claims of published posts held against results: what becomes of each of their figures (docs/posts.md).

Nothing leaves the denominator: a figure that could not be measured is not shown, one that asks another question than the
experiment is not comparable, and a claim without figures counts as one.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from dbversus.posts import differences
from dbversus.posts.claims import Claim, Figure, Post
from dbversus.posts.measured import Measured
from dbversus.posts.reading import list_posts, load_post
from dbversus.posts.rule import Ours, Published, Status, status_of_value, status_of_words
from dbversus.posts.run import Place, PostRun, RunTarget, run_of
from dbversus.posts.scored import ScoredClaim, ScoredFigure, ScoredPost, middle
from dbversus.results.stored import Results
from dbversus.stats.means import Spread, spread_of
from dbversus.stats.model import Finding
from dbversus.units import count_of


def of_experiment(results: Results, findings: Sequence[Finding], spoilt: Set[Place]) -> tuple[ScoredPost, ...]:
    """The posts that the experiment says it repeats, with all their claims; none of a post that nobody knows."""
    known = [name for name in results.header.spec.get("posts", []) if name in list_posts()]
    return score(run_of(results, findings, spoilt), list(map(load_post, known))) if known else ()


def of_every_post(results: Results, findings: Sequence[Finding], spoilt: Set[Place]) -> tuple[ScoredPost, ...]:
    """Whatever was measured of any post whose data was as these were, in memory or larger: for experiments that name none."""
    limited = results.header.memory is not None
    posts = [post for post in map(load_post, list_posts()) if post.larger_than_memory == limited]
    parts = []
    for part in score(run_of(results, findings, spoilt), posts):
        if claims := tuple(claim for claim in part.claims if any(_has_ratio(one) for one in claim.figures)):
            parts.append(replace(part, claims=claims))
    return tuple(parts)


def _has_ratio(figure: ScoredFigure) -> bool:
    return figure.ratio is not None or any(part.ratio is not None for part in figure.parts)


def score(run: PostRun, posts: Sequence[Post]) -> tuple[ScoredPost, ...]:
    """By one experiment. Of published values that contradict each other one figure of ours finds only the nearest."""
    measured = Measured(run)
    return tuple(nearest_alone([_Scorer({_name(run, post): measured}, post).post() for post in posts]))


def score_together(runs: Mapping[str, PostRun], post: Post) -> ScoredPost:
    """A post by its own experiment and by those beside it; `runs`: by their names."""
    measured = {name: Measured(run) for name, run in runs.items()}
    return next(nearest_alone([_Scorer(measured, post).post()]))


def _name(run: PostRun, post: Post) -> str:
    """An experiment that is none of the post's counts as its own."""
    return run.experiment if run.experiment in post.experiments else post.name


@dataclass(frozen=True)
class _Asked:
    """A figure of a claim: what stands for its builds here, and why nothing can be held against it, if so.

    `measured`: None: its experiment has not been run.
    """

    figure: Figure
    measured: Measured | None
    new: RunTarget | None
    old: RunTarget | None
    why_not: str

    @property
    def pair(self) -> tuple[RunTarget, RunTarget] | None:
        """What is compared here; None: nothing is."""
        return (self.new, self.old) if self.new and self.old and not self.why_not else None

    @property
    def named(self) -> list[tuple[str, RunTarget]]:
        """The builds that something stands for, by their names in the post."""
        both = ((self.figure.new, self.new), (self.figure.old, self.old))
        return [(name, target) for name, target in both if target]


class _Scorer:
    """Holds the claims of one post against its experiments."""

    def __init__(self, measured: Mapping[str, Measured], post: Post) -> None:
        self._measured, self._post = measured, post

    def post(self) -> ScoredPost:
        claims = tuple(self._claim(claim) for claim in self._post.claims)
        return ScoredPost(self._post.name, self._post.title, claims, self._differences())

    def _differences(self) -> str:
        return differences.of_runs(self._post, {name: measured.run for name, measured in self._measured.items()})

    def _claim(self, claim: Claim) -> ScoredClaim:
        note = claim.lacking or (f"to be read by eye: {claim.look}" if claim.look else "")
        figures = tuple(one for figure in claim.figures for one in self._figures(figure, note))
        status = middle([one.status for one in figures])
        return ScoredClaim(f"{self._post.name}/{claim.id}", claim.words, status, figures, note)

    def _figures(self, figure: Figure, why_not: str) -> Iterator[ScoredFigure]:
        asked = self._asked(figure, why_not)
        if figure.together == "mean":
            yield self._mean(asked)
        elif figure.together:
            yield self._together(asked, of_all=figure.together == "all")
        else:
            for number, test in enumerate(figure.tests):
                yield self._one(asked, test, figure.ratios[number] if figure.published else None)

    def _asked(self, figure: Figure, why_not: str) -> _Asked:
        experiment = self._post.experiment_of(figure)
        measured = self._measured.get(experiment)
        why_not = why_not or figure.lacking
        if measured is None:
            return _Asked(figure, None, None, None, why_not or self._lacking_build(figure))
        new, old = (measured.target(self._post, name) for name in (figure.new, figure.old))
        return _Asked(figure, measured, new, old, why_not or self._not_comparable(figure, measured))

    def _not_comparable(self, figure: Figure, measured: Measured) -> str:
        """Why nothing of this experiment can be held against it; empty where something can."""
        if measured.run.imported:
            named = any(measured.tests(self._post, figure, test) for test in figure.tests)
            return "" if named or not self._post.is_of_another(figure) else f"not of {figure.server}"
        return self._lacking_build(figure) or self._other_setup(figure, measured.run)

    def _lacking_build(self, figure: Figure) -> str:
        return next(filter(None, (self._post.builds[name].lacking for name in (figure.new, figure.old))), "")

    def _other_setup(self, figure: Figure, run: PostRun) -> str:
        server, header = self._post.server_of(figure), run.header
        if (run.cores or server.takes_cores) < server.takes_cores:
            return f"takes {server.takes_cores} cores, {run.cores} here"
        if header.clients and server.clients not in header.clients:
            return f"{count_of(server.clients, 'client')} there, {' and '.join(map(str, header.clients))} here"
        if self._post.experiment_of(figure) != self._post.name:
            return ""  # made for it
        is_larger = self._post.is_larger_than_memory(server)
        if is_larger and header.memory is None and (header.table_size or 0) < server.rows:
            return "data larger than memory there, in memory here"
        if header.memory is not None and not is_larger:
            return "data in memory there, larger than memory here"
        return ""

    def _one(self, asked: _Asked, test: str, value: float | None) -> ScoredFigure:
        """Of a test that the claim names. In a run of ours it goes by its full name there, with the number of clients."""
        found = asked.measured.tests(self._post, asked.figure, test) if asked.measured else []
        here = found[0] if found else test
        is_import = asked.measured is not None and asked.measured.run.imported
        return self._of_test(asked, here, test if is_import else here, value)

    def _of_test(self, asked: _Asked, test: str, name: str, value: float | None = None) -> ScoredFigure:
        """`test`: its name in the run; `name`: the one that is shown."""
        ours = asked.measured.ours(test, *asked.pair, asked.figure.metric) if asked.measured and asked.pair else None
        note = "" if ours or asked.why_not else self._why_not_measured(asked, test)
        return _scored(asked, name, value, ours, note, self._builds(asked))

    def _why_not_measured(self, asked: _Asked, test: str) -> str:
        if asked.measured is None:
            return f"asked of posts/{self._post.experiment_of(asked.figure)}"
        for name, target in ((asked.figure.new, asked.new), (asked.figure.old, asked.old)):
            if target is None:
                return f"nothing here stands for {name}"
        return asked.measured.why_not(test, [target for _, target in asked.named])

    def _mean(self, asked: _Asked) -> ScoredFigure:
        tests, figure = self._tests(asked), asked.figure
        ours = asked.measured.mean(tests, *asked.pair, figure.metric) if asked.measured and asked.pair else None
        name = f"geometric mean of {count_of(len(tests), 'test')}"
        value = figure.ratios[0] if figure.published else None
        note = "" if ours or asked.why_not else self._why_not_measured(asked, name)
        return _scored(asked, name, value, ours, note, self._builds(asked))

    def _together(self, asked: _Asked, *, of_all: bool) -> ScoredFigure:
        """Of most tests, or of all of them: one figure, and beside it each of the tests."""
        tests = self._tests(asked) if asked.pair else []
        parts = tuple(self._of_test(asked, test, test) for test in tests)
        name = (
            f"{'all' if of_all else 'most'} of {count_of(len(tests), 'test')}"
            if tests
            else " ".join(asked.figure.tests)
        )
        note = "" if parts or asked.why_not else self._why_not_measured(asked, name)
        whole = _scored(asked, name, None, None, note, self._builds(asked))
        if not parts:
            return whole
        status = _of_parts([part.status for part in parts], of_all=of_all)
        return replace(whole, status=status, parts=parts, differences=self._builds(asked))

    def _tests(self, asked: _Asked) -> list[str]:
        if asked.measured is None:
            return []
        of_globs = (asked.measured.tests(self._post, asked.figure, glob) for glob in asked.figure.tests)
        return list(dict.fromkeys(test for tests in of_globs for test in tests))

    def _builds(self, asked: _Asked) -> str:
        is_import = asked.measured is not None and asked.measured.run.imported
        return "" if is_import else differences.of_builds(self._post, asked.named)


def _of_parts(statuses: Sequence[Status], *, of_all: bool) -> Status:
    """More than half of them have to agree, or all; more than half speak against it, or one."""
    most = len(statuses) // 2 + 1
    for_it, against = (len(statuses), 1) if of_all else (most, most)
    refuted, opposite = statuses.count(Status.REFUTED), statuses.count(Status.OPPOSITE)
    if statuses.count(Status.FOUND) >= for_it:
        return Status.FOUND
    if refuted >= against:
        return Status.REFUTED
    return Status.OPPOSITE if refuted + opposite >= against else Status.NOT_SHOWN


def _scored(
    asked: _Asked, test: str, value: float | None, ours: Ours | None, note: str, differences: str
) -> ScoredFigure:
    figure, notes = asked.figure, (asked.figure.of, asked.why_not, note, ours.note if ours else "")
    published = Published.printed(value, figure.decimals) if value is not None else None
    status = Status.NOT_COMPARABLE if asked.why_not else Status.NOT_SHOWN
    if ours:
        status = status_of_value(published, ours) if published else status_of_words(figure.way, ours)
    return ScoredFigure(
        test=test,
        metric=figure.metric,
        new=asked.new.label if asked.new else "",
        old=asked.old.label if asked.old else "",
        published=value,
        said=figure.says or "",
        ratio=ours.ratio.value if ours else None,
        **(spread_of(ours.ratio) if ours else Spread())._asdict(),
        blocks=ours.ratio.blocks if ours else 0,
        status=status,
        note=", ".join(filter(None, notes)),
        size=_size(value, ours.ratio.value) if ours and value and status == Status.SAME_DIRECTION else "",
        builds=f"{figure.new} ÷ {figure.old}",
        server=figure.server,
        differences=differences if ours else "",
        published_low=published.low if published else None,
        published_high=published.high if published else None,
        remark=figure.remark,
        experiment=asked.measured.run.experiment if asked.measured else "",
    )


def _size(published: float, ours: float) -> str:
    return "weaker" if abs(math.log(ours)) < abs(math.log(published)) else "stronger"


def nearest_alone(posts: Sequence[ScoredPost]) -> Iterator[ScoredPost]:
    """The posts; where values that contradict each other are found by one ratio, only the nearest one stays found."""
    found: dict[tuple[object, ...], list[ScoredFigure]] = defaultdict(list)
    for _, figure in (pair for post in posts for pair in post.figures()):
        if figure.status == Status.FOUND and figure.published:
            found[_place(figure)].append(figure)
    nearest = {place: min(figures, key=_distance) for place, figures in found.items()}
    for post in posts:
        claims = (
            replace(claim, figures=tuple(_or_less(one, nearest) for one in claim.figures)) for claim in post.claims
        )
        yield replace(post, claims=tuple(_told_again(claim) for claim in claims))


def _place(figure: ScoredFigure) -> tuple[object, ...]:
    """The same for figures that are held against one of ours."""
    return figure.test, figure.metric, figure.new, figure.old, figure.ratio


def _distance(figure: ScoredFigure) -> float:
    assert figure.published and figure.ratio
    return abs(math.log(figure.published / figure.ratio))


def _or_less(figure: ScoredFigure, nearest: Mapping[tuple[object, ...], ScoredFigure]) -> ScoredFigure:
    one = nearest.get(_place(figure))
    if figure.status != Status.FOUND or not (one and figure.published and one.published and figure.ratio):
        return figure
    if _tolerance(figure).meets(_tolerance(one)):
        return figure
    note = ", ".join(filter(None, (figure.note, f"contradicts {one.published:g}, which is nearer")))
    if (figure.published > 1) == (figure.ratio > 1):
        return replace(figure, status=Status.SAME_DIRECTION, size=_size(figure.published, figure.ratio), note=note)
    return replace(figure, status=Status.NOT_SHOWN, note=note)


def _tolerance(figure: ScoredFigure) -> Published:
    assert figure.published and figure.published_low and figure.published_high
    return Published(figure.published, figure.published_low, figure.published_high)


def _told_again(claim: ScoredClaim) -> ScoredClaim:
    return replace(claim, status=middle([one.status for one in claim.figures]))
