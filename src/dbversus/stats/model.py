"""Words and figures of a verdict (docs/protocol.md)."""

from dataclasses import dataclass
from enum import StrEnum
from math import log, log1p


class Verdict(StrEnum):
    EQUIVALENT = "equivalent"
    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    SMALL_CHANGE = "small change"
    NO_STEADY_STATE = "no steady state"
    UNDECIDED = "undecided"
    UNSTABLE = "unstable"
    NOT_REPLICATED = "not replicated"
    SLA_FAILED = "SLA failed"
    WRONG_RESULT = "wrong result"
    FAILED = "failed"


CHANGES = (Verdict.REGRESSION, Verdict.IMPROVEMENT)
DIFFERS = (*CHANGES, Verdict.SMALL_CHANGE)
"""Shown to differ: the interval excludes no change."""
WITHIN = (Verdict.EQUIVALENT, Verdict.SMALL_CHANGE)
"""The whole interval lies inside the margin."""
DECIDED = (*WITHIN, *CHANGES)
"""Verdicts that more blocks need not change."""
SPOILT = (Verdict.SLA_FAILED, Verdict.WRONG_RESULT, Verdict.FAILED)
"""Of tests whose figures do not count."""
SIZE_OPEN = "it differs, whether by little is open"
"""Note of what is undecided for its size alone: its interval reaches over the margin, its estimate is not far enough from 1."""
TOO_LITTLE = "too little happened to tell"
"""Note of a ratio whose interval would say nothing (stats/means.py, `spread`)."""
MOVED = "during the slots of a block"
"""In the note of what drifted (stats/validity/drift.py)."""
IDLE = "a target did nothing at all"
"""In the note of what is undecided for that (stats/validity/idle.py)."""
UNSETTLED = "a longer run may differ"
"""In the note of a gain of who put off most of its writes, and of a change of IO that these (stats/judging/unpaid.py), or a file
made ready ahead (not_per_op.py), could undo."""
BY_THE_CLOCK = "what a server does by the clock"
"""In the note of a change of IO that is none of the operations (stats/judging/not_per_op.py)."""


@dataclass(frozen=True)
class Metric:
    """A figure per test. `higher_is_better` gives a change its sign; `margin` is δ as a share (0.03 = 3 %).

    `primary`: it makes verdicts, unless the experiment chooses others (stats/judged.py); else it is exploratory.

    Its value in a slot is sum(numerator columns) / denominator column × scale; without a denominator, the sum × scale.
    A `pooled` metric comes in lumps, so its sums over a block are compared instead of single slots; values under
    `floor` (in `unit`) count as nothing, and in tests that change no data also those under what `rate_floor` per second of
    measured time comes to. `tests` names the only tests that have this metric; empty: all.
    """

    name: str
    title: str
    unit: str
    higher_is_better: bool
    primary: bool
    margin: float
    numerator: tuple[str, ...] = ()
    denominator: str = ""
    scale: float = 1.0
    pooled: bool = False
    floor: float = 0.0
    rate_floor: float = 0.0
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class BlockValue:
    """ln(target/base) of one metric of one test in one block; the unit of replication.

    `rows` same-row pairs went in (of targets measured one after the other: slots, of the one that has fewer), `disturbed` of
    them while other work took part of the host. `error`: the standard error that the rows alone give the value; None: they do
    not tell. `value` None: nothing to compare in both (0/0).
    """

    test: str
    target: str
    metric: str
    block: int
    value: float | None
    rows: int
    disturbed: int = 0
    error: float | None = None


@dataclass(frozen=True)
class Finding:
    """What is known of one test × target × metric after the blocks at hand. Ratios are target/base; None: no data.

    `low` and `high` bound the ratio at `confidence`; where there is no interval, its blocks are between `least` and `most`
    (stats/means.py, `spread`). `q_value` is adjusted for family and looks: 0.05 decides.
    `smallest_visible_change` is a share found with 90 % power with these blocks, `visible_at_last` with those of the last
    look; `block_sd` is that of ln(target/base), as measured, `degrees_of_freedom` those of the moderated interval. A change is
    `found_at` the number of the first block that had no part in finding it; there are `fresh_blocks` from there on.
    `whole_work` is the verdict of all work of the blocks together, where it counts: without a steady state, or where it shows a
    change that the rows do not, when ratio, interval and p-value are of that work; or where it speaks against the rows (changed
    the other way, or equivalent while it is not certain), so that nothing is decided.
    `start_low` and `start_high`: with one block, the 95 % interval within that one start of the servers.
    `judged`: the metric makes verdicts in this experiment; else it is exploratory. With fewer blocks than the `first_look` has,
    there is no verdict. `higher_is_better`: as that of its metric.
    """

    test: str
    target: str
    metric: str
    verdict: Verdict
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float
    blocks: int
    p_value: float | None
    q_value: float | None
    margin: float
    smallest_visible_change: float | None
    block_sd: float | None
    degrees_of_freedom: float | None
    fresh_blocks: int = 0
    note: str = ""
    found_at: int | None = None
    whole_work: Verdict | None = None
    start_low: float | None = None
    start_high: float | None = None
    judged: bool = True
    visible_at_last: float | None = None
    least: float | None = None
    most: float | None = None
    first_look: int = 0
    higher_is_better: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """(test, target, metric)"""
        return self.test, self.target, self.metric

    @property
    def counted(self) -> Verdict:
        """Its verdict; without a steady state, that of all its work, where there is any."""
        return self.whole_work or self.verdict if self.verdict is Verdict.NO_STEADY_STATE else self.verdict

    @property
    def is_worse(self) -> bool:
        """Whether it is shown to be worse than the base, if only a little."""
        if self.counted is Verdict.SMALL_CHANGE and self.ratio:
            return (self.ratio > 1) != self.higher_is_better
        return self.counted is Verdict.REGRESSION

    @property
    def least_change(self) -> float | None:
        """Of a change, the end of the interval that is nearer to no change: it is one of at least that."""
        if self.counted not in CHANGES or self.ratio is None:
            return None
        return self.low if self.ratio > 1 else self.high

    @property
    def is_out_of_reach(self) -> bool:
        """Whether the last look is unlikely to settle it: it varies too much to be called equivalent then, and the smallest
        change that would be found then is more than three times the estimate (docs/evidence/looks.md)."""
        if (
            self.verdict is not Verdict.UNSTABLE
            or self.found_at is not None
            or not (self.ratio and self.visible_at_last)
        ):
            return False
        return 3 * abs(log(self.ratio)) < log1p(self.visible_at_last)

    @property
    def is_unpaid(self) -> bool:
        """Whether its verdict is withheld for writes that are not its operations' own: more blocks do not change that."""
        said = (UNSETTLED, BY_THE_CLOCK)
        return self.verdict is Verdict.UNDECIDED and any(words in self.note for words in said)

    @property
    def is_shown(self) -> bool:
        """Whether it is a change; of runs without blocks, which show nothing, whether it is more than the margin."""
        if self.verdict is Verdict.NOT_REPLICATED and self.ratio:
            return max(self.ratio, 1 / self.ratio) > 1 + self.margin
        return self.counted in CHANGES

    @property
    def before_first_look(self) -> str:
        """`2 of 4 blocks`, where there are too few of them for a verdict; else empty."""
        return f"{self.blocks} of {self.first_look} blocks" if 0 < self.blocks < self.first_look else ""

    @property
    def lacks_operations(self) -> bool:
        """Whether all it says is that too few operations were measured to judge a percentile (stats/values/percentiles.py)."""
        return not self.judged and self.blocks == 0 and self.verdict is Verdict.UNDECIDED
