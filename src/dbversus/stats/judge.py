"""From stored results to findings, and to the tests that need no more blocks."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from dbversus.dbms.sizes import size_bytes
from dbversus.results.records import Experiment
from dbversus.results.stored import Results
from dbversus.results.tables.background import BACKGROUND_WORK, DRAINS
from dbversus.results.tables.counters import COUNTERS
from dbversus.results.tables.objects import OBJECTS
from dbversus.stats.across.clients import case_of, pooled_name
from dbversus.stats.across.contrast import over_first, over_first_margins, pooled, pooled_margins
from dbversus.stats.across.sizes import interaction_name, size_of
from dbversus.stats.judged import judged_metrics, judged_smooth, marked
from dbversus.stats.judging.looks import FEWEST_FRESH_BLOCKS
from dbversus.stats.judging.not_per_op import ahead_of, withhold_not_per_op
from dbversus.stats.judging.sequential import LOOKS
from dbversus.stats.judging.unpaid import withhold_unpaid
from dbversus.stats.judging.verdicts import assess, decided
from dbversus.stats.judging.whole_work import check_whole_work, judge_whole_work, undrained_keys, whole_work_values
from dbversus.stats.judging.within_start import add_within_start
from dbversus.stats.metrics import DRAIN, LOAD_TEST, METRICS, PERCENTILES, SMOOTH, metric_named
from dbversus.stats.model import CHANGES, BlockValue, Finding, Metric
from dbversus.stats.validity.drift import judge_steadiness, trend_values
from dbversus.stats.validity.idle import withhold_idle
from dbversus.stats.values.background_kinds import background_values
from dbversus.stats.values.blocks import block_values, load_values
from dbversus.stats.values.drain import drain_values
from dbversus.stats.values.finished import of_finished_blocks
from dbversus.stats.values.imported import imported_findings, is_imported
from dbversus.stats.values.levels import ratios_as_shares
from dbversus.stats.values.percentiles import Latencies, lacking_findings, latency_blocks, percentile_values
from dbversus.stats.values.server_counters import counter_values
from dbversus.stats.values.table import Key


@dataclass(frozen=True)
class Evidence:
    """Block values that bear verdicts: of rows, of all the work, and of trends within a block (stats/validity/drift.py).

    `undrained`: keys of which some of the work is not known.
    """

    rows: Sequence[BlockValue]
    whole: Sequence[BlockValue] = ()
    trends: Sequence[BlockValue] = ()
    undrained: Container[Key] = frozenset()


def judge(results: Results) -> list[Finding]:
    """Findings for all tests, targets and metrics of an experiment, with the looks, margins and judged metrics of its own.

    A block that was cut short does not count, as soon as two are finished.
    """
    if is_imported(results):
        return imported_findings(results)
    results = of_finished_blocks(results)
    latencies = latency_blocks(results)
    rows, metrics = _values(results, latencies)
    evidence = evidence_of(results, rows)
    findings = judge_evidence(evidence, metrics, looks_of(results.header), margins_of(results.header, results.tests))
    layout, base, slots = results.layout, results.base.label, results.slots
    if layout is None:
        return findings
    findings += lacking_findings(latencies, judged_metrics(results.header))
    findings = withhold_idle(findings, layout)
    findings = withhold_unpaid(findings, slots, base, results.rows(DRAINS), results.rows(OBJECTS))
    findings = withhold_not_per_op(findings, slots, base, ahead_of(_log_segments(results), results.rows(COUNTERS)))
    return add_within_start(ratios_as_shares(findings, slots, base), layout)


def evidence_of(results: Results, rows: Sequence[BlockValue]) -> Evidence:
    """`rows`, and beside them what else bears verdicts, where the base has slots."""
    layout = results.layout
    if layout is None:
        return Evidence(rows)
    whole = whole_work_values(layout, results.rows(DRAINS))
    return Evidence(rows, whole, trend_values(layout), undrained_keys(layout, results.rows(DRAINS)))


def judge_evidence(
    evidence: Evidence, metrics: Sequence[Metric], looks: tuple[int, ...], margins: Mapping[tuple[str, str], float]
) -> list[Finding]:
    """Findings of rows, held against all the work and against trends. `margins`: shares by test and metric.

    Raises as `assess`.
    """
    names = {metric.name for metric in SMOOTH}
    smooth = [metric for metric in metrics if metric.primary and metric.name in names]
    findings = assess(evidence.rows, metrics, looks, margins)
    whole = judge_whole_work(evidence.whole, looks, margins, smooth, evidence.undrained)
    return judge_steadiness(check_whole_work(findings, whole), evidence.trends, looks, whole, smooth)


def _values(results: Results, latencies: Latencies) -> tuple[list[BlockValue], tuple[Metric, ...]]:
    """Block values of all that was measured, and their metrics."""
    base = results.base.label
    labels = {target.name: target.label for target in results.targets}
    values = []
    if results.layout is not None:
        of_slots = [
            metric for metric in METRICS if LOAD_TEST not in metric.tests
        ]  # others are of a load that was done once
        values = [*block_values(results.layout, of_slots), *percentile_values(results, latencies)]
    counted, counters = counter_values(results.rows(COUNTERS), base)
    beside, kinds = background_values(results.rows(BACKGROUND_WORK), base)
    values = [
        *values,
        *([] if results.judges_load else load_values(results.loads, labels, base)),
        *drain_values(results.rows(DRAINS), base),
        *counted,
        *beside,
    ]
    return values, marked((*METRICS, *PERCENTILES, *DRAIN, *counters, *kinds), results.header)


def _log_segments(results: Results) -> dict[str, float]:
    """Label → bytes of a segment of the log, of servers that fill it before they use it."""
    found = {}
    for target in results.targets:
        settings = results.server_json(target, "settings.json")
        size = size_bytes(str(settings.get("wal_segment_size", "")))
        if size and settings.get("wal_init_zero") != "off":
            found[target.label] = size
    return found


def judged_values(results: Results) -> list[BlockValue]:
    """Block values of the metrics that make verdicts in this experiment; none where its base has no slots."""
    if results.layout is None:
        return []
    judged = judged_metrics(results.header)
    values = block_values(results.layout, judged)
    if all(metric.numerator for metric in judged):
        return values
    return [*values, *percentile_values(results, latency_blocks(results), judged)]


def looks_of(header: Experiment) -> tuple[int, ...]:
    """Numbers of blocks after which the experiment was judged."""
    return tuple(header.looks or LOOKS)


def judge_over_clients(results: Results) -> list[Finding]:
    """Findings over all numbers of clients together, of tests that then are called `scan@all`; empty with one number.

    They are a family of their own: what they say changes no other finding, and no test is retired for it.
    """
    results = of_finished_blocks(results)
    if results.layout is None or not any(case_of(test) for test in results.tests):
        return []
    looks, factor = looks_of(results.header), (case_of, pooled_name)
    margins = pooled_margins(margins_of(results.header, results.tests), *factor)
    findings = assess(pooled(judged_values(results), *factor), judged_metrics(results.header), looks, margins)
    work = pooled(whole_work_values(results.layout, results.rows(DRAINS)), *factor)
    whole = assess(work, judged_smooth(results.header), looks, margins)
    return check_whole_work(findings, {finding.key: finding for finding in whole})


def judge_over_sizes(results: Results) -> list[Finding]:
    """Whether target ÷ base depends on the size of the tables: findings of tests called `scan@10m/1m`; empty with one size.

    A regression is a target that loses more against the base with the larger size. They are a family of their own: what they
    say changes no other finding, and no test is retired for it.
    """
    results = of_finished_blocks(results)
    if results.layout is None or not any(size_of(test) for test in results.tests):
        return []
    factor = size_of, interaction_name
    margins = over_first_margins(margins_of(results.header, results.tests), *factor)
    values = over_first(judged_values(results), *factor)
    return assess(values, judged_metrics(results.header), looks_of(results.header), margins)


def margins_of(header: Experiment, tests: Sequence[str]) -> dict[tuple[str, str], float]:
    """Margins (shares) by test and metric that are not the defaults: those asked for, and wider ones of a calibration.

    A calibration widens a margin where equal targets were seen to differ by more; it narrows none.
    """
    margins = {(test, metric): share for test in tests for metric, share in header.margins.items()}
    for test, shares in header.test_margins.items():
        for metric, share in shares.items():
            least = header.margins.get(metric, metric_named(metric).margin)
            margins[test, metric] = max(share, least)
    return margins


def decided_tests(findings: Sequence[Finding]) -> set[str]:
    """Tests that are decided, and whose changes have been measured again."""
    unsettled = {
        finding.test
        for finding in findings
        if finding.judged and finding.verdict in CHANGES and finding.fresh_blocks < FEWEST_FRESH_BLOCKS
    }
    return decided(findings) - unsettled
