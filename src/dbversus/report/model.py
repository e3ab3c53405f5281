"""What the reports show, as plain data: every number with its unit, its interval and the count behind it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbversus.explain.cause import Explanation
from dbversus.explain.plan_diff import PlanDifference
from dbversus.explain.settings_diff import SettingDifference
from dbversus.report.section import Section
from dbversus.results.records import Experiment
from dbversus.results.stored import Target
from dbversus.stats.comparison import Comparison
from dbversus.stats.judged import judged_metrics
from dbversus.stats.model import Finding, Metric, Verdict
from dbversus.stats.validity.rates import Rate, spoiled_by_rates


@dataclass(frozen=True)
class Estimate:
    """A figure of one target: mean of `n` block values and its t interval at `confidence`; None: not known.

    Where there is no interval, the block values are between `least` and `most` (stats/means.py, `spread`). Latency percentiles
    are of all operations together, their interval from blocks.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    confidence: float = 0.95
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Figure:
    """One metric of one test: the estimate per target label, and the finding per candidate label where there is one."""

    metric: str
    title: str
    unit: str
    estimates: Mapping[str, Estimate]
    findings: Mapping[str, Finding]


@dataclass(frozen=True)
class LatencyFigures:
    """Response times of one target: percentile (e.g. 99.9) → estimate in µs; `curve` is (percentile, µs) pairs.

    `buckets`: operations in each of `figures.BUCKETS_US`, and in the last those that took longer.
    """

    count: int
    percentiles_us: Mapping[float, Estimate]
    curve: tuple[tuple[float, float], ...]
    max_us: float | None = None
    buckets: tuple[int, ...] = ()


@dataclass(frozen=True)
class RoleFigures:
    """What the clients of a role did on one target. None of what only roles with arrivals have, in a closed loop.

    `due_per_s`: operations that fell due; `late_share`: of those done, sent after their moment; `overdue_share`: of all that
    fell due, not sent at the end of their block.
    """

    ops_per_s: Estimate
    errors: int
    response: LatencyFigures | None
    service: LatencyFigures | None
    due_per_s: Estimate | None
    late_share: float | None
    overdue_share: float | None
    rate: Rate


@dataclass(frozen=True)
class RolePart:
    """A kind of clients of a test; figures by target label."""

    name: str
    targets: Mapping[str, RoleFigures]


def spoiled_labels(roles: Iterable[RolePart]) -> frozenset[str]:
    """Of targets on which figures of the test do not count, since a role missed its rate there."""
    return spoiled_by_rates({label: figures.rate for label, figures in part.targets.items()} for part in roles)


@dataclass(frozen=True)
class NotedComparison(Comparison):
    """With `notes`: why it has this verdict, and what changed beside that."""

    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SlotRatios:
    """Ratios of one candidate, ln(target/base) by metric and block: `ratios` of each row, in order; `blocks`: the values of which
    the shown ratio is a mean."""

    target: str
    ratios: Mapping[str, Mapping[int, tuple[float, ...]]]
    blocks: Mapping[str, Mapping[int, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Disturber:
    """What disturbed `rows`; `cores` that it took in them, on average. None: not counted in cores."""

    what: str
    rows: int
    cores: float | None


@dataclass(frozen=True)
class Disturbance:
    """What the host did meanwhile. All rows count; `disturbed` are those in which others took more than the limits.

    Each of these has one cause. `foreign_cpu_share`, `steal_share`: what other processes used, and the hypervisor took, of
    one core, on average over all rows.
    """

    rows: int
    disturbed: int
    causes: tuple[Disturber, ...]
    foreign_cpu_share: float | None
    steal_share: float | None

    @property
    def disturbed_share(self) -> float:
        return self.disturbed / self.rows if self.rows else 0.0


@dataclass(frozen=True)
class Waits:
    """Before how many blocks a quiet host was waited for, how long in all, and how often in vain."""

    blocks: int = 0
    seconds: float = 0.0
    in_vain: int = 0


@dataclass(frozen=True)
class Second:
    """A second of a target's driven time, `at_s` from the beginning of the test; `rate` per second, in the unit of its course.

    `slowest_ms`: None where nothing ended in it.
    """

    at_s: float
    rate: float
    slowest_ms: float | None


@dataclass(frozen=True)
class Course:
    """Seconds of a test that lasts, or of one of its roles, by label of target; `role` is empty for the whole test."""

    role: str
    unit: str
    targets: Mapping[str, tuple[Second, ...]]


@dataclass(frozen=True)
class ServerEvent:
    """What a server did of its own accord: from `at_s` of driven time on, `driven_s` of it; `took_s`: of wall time, if known.

    `placed`: `driven`, or at which edge of the test or of its slices it stands.
    """

    target: str
    what: str
    at_s: float
    driven_s: float
    took_s: float | None
    placed: str
    words: str


@dataclass(frozen=True)
class StatementPart:
    """One statement of a test. `sql`: title of a DBMS → text, `""` → the text of all. `plans`: labels of targets, their plan."""

    name: str
    sql: Mapping[str, str]
    plans: tuple[tuple[tuple[str, ...], str], ...]


@dataclass(frozen=True)
class TestPart:
    """Everything about one test. `courses`: seconds of its first block, where it lasts, and `events`: what servers did in that
    block; the worst of all its seconds stand in the notes too."""

    __test__ = False  # pytest would take it for a class of tests

    name: str
    group: str
    how: str
    comparisons: tuple[NotedComparison, ...]
    figures: tuple[Figure, ...]
    latency: Mapping[str, LatencyFigures]
    slots: tuple[SlotRatios, ...]
    disturbance: Disturbance
    plans: tuple[PlanDifference, ...]
    notes: tuple[str, ...]
    roles: tuple[RolePart, ...] = ()
    courses: tuple[Course, ...] = ()
    events: tuple[ServerEvent, ...] = ()
    worst_seconds: tuple[str, ...] = ()
    statements: tuple[StatementPart, ...] = ()
    explanations: tuple[Explanation, ...] = ()

    @property
    def sla_failed(self) -> frozenset[str]:
        """Labels of targets on which a role missed its SLA beside a closed loop: the test's figures there do not count."""
        return spoiled_labels(self.roles)


@dataclass(frozen=True)
class LoadFigure:
    """Loading one table, or all copies of it, on one target, at `loaded_at` (ISO 8601); `earlier`: for an earlier experiment,
    or an earlier part.

    `shares`: label of the target that loaded the data; then there are no figures of this target's own. The ratios are
    target/base, without intervals: data is loaded once. `note`: what they have to be read with.
    """

    target: str
    table: str
    earlier: bool
    loaded_at: str | None = None
    shares: str | None = None
    rows: int | None = None
    rows_per_s: float | None = None
    seconds: float | None = None
    server_cpu_us_per_row: float | None = None
    rate_ratio: float | None = None
    cpu_ratio: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Failure:
    """Something that went wrong, in the server's own words; `final`: the target was out from there on."""

    target: str
    stage: str
    where: str
    message: str
    final: bool


@dataclass(frozen=True)
class TargetFacts:
    """What is known of a target's build and server. `change_counts`: verdict → number of tests (empty for the base)."""

    target: Target
    build: Mapping[str, Any]
    config_text: str
    log_tail: str
    sizes: Mapping[str, Any]
    verdict_counts: Mapping[Verdict, int]
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class StepCell:
    """One target in one step. `rate`: in the unit of the step; `inserts_per_s`: rows that come while queries are run.

    `finding`: of throughput against the base; None for the base. `sla_failed`: the rate does not count.
    """

    rate: Estimate
    inserts_per_s: Estimate | None = None
    finding: Finding | None = None
    sla_failed: bool = False


@dataclass(frozen=True)
class Step:
    """One step, `cells` by target label. `title`: what it does, where that is stored.

    `target_per_s`: inserted rows that were asked for beside queries, `sla` the share of them that is enough.
    """

    name: str
    unit: str
    cells: Mapping[str, StepCell]
    target_per_s: float | None = None
    sla: float | None = None
    title: str = ""


@dataclass(frozen=True)
class StepsPart:
    """All steps in order, and of each and every target a line of figures; `columns`: their names → what they are."""

    steps: tuple[Step, ...]
    lines: tuple[Mapping[str, Any], ...]
    columns: Mapping[str, str]


@dataclass(frozen=True)
class LayoutTest:
    """One test in the columns and units of the reference's files. `name`: as these call it, without clients.

    `figures`: label → column → value. What is not known has no entry. `of_rows`: its operation is the reading of a row.
    """

    name: str
    clients: int | None
    figures: Mapping[str, Mapping[str, float]]
    of_rows: bool = False


@dataclass(frozen=True)
class LayoutPart:
    """What the reference's summaries show. `targets`: label → build and config, as its files name them; the base is the first.

    `dbms`: those of the targets. `tests`: with hardware per operation, the load first. `steps`: with the columns of the
    Insert Benchmark. `imported`: figures and names are those of the files that were read.
    """

    targets: Mapping[str, str]
    dbms: frozenset[str]
    tests: tuple[LayoutTest, ...]
    steps: tuple[LayoutTest, ...]
    imported: bool = False

    @property
    def folders(self) -> Mapping[str, str]:
        """Label → the folder of its run, by which summaries of sysbench name a target: `x.pg1110.x5.pk1`."""
        return self.targets if self.imported else {label: f"x.{name}.pk1" for label, name in self.targets.items()}


@dataclass(frozen=True)
class Ending:
    """The exit status that was asked for by --fail-on and --require-verdicts, and why it is not 0."""

    status: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Assessment:
    """All that any report shows of one experiment. `targets[0]` is the base.


    `over_clients`: verdicts over all numbers of clients; `steps`: where tests are steps. `layouts`: figures for the reference's
    summaries.
    `outcome`: how it ended, unless it ran in one go and as planned. `data_state`: whether the data was the same at the start of
    all blocks. `chosen_base`: what a reader has to know where the base is not the
    experiment's own (`report --base`). `code_layout`: what has to be known where builds differ in code. `other_indexes`: tests
    in which targets read by different ones. `sections`: what formats show of all else (sections/registry.py). `directory`: the
    name of the results directory, without
    where it lies.
    """

    title: str
    directory: str
    header: Experiment
    sentences: tuple[str, ...]
    outcome: str
    blocks: int
    targets: tuple[TargetFacts, ...]
    tests: tuple[TestPart, ...]
    findings: tuple[Finding, ...]
    loads: tuple[LoadFigure, ...]
    failures: tuple[Failure, ...]
    settings: tuple[SettingDifference, ...]
    plans: tuple[PlanDifference, ...]
    other_indexes: tuple[str, ...]
    disturbance: Disturbance
    host: Mapping[str, Any]
    not_measured: tuple[str, ...]
    calibration: str
    command: str
    over_clients: tuple[Comparison, ...] = field(default=(), kw_only=True)
    steps: StepsPart | None = field(default=None, kw_only=True)
    layouts: LayoutPart | None = field(default=None, kw_only=True)
    data_state: tuple[str, ...] = field(default=(), kw_only=True)
    waits: Waits = field(default=Waits(), kw_only=True)
    chosen_base: tuple[str, ...] = field(default=(), kw_only=True)
    code_layout: str = field(default="", kw_only=True)
    ending: Ending | None = field(default=None, kw_only=True)
    since: tuple[str, ...] = field(default=(), kw_only=True)
    sections: tuple[Section, ...] = field(default=(), kw_only=True)

    @property
    def base(self) -> Target:
        return self.targets[0].target

    @property
    def of_one_target(self) -> str:
        """What has to be said where there are no candidates."""
        if any(section.name == "forms" for section in self.sections):
            return "One target was measured; forms of its statements are compared with each other."
        return "One target was measured, so there is nothing to compare."

    @property
    def label(self) -> str:
        """What the experiment is called; empty where it has no name."""
        return self.header.spec.get("label") or ""

    @property
    def judged(self) -> tuple[Metric, ...]:
        """The metrics that make verdicts."""
        return judged_metrics(self.header)

    @property
    def candidates(self) -> tuple[TargetFacts, ...]:
        return self.targets[1:]

    @property
    def comparisons(self) -> tuple[NotedComparison, ...]:
        return tuple(comparison for test in self.tests for comparison in test.comparisons)

    @property
    def explanations(self) -> tuple[Explanation, ...]:
        return tuple(one for test in self.tests for one in test.explanations)

    @property
    def tells_why(self) -> bool:
        """Whether a cause of any change is known, so that verdicts have one in their line."""
        return any(one.likely or one.same for one in self.explanations)

    def explanation(self, test: str, target: str) -> Explanation | None:
        return next((one for one in self.explanations if (one.test, one.target) == (test, target)), None)
