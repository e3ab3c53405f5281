"""Claims of published posts held against results: found, not found, undecided or not measured, each with our interval.

A published ratio is put into the words of a verdict by the margin of its test and metric: beyond the margin it has to be a
change in its direction; within half of it, equivalent; between the two either will do. The size of a change is not compared.
"""

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from functools import cached_property

from dbversus.names import split_names
from dbversus.posts.claims import Claim, Figure, Post, list_posts, load_post
from dbversus.posts.scored import ClaimFigure, ClaimPart, ClaimStatus, PostPart
from dbversus.results.stored import Results, Target
from dbversus.stats.means import Ratio, Spread, mean_of_blocks, mean_of_tests, spread_of
from dbversus.stats.metrics import CPU, LOAD_TEST, READ_BYTES, THROUGHPUT, WRITE_BYTES, metric_named
from dbversus.stats.model import CHANGES, WITHIN, Finding
from dbversus.stats.values.relative import relative_to_base

METRICS = {"throughput": THROUGHPUT, "cpu": CPU, "read_bytes": READ_BYTES, "write_bytes": WRITE_BYTES}
_OF_LOAD = {THROUGHPUT: "load_rows_per_s", CPU: "load_cpu_us_per_row"}
_DECIDED = (ClaimStatus.FOUND, ClaimStatus.NOT_FOUND)


class Way(Enum):
    UP = "up"
    DOWN = "down"
    SAME = "same"


Ways = frozenset[Way]
Spoilt = Set[tuple[str, str]]
"""Tests and targets whose figures do not count, since answers were wrong, say."""


@dataclass(frozen=True)
class Found:
    """Our ratio, and which way it goes; None: undecided."""

    ratio: Ratio
    way: Way | None
    margin: float


def of_experiment(results: Results, findings: Sequence[Finding], spoilt: Spoilt) -> tuple[PostPart, ...]:
    """The posts that the experiment says it repeats, with all their claims; none of a post that nobody knows."""
    named = [name for name in results.header.spec.get("posts", []) if name in list_posts()]
    return _check(results, findings, spoilt, named) if named else ()


def of_every_post(results: Results, findings: Sequence[Finding], spoilt: Spoilt) -> tuple[PostPart, ...]:
    """Whatever was measured of any post whose data was as these were, in memory or larger: for experiments that name none."""
    measured = (*_DECIDED, ClaimStatus.UNDECIDED)
    limited = results.header.memory is not None
    names = [name for name in list_posts() if load_post(name).larger_than_memory == limited]
    parts = []
    for part in _check(results, findings, spoilt, names):
        if claims := tuple(claim for claim in part.claims if claim.count(*measured)):
            parts.append(PostPart(part.name, part.title, claims))
    return tuple(parts)


def _check(results: Results, findings: Sequence[Finding], spoilt: Spoilt, names: Sequence[str]) -> tuple[PostPart, ...]:
    checker = Checker(results, findings, spoilt)
    return tuple(checker.post(load_post(name)) for name in names)


class Checker:
    """Holds claims against one experiment."""

    def __init__(self, results: Results, findings: Sequence[Finding], spoilt: Spoilt) -> None:
        self._results = results
        self._findings = {finding.key: finding for finding in findings}
        self._spoilt = spoilt
        self._relative: dict[str, Mapping[tuple[str, str], Mapping[int, float]]] = {}

    def post(self, post: Post) -> PostPart:
        return PostPart(post.name, post.title, tuple(self._claim(post, claim) for claim in post.claims))

    def _claim(self, post: Post, claim: Claim) -> ClaimPart:
        name = f"{post.name}/{claim.id}"
        if claim.check == "no":
            return ClaimPart(name, claim.words, ClaimStatus.NOT_HERE, (), claim.why)
        if claim.look:
            return ClaimPart(name, claim.words, ClaimStatus.TO_READ, (), claim.look)
        figures = [(figure, tuple(self._figures(post, figure))) for figure in claim.figures]
        statuses = [status for figure, found in figures for status in _votes(figure, found)]
        return ClaimPart(name, claim.words, _together(statuses), tuple(one for _, found in figures for one in found))

    def _figures(self, post: Post, figure: Figure) -> Iterator[ClaimFigure]:
        new, old = (self._target(post, build) for build in (figure.new, figure.old))
        if figure.says and figure.says.startswith("mean"):
            tests = [test for glob in figure.tests for test in self._tests(glob)]
            published = figure.published[0] if figure.published else None
            found = self._mean(tests, new, old, METRICS[figure.metric]) if new and old else None
            yield _figure(figure, f"geometric mean of {len(tests)} tests", new, old, published, found)
            return
        for place, glob in enumerate(figure.tests):
            published = figure.published[place] if figure.published else None
            tests = self._tests(glob) if new and old and not figure.lacking else []
            for test in tests:
                found = self._ratio(test, new, old, METRICS[figure.metric]) if new and old else None
                yield _figure(figure, test, new, old, published, found)
            if not tests:
                yield _figure(figure, glob, new, old, published, None)

    def _target(self, post: Post, build: str) -> Target | None:
        """The target that stands for a build of the post: with the fewest other configs, and of several such the last."""
        stands = post.builds.get(build)
        if stands is None:
            return None
        fitting = {
            target: configs
            for target in reversed(self._results.targets)
            if stands.fits(target.dbms, target.version, configs := frozenset(split_names(target.config)))
        }
        return min(fitting, key=lambda target: len(fitting[target] - stands.configs), default=None)

    def _tests(self, glob: str) -> list[str]:
        """With several numbers of clients, those with the fewest, unless the glob says otherwise: posts print their ratios."""
        clients = self._results.header.clients
        pattern = f"{glob}@{min(clients)}" if len(clients) > 1 and "@" not in glob and glob != LOAD_TEST else glob
        return [
            test for test in self._results.tests if fnmatchcase(test, pattern) and (test != LOAD_TEST or glob == test)
        ]

    @cached_property
    def _base(self) -> str:
        return self._results.base.label

    def _ratio(self, test: str, new: Target, old: Target, metric: str) -> Found | None:
        if {(test, new.label), (test, old.label)} & self._spoilt:
            return None
        if test == LOAD_TEST:
            return self._load(new, old, _OF_LOAD.get(metric, ""))
        if old.label == self._base:
            return _of_finding(self._findings.get((test, new.label, metric)))
        if new.label == self._base:
            return _of_finding(self._findings.get((test, old.label, metric)), inverse=True)
        logs = self._logs(test, new, old, metric)
        return _of_ratio(mean_of_blocks(list(logs.values())).ratio(), metric) if logs else None

    def _load(self, new: Target, old: Target, metric: str) -> Found | None:
        """Data is loaded once: a ratio without an interval."""
        ratios = []
        for target in (new, old):
            finding = self._findings.get((LOAD_TEST, target.label, metric))
            ratios.append(1.0 if target.label == self._base else finding.ratio if finding else None)
        if not ratios[0] or not ratios[1]:
            return None
        return Found(Ratio(ratios[0] / ratios[1], None, None, 1), None, metric_named(metric).margin)

    def _mean(self, tests: Sequence[str], new: Target, old: Target, metric: str) -> Found | None:
        logs = [found for test in tests if (found := self._logs(test, new, old, metric))]
        return _of_ratio(mean_of_tests(logs).ratio(), metric) if logs else None

    def _logs(self, test: str, new: Target, old: Target, metric: str) -> dict[int, float]:
        """ln(new ÷ old) of each block that has both."""
        if metric not in self._relative:
            self._relative[metric] = relative_to_base(self._results, metric)
        ours, theirs = (self._relative[metric].get((test, target.label), {}) for target in (new, old))
        return {block: ours[block] - theirs[block] for block in ours if block in theirs}


def _of_finding(finding: Finding | None, *, inverse: bool = False) -> Found | None:
    if finding is None or not finding.ratio:
        return None
    ratio, beside = finding.ratio, spread_of(finding)
    if inverse:
        low, high, least, most = (1 / end if end else None for end in beside)
        ratio, beside = 1 / ratio, Spread(high, low, most, least)
    way = Way.SAME if finding.counted in WITHIN else _way(ratio) if finding.counted in CHANGES else None
    return Found(Ratio(ratio, blocks=finding.blocks, **beside._asdict()), way, finding.margin)


def _of_ratio(ratio: Ratio, metric: str) -> Found:
    """Of two targets that are not the base: decided as a verdict is, by an interval at one look."""
    margin = metric_named(metric).margin
    if ratio.low is None or ratio.high is None or ratio.low <= 0:
        return Found(ratio, None, margin)
    way = None
    if 1 / (1 + margin) <= ratio.low and ratio.high <= 1 + margin:
        way = Way.SAME
    elif (ratio.low > 1 or ratio.high < 1) and abs(math.log(ratio.value)) >= math.log1p(margin / 2):
        way = _way(ratio.value)
    return Found(ratio, way, margin)


def _way(ratio: float) -> Way:
    return Way.UP if ratio > 1 else Way.DOWN


def _figure(
    figure: Figure, test: str, new: Target | None, old: Target | None, published: float | None, found: Found | None
) -> ClaimFigure:
    ratio = found.ratio if found else None
    status = ClaimStatus.NOT_MEASURED
    if figure.lacking:
        status = ClaimStatus.NOT_HERE
    elif found:
        wanted = _wanted(figure, published, found.margin)
        status = ClaimStatus.UNDECIDED
        if found.way:
            status = ClaimStatus.FOUND if found.way in wanted else ClaimStatus.NOT_FOUND
    return ClaimFigure(
        test=test,
        metric=figure.metric,
        new=new.label if new else "",
        old=old.label if old else "",
        published=published,
        said=figure.says or "",
        ratio=ratio.value if ratio else None,
        **(spread_of(ratio) if ratio else Spread())._asdict(),
        blocks=ratio.blocks if ratio else 0,
        status=status,
        note="; ".join(filter(None, (figure.of, figure.lacking))),
    )


def _wanted(figure: Figure, published: float | None, margin: float) -> Ways:
    """Which ways of ours agree with what the post says."""
    if published is None:
        words = (figure.says or "").removeprefix("mostly ").removeprefix("mean ")
        named = Way(words.removeprefix("not "))
        return frozenset(Way) - {named} if words.startswith("not ") else frozenset({named})
    size = abs(math.log(published))
    agreeing: Ways = frozenset({Way.SAME}) if size <= math.log1p(margin) else frozenset()
    return agreeing | {_way(published)} if size >= math.log1p(margin / 2) else agreeing


def _votes(figure: Figure, found: Sequence[ClaimFigure]) -> list[ClaimStatus]:
    """What the figures say of the claim: each by itself, or together as most of them do."""
    statuses = [one.status for one in found]
    decided = [status for status in statuses if status in _DECIDED]
    if not figure.says or not figure.says.startswith("mostly") or not decided:
        return statuses
    measured = len(decided) + statuses.count(ClaimStatus.UNDECIDED)
    for status in _DECIDED:
        if decided.count(status) > measured / 2:
            return [status]
    return [ClaimStatus.UNDECIDED]


def _together(statuses: Sequence[ClaimStatus]) -> ClaimStatus:
    here = [status for status in statuses if status != ClaimStatus.NOT_HERE]
    if not here:
        return ClaimStatus.NOT_HERE
    decided = {status for status in here if status in _DECIDED}
    if len(decided) > 1:
        return ClaimStatus.IN_PART
    if decided:
        return decided.pop()
    return ClaimStatus.UNDECIDED if ClaimStatus.UNDECIDED in here else ClaimStatus.NOT_MEASURED
