"""From what results hold of a test that changed to its causes, most likely first."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dbversus.explain.cause import COUNT, Cause, Explanation, Fact, Kind
from dbversus.explain.change import AS_MUCH, NEARLY_AS_MUCH, Change, Seen, size
from dbversus.explain.cost_leads import CostLeads, told_once
from dbversus.explain.costs import US_EACH
from dbversus.explain.executed import COUNTED
from dbversus.explain.functions import function_causes, wait_causes
from dbversus.explain.known import executed_otherwise, settings_named
from dbversus.explain.known_bugs import known_bugs
from dbversus.explain.pair import Pair, asked_otherwise, have_same_config
from dbversus.explain.plan_leads import PlanLeads
from dbversus.explain.setting_leads import SettingLeads
from dbversus.explain.shares import LEAST_SHARE
from dbversus.explain.storage import READS_OF_WHAT_FITS, SLOW_BLOCK, WAITS_FOR_DEVICE
from dbversus.explain.trials import NOT_SET, with_trials
from dbversus.names import split_names
from dbversus.stats.metrics import COUNTER, CPU, DISK_READ_BYTES, DISK_READS, IO_BYTES, READ_BYTES, THROUGHPUT
from dbversus.stats.model import CHANGES, Finding, Verdict

COUNTS_TOO = 0.5
"""Of the largest change, in logarithms: another metric that changed so much is explained where nothing explains the largest."""
LEAST_PLANNING_US = 10.0
"""Less is within what planning the same statement takes from one time to the next."""
MOST_SHARE = 1.5
"""Planning is timed outside slots, beside other work at times: what took far more than the change is not what changed."""
SLOW_READ_US = 1000.0
"""What a read takes a test at most, where the device is not slow: for all that is known, the test waited for each."""

_OF_READS = {
    CPU: (DISK_READS, US_EACH[DISK_READS]),
    THROUGHPUT: (DISK_READS, SLOW_READ_US),
    IO_BYTES: (DISK_READ_BYTES, 1.0),
}
"""What reads add to a judged metric, by which figure, and how much each."""

_RANKS = {
    Kind.KNOWN: 1,
    Kind.MEMORY: 2,
    Kind.PLAN: 3,
    Kind.DONE: 3.05,
    Kind.PLANNING: 3.1,
    Kind.WAIT: 3.2,
    Kind.FUNCTION: 3.2,
    Kind.COUNTER: 4,
    Kind.COST: 4,
    Kind.BACKGROUND: 4,
    Kind.STORAGE: 6,
}
"""Settings rank by the sign that they show (setting_leads.py)."""
_OF_VERSION = 3.15


def explain(pair: Pair, seen: Seen) -> Explanation | None:
    """None where no judged metric changed. Of the metric that tells most, or else of the first of which anything tells why."""
    changed = _telling(seen.findings.values())
    if not changed:
        return None
    chosen = asked_otherwise(pair)
    first = _explained(pair, seen, changed[0], chosen)
    others = (_explained(pair, seen, one, chosen) for one in changed[1:])
    return first if first.same or first.likely else next((one for one in others if one.likely), first)


def _explained(
    pair: Pair, seen: Seen, most: Finding, chosen: Mapping[str, tuple[str | None, str | None]]
) -> Explanation:
    explanation = Explanation(
        seen.test,
        pair.target.label,
        pair.base.label,
        most.metric,
        most.ratio or 1.0,
        most.least_change,
        (),
        same=pair.are_the_same,
        same_config=have_same_config(pair, chosen),
        same_build=pair.same_build,
    )
    if explanation.same:
        return explanation
    causes = tuple(_ranked(_Search(pair, seen, most, chosen).causes()))
    return replace(explanation, causes=with_trials(causes, most.metric, seen.trials))


def _telling(findings: Iterable[Finding]) -> list[Finding]:
    """The judged metrics that changed, most telling first. Those that got worse come before those that got better, since a
    verdict is about them; of each, none that changed far less than another, and CPU time before what changed little more."""
    changed = [one for one in findings if one.judged and one.counted in CHANGES and one.ratio]
    sides = [
        [one for one in changed if one.counted is verdict] for verdict in (Verdict.REGRESSION, Verdict.IMPROVEMENT)
    ]
    return [one for side in sides for one in sorted(_large(side), key=_told_first, reverse=True)]


def _large(changed: Sequence[Finding]) -> list[Finding]:
    least = COUNTS_TOO * max(map(size, changed), default=0.0)
    return [one for one in changed if size(one) >= least]


def _told_first(finding: Finding) -> float:
    return size(finding) / (NEARLY_AS_MUCH if finding.metric == CPU else 1.0)


@dataclass(frozen=True)
class _Search(Change):
    """The sources of causes for one test."""

    def causes(self) -> list[tuple[float, Cause]]:
        of_test = self.pair, self.seen, self.most, self.chosen
        plans = list(PlanLeads(*of_test).leads())
        costs = list(CostLeads(*of_test).leads())
        counters = [cause.what.removeprefix(COUNTER) for cause in costs if cause.kind is Kind.COUNTER]
        settings = list(SettingLeads(*of_test).leads([shape for _, shape in plans], counters))
        costs = list(told_once(costs, with_rows=not plans))
        tested = list(self._tested())
        functions = [*self._waits(), *self._functions()]
        planning = [*self._planning(), *([] if plans else self._done_more_often())]
        otherwise = [] if plans else list(self._executed_otherwise())
        with_rank = [*self._bugs(), *self._conditions(), *(cause for cause, _ in plans), *planning, *functions, *costs]
        known = {name for cause in tested for name in cause.what.split(", ")} if len(tested) == 1 else set()
        return [
            *((0.0, cause) for cause in tested),
            *((_RANKS[cause.kind], cause) for cause in with_rank),
            *((_OF_VERSION, cause) for cause in otherwise),
            *((rank, cause) for rank, cause in settings if not (cause.what in known and len(known) == 1)),
        ]

    def _functions(self) -> list[Cause]:
        cpu = self.seen.findings.get(CPU)
        if not self.seen.profile or not cpu or cpu.counted not in CHANGES:
            return function_causes(self.seen.profile) if self.seen.profile else []
        base_us, mine_us = self.amounts(CPU)
        return function_causes(self.seen.profile, cpu.ratio, mine_us - base_us)

    def _tested(self) -> Iterator[Cause]:
        """What alone differs between two targets of one build: the change is its effect."""
        if not self.pair.same_build or not self.chosen:
            return
        base, mine = (", ".join(str(values[side] or NOT_SET) for values in self.chosen.values()) for side in (0, 1))
        names = ", ".join(self.chosen)
        known = settings_named(names, self.pair.target.dbms)
        means, source = (known[0].means, known[0].source) if known else ("", "")
        yield self.new(Kind.SETTING, names, base=base, mine=mine, share=1.0, tested=True, means=means, source=source)

    def _bugs(self) -> Iterator[Cause]:
        """Those of the side that is slower, and not of the other."""
        base, mine = (
            [
                bug
                for bug in known_bugs()
                if bug.concerns(self.seen.test, target.dbms, target.version, split_names(target.config))
            ]
            for target in (self.pair.base, self.pair.target)
        )
        label = self.pair.target.label if self.is_worse else self.pair.base.label
        reads_more = self.moved_as_much(self.seen.findings.get(READ_BYTES))
        for bug in mine if self.is_worse else base:
            if bug not in (base if self.is_worse else mine) and (reads_more or not bug.reads):
                facts: dict[str, Fact] = {"on": label, "is_bug": bug.is_bug}
                yield self.new(Kind.KNOWN, bug.name, means=bug.effect, source=bug.source, facts=facts)

    def _executed_otherwise(self) -> Iterator[Cause]:
        """What the newer version is known to do better or worse, where the plans show that it is asked for."""
        versions = self.pair.base.version, self.pair.target.version
        for known in executed_otherwise(self.pair.target.dbms, versions, self.seen.same_plans.values()):
            is_newer = known.has_it(versions[1])
            if known.better is None or (is_newer == known.better) != self.is_worse:
                on = self.pair.target.label if is_newer else self.pair.base.label
                facts: dict[str, Fact] = {"on": on, "is_bug": False}
                yield self.new(Kind.KNOWN, known.name, means=known.means, source=known.source, facts=facts)

    def _conditions(self) -> Iterator[Cause]:
        """What one of the two had to bear, and the other not. Who waits for a device uses no CPU and moves no bytes."""
        slower = self.pair.target.label if self.is_worse else self.pair.base.label
        faster = self.pair.base.label if self.is_worse else self.pair.target.label
        waits_tell = self.most.metric not in (CPU, IO_BYTES) and not self.moved_as_much(self.seen.findings.get(CPU))
        found = [
            cause
            for cause in self.seen.conditions
            if cause.kind in (Kind.STORAGE, Kind.MEMORY) and (waits_tell or cause.what not in WAITS_FOR_DEVICE)
        ]
        for cause in found:
            others = {(one.kind, one.what) for one in found if one.target == faster}
            if cause.target == slower and (cause.kind, cause.what) not in others and self._can_matter(cause):
                yield cause

    def _can_matter(self, cause: Cause) -> bool:
        """Of a device that was slow in one block: whether that block could have moved what is judged over all of them. Of reads:
        whether the slower one has enough more of them."""
        if cause.what == READS_OF_WHAT_FITS:
            return self._read_enough()
        there, blocks = (cause.facts.get(name) for name in ("throughput_of_median", "blocks"))
        if cause.what != SLOW_BLOCK or not there or not blocks:
            return True
        return abs(math.log(float(there))) / float(blocks) >= AS_MUCH * size(self.most)

    def _read_enough(self) -> bool:
        """For a share of the change that counts, at what a read costs a kernel, or at how long it takes."""
        metric, each = _OF_READS.get(self.most.metric, _OF_READS[CPU])
        base, mine = self.amounts(metric)
        before, now = self.amounts(self.most.metric)
        if self.most.metric == THROUGHPUT and before and now:
            before, now = 1e6 / before, 1e6 / now
        return abs(mine - base) * each >= LEAST_SHARE * abs(now - before)

    def _planning(self) -> Iterator[Cause]:
        """Statements that take longer to plan, where that makes up a part of the change in CPU time."""
        cpu_us = self.amounts(CPU)
        change_us = cpu_us[1] - cpu_us[0]
        for statement, (base, mine) in self.seen.planning_ms.items():
            more_us = 1000 * (mine - base)
            if not all(cpu_us) or abs(more_us) < LEAST_PLANNING_US or (more_us > 0) != (change_us > 0):
                continue
            share = more_us / change_us
            if LEAST_SHARE <= share <= MOST_SHARE and (mine > base) == self.is_worse:
                told = {"base": base, "mine": mine, "unit": "ms", "share": min(share, 1.0)}
                yield self.new(Kind.PLANNING, statement, **told)

    def _waits(self) -> Sequence[Cause]:
        """Where throughput changed and CPU time does not tell most; of a larger change in bytes they have no share."""
        measured, throughput = self.seen.waits, self.seen.findings.get(THROUGHPUT)
        slower = throughput is not None and throughput.counted in CHANGES and (throughput.ratio or 1) < 1
        if self.most.metric == CPU or not measured or slower != self.is_worse:
            return ()
        if (measured.profile.whole.change_us > 0) != slower:
            return ()
        causes = wait_causes(measured)
        return causes if self.most.metric == THROUGHPUT else [replace(cause, share=None) for cause in causes]

    def _done_more_often(self) -> Iterator[Cause]:
        """What statements of equal plans do more often, where the test became worse, or less often, where better."""
        for statement, (name, base, mine) in self.seen.counted.items():
            if (mine > base) == self.is_worse:
                told = {"base": base, "mine": mine, "unit": "1/op", "ratio": mine / base if base else None}
                facts: dict[str, Fact] = {COUNT: COUNTED[name]}
                yield self.new(Kind.DONE, statement, facts=facts, **told)


def _ranked(found: Iterable[tuple[float, Cause]]) -> Iterator[Cause]:
    for _, cause in sorted(found, key=lambda pair: (pair[0], -(pair[1].cost or 0.0))):
        yield cause
