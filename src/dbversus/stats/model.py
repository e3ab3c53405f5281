"""Words and figures of a verdict (docs/protocol.md)."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    EQUIVALENT = "equivalent"
    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    UNDECIDED = "undecided"
    UNSTABLE = "unstable"
    INVALID = "invalid"
    WRONG_RESULT = "wrong result"
    FAILED = "failed"


@dataclass(frozen=True)
class Metric:
    """A figure per test. `higher_is_better` gives a change its sign; `margin` is δ as a share (0.03 = 3 %)."""

    name: str
    title: str
    unit: str
    higher_is_better: bool
    primary: bool
    margin: float


@dataclass(frozen=True)
class BlockValue:
    """ln(target/base) of one metric of one test in one block; the unit of replication.

    `rows` same-row pairs went in, `dropped` rows were dropped as disturbed. `value` None: nothing to compare in both (0/0).
    """

    test: str
    target: str
    metric: str
    block: int
    value: float | None
    rows: int
    dropped: int = 0


@dataclass(frozen=True)
class Finding:
    """What is known of one test × target × metric after the blocks at hand. Ratios are target/base; None: no data."""

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
