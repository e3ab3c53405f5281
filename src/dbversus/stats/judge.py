"""From stored results to findings, and to the tests that need no more blocks."""

from collections.abc import Sequence

from dbversus.results.read import Results
from dbversus.stats.blocks import block_values, load_values
from dbversus.stats.drain import drain_values
from dbversus.stats.metrics import DRAIN, METRICS
from dbversus.stats.model import BlockValue, Finding, Verdict
from dbversus.stats.sequential import LOOKS
from dbversus.stats.server_counters import counter_values
from dbversus.stats.verdicts import FEWEST_FRESH_BLOCKS, assess, decided

_CHANGES = (Verdict.REGRESSION, Verdict.IMPROVEMENT)


def judge(results: Results) -> list[Finding]:
    """Findings for all tests, targets and metrics of an experiment, with the looks and margins that it was run with."""
    base = results.base.label
    values: list[BlockValue] = []
    if base in results.slots["target"]:
        values += block_values(results.slots, base)
    labels = {target.name: target.label for target in results.targets}
    values += load_values(results.loads, labels, base)
    counted, counter_metrics = counter_values(results.of_type("counters"), labels, results.base.name)
    values += drain_values(results.drains, base)
    margins = results.header.get("margins") or {}
    by_test = {(test, metric): share for test in results.tests for metric, share in margins.items()}
    metrics = (*METRICS, *DRAIN, *counter_metrics)
    return assess(values + counted, metrics, tuple(results.header.get("looks") or LOOKS), by_test)


def settled_tests(findings: Sequence[Finding]) -> set[str]:
    """Tests that are decided, and whose changes have been measured again in fresh blocks.

    An invalid test is not settled: blocks in which the host is quieter may yet make it valid.
    """
    unsettled = {
        finding.test
        for finding in findings
        if _is_primary(finding)
        and (
            finding.verdict is Verdict.INVALID
            or (finding.verdict in _CHANGES and finding.fresh_blocks < FEWEST_FRESH_BLOCKS)
        )
    }
    return decided(findings) - unsettled


def _is_primary(finding: Finding) -> bool:
    return any(metric.primary and metric.name == finding.metric for metric in METRICS)
