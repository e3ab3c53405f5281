"""Figures of a calibration: how often the protocol is right on one host, and what its noise is made of."""

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from dbversus.stats.judgeable import CPU, IO_BYTES, THROUGHPUT

FEWEST_BLOCKS = 3


class Part(BaseModel):
    """Unknown fields are left aside, so that a later dbversus may add some within the same schema version."""

    model_config = ConfigDict(frozen=True, validate_by_name=True, validate_by_alias=True)


class Share(Part):
    """A share of `count` draws with its 95 % interval, which allows for suites that are drawn from the same blocks."""

    share: float
    low: float
    high: float
    count: int


class Detection(Part):
    """How often a growth of one metric by `effect` (a share) in one test is found; `by_test`: its share there."""

    effect: float
    found: Share
    by_test: dict[str, float]


class BurstDetection(Detection):
    """The same of bursts, `ms` of every `every_ms` of the server's work; `effect`: what they truly added in the mean.

    `measured`: as a share, what all the work of those `blocks_with` blocks of tests showed of it in the mean.
    """

    ms: float
    every_ms: float
    measured: float
    blocks_with: int


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

    `equivalent`, `undecided`: shares of the findings of equal tests. `coverage`: shares of shown intervals that hold the truth,
    `coverage_by_look` of tests that stopped after so many blocks (empty in older calibrations). `median_blocks`: blocks until
    a test is settled, `never_settled`: share of tests that are not at the last look.
    `injected`: detection is from residuals of a target into which CPU was injected; else the change is added to equal ones.
    `bursts`: None where none were injected.
    `alarmed`: tests that raised false alarms, with the share of suites. `disturbed`: share of rows in which other work took part
    of the host.
    `order_bias`: of targets that come later in their rows, `start_bias`: of servers that are started first in their block
    (empty in calibrations that were evaluated before this was looked at).
    `metrics` made the verdicts; `changed` is the one that detection is of.
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
    coverage_by_look: dict[int, Share] = {}
    median_blocks: float
    never_settled: float
    disturbed: float = Field(validation_alias=AliasChoices("disturbed", "dropped"))  # the name it had at first
    detection: list[Detection]
    bursts: BurstDetection | None = None
    injected: bool
    recovery: Recovery | None
    spreads: list[Spread]
    order_bias: list[OrderBias]
    start_bias: list[OrderBias] = []
    uniformity: list[Uniformity]
    changed_as_measured: list[str] | None = None
    metrics: list[str] = [CPU, THROUGHPUT, IO_BYTES]
    changed: str = CPU

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
