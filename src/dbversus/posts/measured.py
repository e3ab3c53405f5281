"""Ratios of a run between any two of its targets, as scoring takes them: with what they show, and whether they may be used."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property

from dbversus.posts.claims import Figure, Post
from dbversus.posts.rule import Ours
from dbversus.posts.run import METRICS, OF_LOAD, PostRun, RunTarget, judged
from dbversus.stats.across.clients import test_of
from dbversus.stats.judge import looks_of
from dbversus.stats.means import FEWEST_BLOCKS, Ratio, Spread, mean_of_blocks, mean_of_tests, spread_of
from dbversus.stats.metrics import LOAD_TEST, metric_named
from dbversus.stats.model import CHANGES, DECIDED, IDLE, TOO_LITTLE, WITHIN, Finding, Verdict
from dbversus.units import count_of

_OPEN = (Verdict.UNDECIDED, Verdict.UNSTABLE)
Logs = Mapping[int, float]
"""Block → ln(new ÷ old)."""


class Measured:
    """Ratios of a run, between any two of its targets."""

    def __init__(self, run: PostRun) -> None:
        self.run = run
        self._findings = {finding.key: finding for finding in judged(run)}
        self._spoilt = set(run.spoilt)
        self._base = run.targets[0].label

    def target(self, post: Post, name: str) -> RunTarget | None:
        """What stands for a build of the post: with the fewest other configs, and of several such the last."""
        build = post.builds[name]
        if self.run.imported:
            return self._imported(post, name)
        if build.lacking:
            return None
        stands = build.stands
        fitting = [one for one in reversed(self.run.targets) if stands.fits(one.dbms, one.version, one.configs)]
        return min(fitting, key=lambda one: len(one.configs - stands.configs), default=None)

    def _imported(self, post: Post, name: str) -> RunTarget | None:
        """The post's own: `my5649.cx6d` is 5.6.49, `my8039@bl0_sync0_dw0` is called bl0_sync0_dw0."""
        if called := [target for target in self.run.targets if name in target.label]:
            return called[0]
        digits, dbms = post.version_of(name).replace(".", ""), post.builds[name].stands.dbms
        fitting = (
            one for one in self.run.targets if one.dbms == dbms and digits in re.findall(r"[a-z]+(\d+)", one.label)
        )
        return next(fitting, None) if digits else None

    def tests(self, post: Post, figure: Figure, glob: str) -> list[str]:
        """Names in the run of the tests that a glob of claims means, with the number of clients of the figure."""
        clients = self.run.header.clients
        loaded_once = glob == LOAD_TEST and LOAD_TEST in self.run.tests
        pattern = f"{glob}@{post.server_of(figure).clients}" if len(clients) > 1 and not loaded_once else glob
        if self.run.imported and figure.server:
            of_server = [test for test in self.run.tests if matches(test, f"{figure.server}/{pattern}")]
            return of_server or ([] if post.is_of_another(figure) else self._named(pattern))
        return self._named(pattern)

    def _named(self, pattern: str) -> list[str]:
        return [test for test in self.run.tests if matches(test, pattern)]

    def why_not(self, test: str, targets: Sequence[RunTarget]) -> str:
        """Why there is no ratio of a test."""
        if any((test, target.label) in self._spoilt for target in targets):
            return "answers were wrong, or the server failed"
        return "not reached, or without such a figure" if test in self.run.tests else "not in the experiment"

    def ours(self, test: str, new: RunTarget, old: RunTarget, metric: str) -> Ours | None:
        """`metric`: as claims call it."""
        if {(test, new.label), (test, old.label)} & self._spoilt:
            return None
        name = self._name(test, METRICS[metric])
        if self.run.imported or self._base not in (new.label, old.label):
            logs = self._logs(test, new, old, name)
            return self._of_logs(mean_of_blocks(list(logs.values())).ratio(), name) if logs else None
        other = new if old.label == self._base else old
        finding = self._findings.get((test, other.label, name))
        return _of_finding(finding, inverse=other is old) if finding and finding.ratio else None

    def _name(self, test: str, metric: str) -> str:
        """Of a load that was done once, the metric is another one."""
        once = test == LOAD_TEST and (test, self._base, metric) not in self._values
        return OF_LOAD.get(metric, metric) if once else metric

    def mean(self, tests: Sequence[str], new: RunTarget, old: RunTarget, metric: str) -> Ours | None:
        """Of the geometric mean of tests."""
        places = ((test, target.label) for test in tests for target in (new, old))
        spoilt = {test for test, label in places if (test, label) in self._spoilt}
        logs = [self._logs(test, new, old, METRICS[metric]) for test in tests if test not in spoilt]
        known = [of_blocks for of_blocks in logs if of_blocks]
        return self._of_logs(mean_of_tests(known).ratio(), METRICS[metric]) if known else None

    def _of_logs(self, ratio: Ratio, metric: str) -> Ours:
        ours, blocks = ours_of(ratio, metric_named(metric).margin), ratio.blocks
        if self.run.imported:
            return replace(ours, note="imported: by size, without an interval")
        if blocks < FEWEST_BLOCKS:
            return replace(ours, note=by_size(blocks))
        if ours.says_nothing:
            return replace(ours, note=TOO_LITTLE)
        first_look = looks_of(self.run.header)[0]
        if blocks < first_look:
            return replace(ours, way=None, holds=False, note=f"{blocks} of {count_of(first_look, 'block')}")
        return ours

    @cached_property
    def _values(self) -> dict[tuple[str, str, str], dict[int, float]]:
        """Of each test, target and metric by block; the base has 0 wherever another has a value."""
        values: dict[tuple[str, str, str], dict[int, float]] = {}
        for one in self.run.rows:
            if one.value is not None:
                values.setdefault((one.test, one.target, one.metric), {})[one.block] = one.value
                values.setdefault((one.test, self._base, one.metric), {})[one.block] = 0.0
        return values

    def _logs(self, test: str, new: RunTarget, old: RunTarget, metric: str) -> Logs:
        """ln(new ÷ old) of each block that has both."""
        ours, theirs = (self._values.get((test, target.label, metric), {}) for target in (new, old))
        return {block: ours[block] - theirs[block] for block in ours if block in theirs}


def ours_of(ratio: Ratio, margin: float) -> Ours:
    """By its interval alone: a change of half the margin or more from which it excludes none, or all of it within the margin."""
    ours = Ours(ratio, None, margin)
    if ours.ends is None:
        return ours
    if max(map(abs, ours.ends)) <= ours.least:
        return replace(ours, way=0)
    excludes_none = ours.ends[0] > 0 or ours.ends[1] < 0
    return replace(ours, way=_sign(ratio.value)) if excludes_none and abs(ours.log) >= ours.half else ours


def by_size(blocks: int) -> str:
    return f"{count_of(blocks, 'block')}: by size, without an interval"


def matches(test: str, glob: str) -> bool:
    """The load goes by its own name alone: what is said of all tests is not said of it."""
    return fnmatchcase(test, glob) and (test_of(test) != LOAD_TEST or test_of(glob) == LOAD_TEST)


def _sign(ratio: float) -> int:
    return 1 if ratio > 1 else -1


def _of_finding(finding: Finding, *, inverse: bool) -> Ours:
    assert finding.ratio
    ratio, beside = finding.ratio, spread_of(finding)
    if inverse:
        low, high, least, most = (1 / end if end else None for end in beside)
        ratio, beside = 1 / ratio, Spread(high, low, most, least)
    of_blocks = Ratio(ratio, blocks=finding.blocks, **beside._asdict())
    holds = finding.counted in (*_OPEN, *DECIDED) and not finding.before_first_look and IDLE not in finding.note
    return Ours(of_blocks, _way(finding, of_blocks, holds), finding.margin, holds, _note(finding))


def _way(finding: Finding, ratio: Ratio, holds: bool) -> int | None:
    """By its verdict. Where that is open, by its interval alone, though verdicts allow for all tests: a published figure is one
    question, and was asked before. Where all work speaks against the rows, or bytes are not its own, nothing is shown."""
    if finding.counted in WITHIN:
        return 0
    if finding.counted in CHANGES:
        return _sign(ratio.value)
    is_withheld = not holds or finding.whole_work or finding.is_unpaid
    return None if is_withheld else ours_of(ratio, finding.margin).way


def _note(finding: Finding) -> str:
    if finding.blocks < FEWEST_BLOCKS:
        return by_size(finding.blocks)
    if finding.before_first_look:
        return finding.before_first_look
    if finding.low is None:
        return TOO_LITTLE
    if IDLE in finding.note:
        return finding.note
    return "" if finding.counted in (Verdict.UNDECIDED, *DECIDED) else str(finding.counted)
