"""From what results hold of a test that changed to its causes, most likely first."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbversus.dbms.known import family_name
from dbversus.explain.cause import WEAK, Cause, Explanation, Fact, Kind
from dbversus.explain.costs import LEAST_PER_OP, TRIFLE, US_EACH, Means, Place, bytes_each, cost_causes
from dbversus.explain.executed import COUNTED, operators_took, other_count, total_ms
from dbversus.explain.functions import function_causes, wait_causes
from dbversus.explain.known import (
    CounterMeaning,
    SettingMeaning,
    executed_otherwise,
    is_named,
    meaning_of,
    planned_otherwise,
    settings_named,
)
from dbversus.explain.known_bugs import known_bugs
from dbversus.explain.operators import ANY_PLAN, Difference, difference
from dbversus.explain.pair import Pair, asked_otherwise, asks_the_same, have_same_config
from dbversus.explain.plan_diff import PlanDifference
from dbversus.explain.settings_diff import AS_SUITE
from dbversus.explain.shares import LEAST_SHARE
from dbversus.explain.storage import READS_OF_WHAT_FITS, SLOW_BLOCK, WAITS_FOR_DEVICE
from dbversus.explain.trials import NOT_SET, Tried, trial_command, with_trials
from dbversus.names import split_names
from dbversus.profiling.stored import Profiled
from dbversus.stats.metrics import (
    BACKGROUND,
    COUNTER,
    CPU,
    DISK_READ_BYTES,
    DISK_READS,
    IO_BYTES,
    READ_BYTES,
    THROUGHPUT,
    WAIT,
    WRITE_BYTES,
)
from dbversus.stats.model import CHANGES, Finding, Verdict

AS_MUCH = 0.3
"""Of a change, in logarithms: rows that moved by less do not tell what another plan has to do; nor does a slow block."""
NEARLY_AS_MUCH = 0.8
"""Of the largest change, in logarithms."""
COUNTS_TOO = 0.5
"""Of the largest change, in logarithms: another metric that changed so much is explained where nothing explains the largest."""
OF_THROUGHPUT = (WAIT, "server_switches_per_op", DISK_READS, "major_faults_per_op")
OF_ANY = ("errors_per_op", "major_faults_per_op")
LEAST_PLANNING_US = 10.0
"""Less is within what planning the same statement takes from one time to the next."""
LEAST_COST = 0.01
"""Of the change, by what a count usually costs: with less, it moved with the change and does not make it."""
MOST_SHARE = 1.5
"""Planning is timed outside slots, beside other work at times: what took far more than the change is not what changed."""
SLOW_READ_US = 1000.0
"""What a read takes a test at most, where the device is not slow: for all that is known, the test waited for each."""
ROWS = "rows"
SIDES = ("base", "mine")
"""Of facts of a plan: `<side>_rows` and `<side>_ms` of the first operator that differs, `<side>_total_ms` of the statement, and
`<side>_count` of what it did more or less often, which is the fact COUNT."""
COUNT = "count"

_OF_READS = {
    CPU: (DISK_READS, US_EACH[DISK_READS]),
    THROUGHPUT: (DISK_READS, SLOW_READ_US),
    IO_BYTES: (DISK_READ_BYTES, 1.0),
}
"""What reads add to a judged metric, by which figure, and how much each."""
_READS = ".reads"
_KEY = re.compile(r"\bkey=(\w+)")
"""An index in a line of MySQL's EXPLAIN; no other DBMS counts reads by index among its counters."""

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
    Kind.SETTING: 6,
}
_SIGN_OF_VERSION, _SIGN_OF_SAME_PLAN = 3.15, 4.6
_SIGN_OF_ANSWERS, _SIGN_OF_PLAN, _SIGN_OF_TELLING, _SIGN_OF_COUNTER, _SIGN_OF_TESTS = 2.5, 3.5, 3.8, 4.5, 7.0
_MOST = 0.5
"""Of operations."""
_ASKED_FOR = 0.1
"""Of two settings with the same sign, the one that a config asks for comes first."""
_LEAST_ROWS = 10.0
"""Per operation: fewer tell nothing of a plan."""


@dataclass(frozen=True)
class Seen:
    """What is known of one test on the two. `plans`: of its statements, where they differ between any targets.

    `conditions`: causes that lie in how it was measured (conditions.py, storage.py). `profile`: where its CPU time goes.
    `planning_ms`: statement → what planning it takes on the base and on the target, each time that it is executed.
    `same_plans`: statement → its plans on both, where their shapes are equal.
    `counted`: statement → what it does more or less often on the target, and how often on both (SQLite).
    `trials`: settings of the base that were tried on the target. `connects`: each operation opens a connection. `waits`: what
    operations wait for. `busy`: other work took so much of the host that waits in the run queue tell nothing.
    `paced`: what changes data comes at a set rate, beside operations that do not.
    `others`: label → findings of the other targets whose figures count.
    """

    test: str
    findings: Mapping[str, Finding]
    base: Means
    mine: Means
    writes: bool = False
    plans: Sequence[PlanDifference] = ()
    conditions: Sequence[Cause] = field(default=())
    profile: Profiled | None = None
    planning_ms: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    trials: Sequence[Tried] = ()
    counted: Mapping[str, tuple[str, int, int]] = field(default_factory=dict)
    same_plans: Mapping[str, str] = field(default_factory=dict)
    connects: bool = False
    waits: Profiled | None = None
    busy: bool = False
    paced: bool = False
    others: Mapping[str, Mapping[str, Finding]] = field(default_factory=dict)


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
    least = COUNTS_TOO * max(map(_size, changed), default=0.0)
    return [one for one in changed if _size(one) >= least]


def _told_first(finding: Finding) -> float:
    return _size(finding) / (NEARLY_AS_MUCH if finding.metric == CPU else 1.0)


def _size(finding: Finding) -> float:
    return abs(math.log(finding.ratio or 1))


@dataclass(frozen=True)
class _Search:
    """The sources of causes for one test. `chosen`: what the configs of the two ask for and differs."""

    pair: Pair
    seen: Seen
    most: Finding
    chosen: Mapping[str, tuple[str | None, str | None]]

    @property
    def is_worse(self) -> bool:
        return ((self.most.ratio or 1) > 1) != self.most.higher_is_better

    def causes(self) -> list[tuple[float, Cause]]:
        plans = list(self._plans())
        costs = list(self._costs())
        counters = [cause.what.removeprefix(COUNTER) for cause in costs if cause.kind is Kind.COUNTER]
        settings = list(self._settings([shape for _, shape in plans], counters))
        costs = list(_once(costs, with_rows=not plans))
        tested = list(self._tested())
        functions = [*self._waits(), *self._functions()]
        planning = [*self._planning(), *([] if plans else self._done_more_often())]
        otherwise = [] if plans else list(self._executed_otherwise())
        with_rank = [*self._bugs(), *self._conditions(), *(cause for cause, _ in plans), *planning, *functions, *costs]
        known = {name for cause in tested for name in cause.what.split(", ")} if len(tested) == 1 else set()
        return [
            *((0.0, cause) for cause in tested),
            *((_RANKS[cause.kind], cause) for cause in with_rank),
            *((_SIGN_OF_VERSION, cause) for cause in otherwise),
            *((rank, cause) for rank, cause in settings if not (cause.what in known and len(known) == 1)),
        ]

    def _functions(self) -> list[Cause]:
        cpu = self.seen.findings.get(CPU)
        if not self.seen.profile or not cpu or cpu.counted not in CHANGES:
            return function_causes(self.seen.profile) if self.seen.profile else []
        base_us, mine_us = self._amounts(CPU)
        return function_causes(self.seen.profile, cpu.ratio, mine_us - base_us)

    def _new(self, kind: Kind, what: str, **more: object) -> Cause:
        return replace(Cause(kind, self.seen.test, self.pair.target.label, what), **more)  # type: ignore[arg-type]

    def _trial(self, settings: str) -> str:
        return trial_command(self.pair.header, self.pair.target.label, self.seen.test, settings)

    def _tested(self) -> Iterator[Cause]:
        """What alone differs between two targets of one build: the change is its effect."""
        if not self.pair.same_build or not self.chosen:
            return
        base, mine = (", ".join(str(values[side] or NOT_SET) for values in self.chosen.values()) for side in (0, 1))
        names = ", ".join(self.chosen)
        known = settings_named(names, self.pair.target.dbms)
        means, source = (known[0].means, known[0].source) if known else ("", "")
        yield self._new(Kind.SETTING, names, base=base, mine=mine, share=1.0, tested=True, means=means, source=source)

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
        for bug in mine if self.is_worse else base:
            if bug not in (base if self.is_worse else mine):
                facts: dict[str, Fact] = {"on": label, "is_bug": bug.is_bug}
                yield self._new(Kind.KNOWN, bug.name, means=bug.effect, source=bug.source, facts=facts)

    def _executed_otherwise(self) -> Iterator[Cause]:
        """What the newer version is known to do better or worse, where the plans show that it is asked for."""
        versions = self.pair.base.version, self.pair.target.version
        for known in executed_otherwise(self.pair.target.dbms, versions, self.seen.same_plans.values()):
            is_newer = known.has_it(versions[1])
            if known.better is None or (is_newer == known.better) != self.is_worse:
                on = self.pair.target.label if is_newer else self.pair.base.label
                facts: dict[str, Fact] = {"on": on, "is_bug": False}
                yield self._new(Kind.KNOWN, known.name, means=known.means, source=known.source, facts=facts)

    def _conditions(self) -> Iterator[Cause]:
        """What one of the two had to bear, and the other not. Who waits for a device uses no CPU and moves no bytes."""
        slower = self.pair.target.label if self.is_worse else self.pair.base.label
        faster = self.pair.base.label if self.is_worse else self.pair.target.label
        waits_tell = self.most.metric not in (CPU, IO_BYTES) and not self._moved_as_much(self.seen.findings.get(CPU))
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
        return abs(math.log(float(there))) / float(blocks) >= AS_MUCH * _size(self.most)

    def _read_enough(self) -> bool:
        """For a share of the change that counts, at what a read costs a kernel, or at how long it takes."""
        metric, each = _OF_READS.get(self.most.metric, _OF_READS[CPU])
        base, mine = self._amounts(metric)
        before, now = self._amounts(self.most.metric)
        if self.most.metric == THROUGHPUT and before and now:
            before, now = 1e6 / before, 1e6 / now
        return abs(mine - base) * each >= LEAST_SHARE * abs(now - before)

    def _plans(self) -> Iterator[tuple[Cause, Difference]]:
        for plan in self.seen.plans:
            base, mine = (plan.plans[place] for place in self.pair.places)
            if base is None or mine is None or not (found := difference(base, mine, self.pair.target.dbms)):
                continue
            if not plan.executed and (_is_contradicted(base, self.seen.base) or _is_contradicted(mine, self.seen.mine)):
                continue
            is_tree = family_name(self.pair.target.dbms) == "postgres"
            facts: dict[str, Fact] = {
                "reordered": found.reordered,
                "is_tree": is_tree,
                **self._took(plan, found),
                **self._rows(),
            }
            gone, new = ("\n".join(side) for side in (found.gone, found.new))
            versions = self.pair.base.version, self.pair.target.version
            known = planned_otherwise(self.pair.target.dbms, versions, found)
            means, source = (known.means, known.source) if known else ("", "")
            told = {"base": gone, "mine": new, "means": means, "source": source, "facts": facts}
            yield self._new(Kind.PLAN, plan.statement, **told), found

    def _planning(self) -> Iterator[Cause]:
        """Statements that take longer to plan, where that makes up a part of the change in CPU time."""
        cpu_us = self._amounts(CPU)
        change_us = cpu_us[1] - cpu_us[0]
        for statement, (base, mine) in self.seen.planning_ms.items():
            more_us = 1000 * (mine - base)
            if not all(cpu_us) or abs(more_us) < LEAST_PLANNING_US or (more_us > 0) != (change_us > 0):
                continue
            share = more_us / change_us
            if LEAST_SHARE <= share <= MOST_SHARE and (mine > base) == self.is_worse:
                told = {"base": base, "mine": mine, "unit": "ms", "share": min(share, 1.0)}
                yield self._new(Kind.PLANNING, statement, **told)

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
                yield self._new(Kind.DONE, statement, facts=facts, **told)

    def _took(self, plan: PlanDifference, found: Difference) -> dict[str, Fact]:
        """Of the first operator that is gone and the first that is new, in the plans that ran, or of the whole statements."""
        if not plan.executed:
            return {}
        facts: dict[str, Fact] = {}
        for side, place, names in zip(SIDES, self.pair.places, (found.gone, found.new), strict=True):
            text = plan.executed[place] or ""
            took = operators_took(text, self.pair.target.dbms).get(names[0]) if names else None
            facts[f"{side}_rows"] = took.rows if took else None
            facts[f"{side}_ms"] = took.ms if took else None
            facts[f"{side}_total_ms"] = total_ms(text)
        if self._is_against_the_change(*(facts[f"{side}_total_ms"] for side in SIDES)):
            facts |= dict.fromkeys((f"{side}_total_ms" for side in SIDES), None)
        if counted := other_count(*(plan.executed[place] or "" for place in self.pair.places)):
            name, facts["base_count"], facts["mine_count"] = counted
            facts[COUNT] = COUNTED[name]
        return facts

    def _is_against_the_change(self, base: Fact, mine: Fact) -> bool:
        """Whether times of one execution on each say the opposite of the verdict, which many have made."""
        return isinstance(base, float) and isinstance(mine, float) and (mine > base) != self.is_worse

    def _rows(self) -> dict[str, Fact]:
        """The costliest count of rows or pages that moved with the change: what a plan has to do more, or less."""
        found = []
        for name, finding in self.seen.findings.items():
            known = meaning_of(name.removeprefix(COUNTER)) if name.startswith(COUNTER) else None
            amounts = self._amounts(name)
            if (
                known
                and known.rows
                and self._moved_as_much(finding)
                and min(amounts) >= 1
                and max(amounts) >= _LEAST_ROWS
            ):
                found.append((max(amounts) * known.us_each, name))
        if not found:
            return {}
        name = max(found)[1]
        base, mine = self._amounts(name)
        return {ROWS: name.removeprefix(COUNTER), "rows_base": base, "rows_mine": mine}

    def _moved_as_much(self, finding: Finding | None) -> bool:
        """Whether it moved the way of the change, and not by far less."""
        if (
            finding is None
            or finding.verdict not in CHANGES
            or not finding.ratio
            or (finding.ratio > 1) != self.is_worse
        ):
            return False
        return abs(math.log(finding.ratio)) >= AS_MUCH * abs(math.log(self.most.ratio or 1))

    def _amounts(self, name: str) -> tuple[float, float]:
        return self.seen.base.get(name, 0.0), self.seen.mine.get(name, 0.0)

    def _costs(self) -> Iterator[Cause]:
        """Counters that mean something for the change, and parts of its cost, in the same direction as it."""
        base, target = self.pair.base, self.pair.target
        place = Place.of(base, target, writes=self.seen.writes, paced=self.seen.paced)
        if family_name(base.dbms) == family_name(target.dbms):
            yield from self._of_one_version()
        for cause in cost_causes(self.seen.findings, self.seen.base, self.seen.mine, place):
            rose = (cause.ratio or 1) > 1
            if cause.kind is Kind.COUNTER:
                yield from self._counter(cause, rose)
            elif rose == self.is_worse:
                yield from self._part(cause)

    def _of_one_version(self) -> Iterator[Cause]:
        """Counters that tell by themselves and that only one of two versions has, as one has a cache that the other has not."""
        for name in sorted(self.seen.base.keys() ^ self.seen.mine.keys()):
            known = meaning_of(name.removeprefix(COUNTER)) if name.startswith(COUNTER) else None
            base, mine = self._amounts(name)
            if known and known.telling and max(base, mine) >= LEAST_PER_OP:
                cost = max(base, mine) * known.us_each
                lead = self._new(Kind.COUNTER, name, base=base, mine=mine, unit="1/op", cost=cost)
                yield from self._counter(lead, rose=mine > base)

    def _counter(self, cause: Cause, rose: bool) -> Iterator[Cause]:
        known = meaning_of(cause.what.removeprefix(COUNTER))
        if not known or self._is_of_other_bytes(known) or rose != (self.is_worse != known.good):
            return
        if known.bytes_each and self.most.metric != IO_BYTES:
            cause = replace(cause, cost=self._cost_of_cpu(cause, known))
        if not self._is_trifle(cause, known):
            command = self._trial(known.trial) if self.is_worse else ""
            yield replace(cause, means=known.means, source=known.source, command=command, share=self._share(cause))

    def _cost_of_cpu(self, cause: Cause, known: CounterMeaning) -> float:
        """What pages that are read or written take of the CPU time of an operation; of its bytes they may take all."""
        return abs(float(cause.mine or 0.0) - float(cause.base or 0.0)) * known.us_each / max(*self._amounts(CPU), 1e-9)

    def _is_of_other_bytes(self, known: CounterMeaning) -> bool:
        """Whether it counts reads where it is mostly bytes written that changed, or writes where it is bytes read."""
        read, written = (abs(mine - base) for base, mine in map(self._amounts, (READ_BYTES, WRITE_BYTES)))
        return self.most.metric == IO_BYTES and (known.rows if written > read else known.writes and read > written)

    def _is_trifle(self, cause: Cause, known: CounterMeaning) -> bool:
        """Whether what moved makes next to nothing of the change; or little of it, and moved by far less. Costs are rough; and
        that there is any of a telling one tells more than what it costs."""
        base, mine = (float(side or 0.0) for side in (cause.base, cause.mine))
        if cause.cost is not None and cause.cost < TRIFLE:
            return True
        share = self._rough_share(cause, abs(mine - base) * known.us_each)
        if base and mine and abs(math.log(mine / base)) < AS_MUCH * _size(self.most):
            return share is not None and share < LEAST_SHARE
        return share is not None and share < LEAST_COST and not known.telling

    def _rough_share(self, cause: Cause, cost_us: float) -> float | None:
        """Of the change, at what a counter usually costs; of bytes, by bytes; None where that is not known."""
        if self.most.metric == IO_BYTES:
            return self._share(cause)
        base, mine = self._amounts(self.most.metric)
        if self.most.metric == THROUGHPUT and base and mine:
            base, mine = 1e6 / base, 1e6 / mine
        return cost_us / abs(mine - base) if mine != base else None

    def _part(self, cause: Cause) -> Iterator[Cause]:
        wanted = OF_THROUGHPUT if self.most.metric == THROUGHPUT else ()
        share = self._share(cause)
        if cause.what == WAIT and self.seen.busy:
            return
        if cause.kind is Kind.BACKGROUND:
            if self.most.metric == CPU and share is not None and share >= LEAST_SHARE:
                yield replace(cause, share=share)
        elif cause.what in (*wanted, *OF_ANY) and (share is None or share >= LEAST_SHARE):
            yield replace(cause, share=share)

    def _share(self, cause: Cause) -> float | None:
        """Of the change, where the cause is a part of what changed, in its unit."""
        base, mine = self._amounts(self.most.metric)
        of_cpu = self.most.metric == CPU and cause.unit == "µs/op" and cause.what != WAIT
        each = 1.0 if of_cpu else bytes_each(cause.what) if self.most.metric == IO_BYTES else 0.0
        if not each or mine == base:
            return None
        part = each * (float(cause.mine or 0.0) - float(cause.base or 0.0))
        return min(max(part / (mine - base), 0.0), 1.0)

    def _settings(self, shapes: Sequence[Difference], counters: Sequence[str]) -> Iterator[tuple[float, Cause]]:
        """Those that differ and show a sign of having to do with the change."""
        for name, (base, mine) in self.pair.differing.items():
            if self.pair.same_build and name not in self.chosen:
                continue  # it follows from what was chosen
            for known in settings_named(name, self.pair.target.dbms):
                both = base is not None and mine is not None
                is_asked_for = name in self.chosen and not (
                    self.pair.is_by_version(name) or self._changed_without(name)
                )
                rank = self._sign(known, shapes, counters, both=both, is_asked_for=is_asked_for)
                if rank is None:
                    continue
                told = {"base": base, "mine": mine, "means": known.means, "source": known.source}
                facts = {WEAK: True} if rank >= _RANKS[Kind.SETTING] and not is_asked_for else {}
                command = self._trial(_back(name, base, mine, known.back if self.is_worse else ""))
                yield (
                    rank - _ASKED_FOR * is_asked_for,
                    self._new(Kind.SETTING, name, command=command, facts=facts, **told),
                )
                break

    def _changed_without(self, name: str) -> bool:
        """Whether another target of that build changed nearly as much, though its config asks for what the base's does."""
        base = self.pair.facts[0]
        without = [one.label for one in self.pair.of_the_build if asks_the_same(one, base, name)]
        changed = (self.seen.others.get(label, {}).get(self.most.metric) for label in without)
        least = NEARLY_AS_MUCH * _size(self.most)
        return any(one and one.counted is self.most.counted and _size(one) >= least for one in changed)

    def _acts(self, known: SettingMeaning, *, is_asked_for: bool) -> bool:
        """Whether it can act on such a test."""
        acting = {
            "all": is_asked_for,
            "connects": self.seen.connects,
            "writes": self.seen.writes,
            "reads": not self.seen.writes,
        }
        return acting.get(known.tests, False)

    def _threads_act(self, known: SettingMeaning) -> bool:
        """Whether its threads make up a part of the change in CPU time. Versions name threads otherwise, and one that does fewer
        operations may do as much in the background by the second: so its own threads are compared, and not all of them."""
        if self.most.metric == IO_BYTES or not self._moved_as_much(self.seen.findings.get(CPU)):
            return False
        base, mine = (
            sum(us for name, us in side.items() if name.startswith(BACKGROUND) and is_named(name, known.counters))
            for side in (self.seen.base, self.seen.mine)
        )
        cpu_base, cpu_mine = self._amounts(CPU)
        return (mine - base) / (cpu_mine - cpu_base) >= LEAST_SHARE

    def _sign(
        self,
        known: SettingMeaning,
        shapes: Sequence[Difference],
        counters: Sequence[str],
        *,
        both: bool,
        is_asked_for: bool,
    ) -> float | None:
        """The rank of what it shows; None where it shows nothing. `both`: both versions have it; else it may only be new."""
        may_tell = both or bool(known.back)
        if known.answers in counters and max(self._amounts(f"{COUNTER}{known.answers}")) > _MOST:
            return _SIGN_OF_ANSWERS
        if may_tell and any(shape.tells(pattern) for shape in shapes for pattern in known.operators):
            return _SIGN_OF_PLAN
        if self._threads_act(known):
            return _SIGN_OF_TELLING
        moved = [meaning_of(counter) for counter in counters if is_named(counter, known.counters)]
        if moved:
            return _SIGN_OF_TELLING if any(one and one.telling for one in moved) else _SIGN_OF_COUNTER
        if both and known.has and any(re.search(known.has, plan) for plan in self.seen.same_plans.values()):
            return _SIGN_OF_SAME_PLAN
        if not may_tell:
            return None
        if shapes and ANY_PLAN in known.operators:
            return _RANKS[Kind.SETTING]
        if both and self._acts(known, is_asked_for=is_asked_for):
            return _SIGN_OF_TESTS
        return None


def _is_contradicted(plan: str, means: Means) -> bool:
    """Whether it names an index that was not read, though reads by index were counted: then it is not the plan that ran."""
    reads = {name.removesuffix(_READS).rpartition(".")[2]: value for name, value in means.items() if _is_of_index(name)}
    named = _KEY.findall(plan)
    return any(reads.values()) and any(not reads.get(index) for index in named)


def _is_of_index(counter: str) -> bool:
    return counter.startswith(f"{COUNTER}index.") and counter.endswith(_READS)


def _once(costs: Sequence[Cause], with_rows: bool) -> Iterator[Cause]:
    """One counter of each meaning; none that counts rows where another plan is told with them."""
    said: set[str] = set()
    for cause in costs:
        known = meaning_of(cause.what.removeprefix(COUNTER)) if cause.kind is Kind.COUNTER else None
        if known is None or (known.means not in said and (with_rows or not known.rows)):
            yield cause
        said |= {known.means} if known else set()


def _back(name: str, base: str | None, mine: str | None, back: str) -> str:
    """The setting that brings the base's behaviour to the target: `work_mem=4MB`, `optimizer_switch=mrr=off`; empty where
    none is known, or where only leaving out a config would."""
    if mine is None or base == AS_SUITE or name.startswith("sql_mode."):
        return ""
    if "=" in back:
        return back
    value = back if base is None else base
    option = name.replace(".", "=", 1) if name.startswith("optimizer_switch.") else name
    return f"{option}={value}" if value else ""


def _ranked(found: Iterable[tuple[float, Cause]]) -> Iterator[Cause]:
    for _, cause in sorted(found, key=lambda pair: (pair[0], -(pair[1].cost or 0.0))):
        yield cause
