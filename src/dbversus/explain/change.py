"""A test that changed: what is known of it on the two targets, and the metric that tells most."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbversus.explain.cause import Cause, Kind
from dbversus.explain.costs import Means
from dbversus.explain.pair import Pair
from dbversus.explain.plan_diff import PlanDifference
from dbversus.explain.trials import Tried, trial_command
from dbversus.profiling.stored import Profiled
from dbversus.stats.model import CHANGES, Finding

AS_MUCH = 0.3
"""Of a change, in logarithms: rows that moved by less do not tell what another plan has to do; nor does a slow block."""
NEARLY_AS_MUCH = 0.8
"""Of the largest change, in logarithms."""


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


@dataclass(frozen=True)
class Change:
    """What each kind of lead is looked for in.

    `most`: the metric that is explained. `chosen`: what the configs of the two ask for and differs, as setting → both values.
    """

    pair: Pair
    seen: Seen
    most: Finding
    chosen: Mapping[str, tuple[str | None, str | None]]

    @property
    def is_worse(self) -> bool:
        return ((self.most.ratio or 1) > 1) != self.most.higher_is_better

    def new(self, kind: Kind, what: str, **more: object) -> Cause:
        return replace(Cause(kind, self.seen.test, self.pair.target.label, what), **more)  # type: ignore[arg-type]

    def trial(self, settings: str) -> str:
        return trial_command(self.pair.header, self.pair.target.label, self.seen.test, settings)

    def amounts(self, name: str) -> tuple[float, float]:
        return self.seen.base.get(name, 0.0), self.seen.mine.get(name, 0.0)

    def moved_as_much(self, finding: Finding | None) -> bool:
        """Whether what costs more moved the way of the change, and not by far less."""
        if finding is None or finding.verdict not in CHANGES or not finding.ratio:
            return False
        return (finding.ratio > 1) == self.is_worse and size(finding) >= AS_MUCH * size(self.most)


def size(finding: Finding) -> float:
    """Of a change, in logarithms, whichever way; 0 where there is no ratio."""
    return abs(math.log(finding.ratio or 1))
