"""Verdicts on the judged metrics, and what servers did after the tests."""

from dbversus.report.judged import Judged
from dbversus.report.section import Section
from dbversus.report.table import Column, Table
from dbversus.stats.judge import judge_over_clients, judge_over_sizes
from dbversus.stats.metrics import DRAIN_CPU

_NAMES = (
    "test",
    "target",
    "metric",
    "verdict",
    "ratio",
    "low",
    "high",
    "least",
    "most",
    "blocks",
    "smallest_visible_change",
)


def asked(judged: Judged) -> Section:
    """A line per finding, over all numbers of clients and sizes of tables too."""
    findings = [*judged.findings, *judge_over_clients(judged.results), *judge_over_sizes(judged.results)]
    rows = [[getattr(one, name) for name in _NAMES] for one in findings if one.judged or one.metric == DRAIN_CPU]
    return Section(title="Findings", data=[Table(list(map(Column, _NAMES)), rows)], is_exact=True)
