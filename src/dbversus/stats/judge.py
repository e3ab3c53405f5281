"""From stored results to findings, and to the tests that need no more blocks."""

from collections.abc import Sequence

from dbversus.results.read import Results
from dbversus.stats.blocks import block_values, load_values
from dbversus.stats.metrics import METRICS
from dbversus.stats.model import BlockValue, Finding, Verdict
from dbversus.stats.sequential import LOOKS
from dbversus.stats.verdicts import FEWEST_FRESH_BLOCKS, assess, decided

_CHANGES = (Verdict.REGRESSION, Verdict.IMPROVEMENT)


def judge(results: Results) -> list[Finding]:
    """Findings for all tests, targets and metrics of an experiment, with the looks and margins that it was run with."""
    base = results.base.label
    values: list[BlockValue] = []
    if base in results.slots["target"]:
        values += block_values(results.slots, base)
    values += load_values(results.loads, {target.name: target.label for target in results.targets}, base)
    margins = results.header.get("margins") or {}
    by_test = {(test, metric): share for test in results.tests for metric, share in margins.items()}
    return assess(values, METRICS, tuple(results.header.get("looks") or LOOKS), by_test)


def settled_tests(findings: Sequence[Finding]) -> set[str]:
    """Tests that are decided, and whose changes have been measured again in fresh blocks."""
    unconfirmed = {
        finding.test
        for finding in findings
        if finding.verdict in _CHANGES and finding.fresh_blocks < FEWEST_FRESH_BLOCKS and _is_primary(finding)
    }
    return decided(findings) - unconfirmed


def _is_primary(finding: Finding) -> bool:
    return any(metric.primary and metric.name == finding.metric for metric in METRICS)
