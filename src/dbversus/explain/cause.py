"""Why a test may differ between two targets, as a value: reports put it into words (report/parts/notes/cause_words.py)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Fact = str | int | float | bool | None


class Kind(StrEnum):
    """What a cause is made of."""

    SETTING = "setting"
    PLAN = "plan"
    DONE = "done"
    PLANNING = "planning"
    WAIT = "wait"
    FUNCTION = "function"
    KNOWN = "known"
    COUNTER = "counter"
    COST = "cost"
    BACKGROUND = "background"
    STORAGE = "storage"
    MEMORY = "memory"
    REGIME = "regime"
    DRIFT = "drift"
    LOG = "log"


@dataclass(frozen=True)
class Cause:
    """One of them, on one target; `what` is its name within its kind: a setting, a statement, a metric, a thread.

    `base` and `mine`: what it is on the base and on the target, in `unit`; None: not known there. `ratio`: mine ÷ base.
    `cost`: the part of what an operation costs that it makes up, by which leads are ranked. `share`: of the change, what it
    explains; None: that cannot be told. `tested`: whether it alone was changed, so that the change is its effect; else it only
    goes together with the change, and is called a lead. `means`: what it stands for, and `source` says where that is written.
    `command`: what tests it. `facts`: whatever else is known of one of its kind.
    """

    kind: Kind
    test: str
    target: str
    what: str
    base: Fact = None
    mine: Fact = None
    unit: str = ""
    ratio: float | None = None
    cost: float | None = None
    share: float | None = None
    tested: bool = False
    means: str = ""
    source: str = ""
    command: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def is_weak(self) -> bool:
        """Whether nothing shows that it acted: a setting that differs and can act on such tests."""
        return bool(self.facts.get(WEAK))

    @property
    def is_of_one_metric(self) -> bool:
        """Whether it is time that is spent or waited: of CPU or throughput that changed it says something, of bytes nothing."""
        return self.kind in (Kind.BACKGROUND, Kind.WAIT, Kind.FUNCTION) or self.unit == "µs/op"

    @property
    def is_sure(self) -> bool:
        """Whether it was tested and explains most of the change."""
        return self.tested and self.share is not None and SURE_SHARES[0] <= self.share <= SURE_SHARES[1]


SURE_SHARES = (0.7, 1.3)
"""Of the change, in a trial: one that overshoots did something else besides."""
WEAK = "weak"
"""Of facts: see `Cause.is_weak`."""
ROWS = "rows"
SIDES = ("base", "mine")
"""Of facts of a plan: `<side>_rows` and `<side>_ms` of the first operator that differs, `<side>_total_ms` of the statement, and
`<side>_count` of what it did more or less often, which is the fact COUNT."""
COUNT = "count"


@dataclass(frozen=True)
class Explanation:
    """A test that changed on a target, and the causes of that, most likely first.

    `metric` is the judged one that changed most, with its `ratio`, and at `least` by how much. `same`: both targets are the same
    binary with the same config, so that the change is chance, and has no causes. `same_config`, `same_build`: what the two have
    in common.
    """

    test: str
    target: str
    base: str
    metric: str
    ratio: float
    least: float | None
    causes: tuple[Cause, ...]
    same: bool = False
    same_config: bool = False
    same_build: bool = False

    @property
    def likely(self) -> tuple[Cause, ...]:
        """Those of which something shows that they acted."""
        return tuple(cause for cause in self.causes if not cause.is_weak)

    @property
    def explained(self) -> float | None:
        """The share of the change that causes explain whose share is known; None: of none it is."""
        tested = [cause.share for cause in self.causes if cause.tested and cause.share is not None]
        # functions have all of the CPU time between them, and waits all other time: what else has a share of it lies in them
        parts = (Kind.FUNCTION, Kind.WAIT)
        measured = [cause.share for cause in self.causes if cause.kind in parts and cause.share is not None]
        shares = tested or measured or [cause.share for cause in self.causes if cause.share is not None]
        return min(sum(shares), 1.0) if shares else None
