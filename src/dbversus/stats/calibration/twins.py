"""Block values of equal targets, read from the results of a calibration: what all its figures are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbversus.errors import UsageError
from dbversus.results.layout import Layout
from dbversus.results.records import Injected as InjectedRecord
from dbversus.results.schema import is_load
from dbversus.results.stored import Results, Target
from dbversus.results.tables.background import DRAINS
from dbversus.stats.calibration.model import FEWEST_BLOCKS
from dbversus.stats.judge import judged_values
from dbversus.stats.judged import judged_metrics
from dbversus.stats.judging.whole_work import whole_work_values
from dbversus.stats.metrics import CPU, IO_BYTES, PRIMARY, metric_named
from dbversus.stats.model import BlockValue, Metric
from dbversus.stats.simulation.injected import true_log_ratios
from dbversus.stats.values.blocks import block_values
from dbversus.stats.values.finished import finished_blocks

TestBlock = tuple[str, int]


@dataclass(frozen=True)
class Injected:
    """A metric of the target that was slowed down: ln(target/base) as measured, and as truly injected."""

    measured: float
    truth: float

    @property
    def residual(self) -> float:
        return self.measured - self.truth


@dataclass(frozen=True)
class Bursts:
    """What was injected in bursts, `ms` of every `every_ms` of the server's work, in the blocks `where` it was."""

    ms: float
    every_ms: float
    where: frozenset[TestBlock]


@dataclass(frozen=True)
class Twins:
    """`values`: `metrics`, those that the calibration judges, of the base's twin in finished `blocks`; `whole`: CPU per op and
    throughput of all its work.

    `injected`: by test and block, of the `injected_metric`, without bursts; empty without any. `whole_injected`: CPU per op of
    all the work, whichever way it was injected. `bursts`: None where nothing was injected in bursts. `changed`: the metric in
    which virtual suites have a change.
    """

    base: Target
    twin: Target
    tests: tuple[str, ...]
    blocks: tuple[int, ...]
    values: tuple[BlockValue, ...]
    injected_metric: str
    injected: Mapping[TestBlock, Injected]
    metrics: tuple[Metric, ...] = PRIMARY
    whole: tuple[BlockValue, ...] = ()
    whole_injected: Mapping[TestBlock, Injected] = field(default_factory=dict)
    bursts: Bursts | None = None

    @property
    def changed(self) -> str:
        """CPU per op, or where that is not judged the first that is."""
        return CPU if any(metric.name == CPU for metric in self.metrics) else self.metrics[0].name

    @property
    def slowed_down(self) -> Mapping[TestBlock, Injected]:
        """`injected` where it is of the changed metric, so that changes can be made of it."""
        return self.injected if self.injected_metric == self.changed == CPU else {}


def read_twins(results: Results) -> Twins:
    """Raises UsageError when `results` are not those of a calibration, or have too few finished blocks."""
    base, twin = _pair(results)
    finished = finished_blocks(results)
    if len(finished) < FEWEST_BLOCKS:
        raise UsageError(
            f"{results.directory} has {len(finished)} finished blocks; a calibration needs {FEWEST_BLOCKS} or more "
            f"(`dbversus resume {results.directory}` goes on with it)."
        )
    values = tuple(value for value in judged_values(results) if value.block in finished and value.target == twin.label)
    with_values = {value.test for value in values if value.value is not None}
    tests = tuple(test for test in results.tests if test in with_values and not is_load(test))
    layout = results.layout
    if not tests or layout is None:
        why = "the host was disturbed in all of them; calibrate while it is quiet"
        if not any(metric.numerator for metric in judged_metrics(results.header)):
            why = "too few operations in a block for the percentiles that are judged, or the host was disturbed in all of them"
        raise UsageError(
            f"{results.directory} has no test in which rows of both {base.label} and {twin.label} could be used: {why}."
        )
    metric, bursts = _injected_metric(results), _bursts(results)
    in_bursts = bursts.where if bursts else frozenset()
    slowed = [each for each in block_values(layout, [metric_named(metric)]) if each.block in finished]
    by_rows = {place: one for place, one in _injected(results, slowed, metric).items() if place not in in_bursts}
    whole = [each for each in whole_work_values(layout, results.rows(DRAINS)) if each.block in finished]
    return Twins(
        base=base,
        twin=twin,
        tests=tests,
        blocks=tuple(sorted(finished)),
        values=values,
        injected_metric=metric,
        injected=by_rows,
        metrics=judged_metrics(results.header),
        whole=tuple(value for value in whole if value.target == twin.label),
        whole_injected=_whole_injected(results, layout, finished) if metric == CPU else {},
        bursts=bursts,
    )


def _pair(results: Results) -> tuple[Target, Target]:
    """The base and the target that must be its equal."""
    if len(results.targets) > 1:
        base, twin = results.targets[:2]
        if _kind(base) == _kind(twin) and twin.label not in _injected_labels(results):
            return base, twin
    labels = ", ".join(target.label for target in results.targets)
    raise UsageError(
        f"{results.directory} is no calibration: its first two targets must be the same build and config, and are {labels}; "
        "results of `dbversus calibrate` are accepted."
    )


def _kind(target: Target) -> tuple[str, ...]:
    return target.dbms, target.version, target.config, target.written


def _injected_labels(results: Results) -> set[str]:
    return {results.label(name) for record in results.of_type(InjectedRecord) for name in _slowed(record)}


def _slowed(record: InjectedRecord) -> list[str]:
    return [name for name, work in record.targets.items() if work.cpu_share or work.io_share]


def _injected_metric(results: Results) -> str:
    """IO bytes per operation where these alone were added."""
    works = [work for record in results.of_type(InjectedRecord) for work in record.targets.values()]
    added = {kind for work in works for kind in ("cpu_share", "io_share") if getattr(work, kind)}
    return IO_BYTES if added == {"io_share"} else CPU


def _bursts(results: Results) -> Bursts | None:
    """All of one kind, as a calibration's are."""
    lengths: dict[TestBlock, tuple[float, float]] = {}
    for record in results.of_type(InjectedRecord):
        for work in record.targets.values():
            if work.cpu_ms and work.cpu_every_ms:
                lengths[record.test, record.block] = work.cpu_ms, work.cpu_every_ms
    return Bursts(*next(iter(lengths.values())), frozenset(lengths)) if lengths else None


def _whole_injected(results: Results, layout: Layout, finished: set[int]) -> dict[TestBlock, Injected]:
    """Without what was left to do after tests, since the truth is that of slots."""
    values = whole_work_values(layout, ())
    return _injected(results, [value for value in values if value.block in finished], CPU)


def _injected(results: Results, measured: Sequence[BlockValue], metric: str) -> dict[TestBlock, Injected]:
    slowed = _injected_labels(results)
    truths = true_log_ratios(results, metric) if slowed else {}
    return {
        (value.test, value.block): Injected(value.value, truths[value.test, value.target, value.block])
        for value in measured
        if value.metric == metric
        and value.value is not None
        and value.target in slowed
        and (value.test, value.target, value.block) in truths
    }
