"""Figures of a calibration: how often the protocol is right on one host, and what its noise is made of."""

from pydantic import BaseModel, ConfigDict

from dbversus.stats.metrics import CPU

FEWEST_BLOCKS = 3


class Part(BaseModel):
    """Unknown fields are left aside, so that a later dbversus may add some within the same schema version."""

    model_config = ConfigDict(frozen=True)


class Share(Part):
    """A share of `count` draws, with the 95 % Clopper-Pearson interval that the drawing alone gives it."""

    share: float
    low: float
    high: float
    count: int


class Detection(Part):
    """How often a change of CPU per op by `effect` (a share) in one test is called a regression; `by_test`: its share there."""

    effect: float
    found: Share
    by_test: dict[str, float]


class Recovery(Part):
    """Slope of the measured ln ratio of a metric on the ln ratio that was truly injected, with its 95 % interval; 1 is right.

    `offset`: ln ratio measured where nothing was injected. `values` of `blocks` blocks, the clusters of the interval.
    """

    metric: str = CPU
    slope: float
    low: float
    high: float
    offset: float
    values: int
    blocks: int


class Spread(Part):
    """What one metric of one test varies by between two equal targets; None: not known, or nothing to compare.

    Standard deviations of ln ratio: `pair_sd` of single rows within a block, `block_sd` of block values. The latter's
    parts: `between_sd` differs from start to start, `within_sd` is left of the rows' own. `p_value`: of no difference in all
    blocks. `margin`: a share; differences of equal targets stay well under it.
    """

    test: str
    metric: str
    blocks: int
    pair_sd: float | None
    block_sd: float | None
    between_sd: float | None
    within_sd: float | None
    p_value: float | None
    margin: float
    default_margin: float


class OrderBias(Part):
    """By how much (ln ratio) a target has more of a metric for its place in an order; `test` empty: mean over all tests."""

    test: str
    metric: str
    bias: float
    low: float | None
    high: float | None


class Uniformity(Part):
    """Kolmogorov-Smirnov test of the p-values of equal tests against the uniform distribution."""

    metric: str
    tests: int
    p_value: float


class Figures(Part):
    """All of it. `suites` virtual suites of `blocks` measured blocks, judged at `looks`.

    `equivalent`, `undecided`: shares of the findings of equal tests. `coverage`: shares of shown intervals that hold the
    truth. `median_blocks`: blocks until a test is settled, `never_settled`: share of tests that are not at the last look.
    `injected`: detection is from residuals of a target into which CPU was injected; else the change is added to equal ones.
    `alarmed`: tests that raised false alarms, with the share of suites. `dropped`: share of rows that were disturbed.
    `order_bias`: of targets that come later in their rows, `start_bias`: of servers that are started first in their block
    (empty in calibrations that were evaluated before this was looked at).
    `changed_as_measured`: tests that an experiment of the first blocks, as they were measured, calls changed by the default
    margins; None in calibrations that were evaluated before this was looked at.
    """

    tests: list[str]
    blocks: int
    looks: list[int]
    suites: int
    false_alarms: Share
    alarmed: dict[str, float]
    equivalent: float
    undecided: float
    coverage: Share | None
    median_blocks: float
    never_settled: float
    dropped: float
    detection: list[Detection]
    injected: bool
    recovery: Recovery | None
    spreads: list[Spread]
    order_bias: list[OrderBias]
    start_bias: list[OrderBias] = []
    uniformity: list[Uniformity]
    changed_as_measured: list[str] | None = None

    @property
    def real_suites(self) -> float:
        """How many suites without a block in common the measured blocks come to: what the draws cannot go beyond."""
        return self.blocks / self.looks[-1]

    def margins_above_default(self) -> dict[str, dict[str, float]]:
        """Test → metric → margin, of those that this host's noise widens."""
        wider: dict[str, dict[str, float]] = {}
        for spread in self.spreads:
            if spread.margin > spread.default_margin:
                wider.setdefault(spread.test, {})[spread.metric] = spread.margin
        return wider
