"""Verdicts on the judged metrics, and what servers did after the tests."""

from dbversus.report.assessment import query
from dbversus.report.views.registry import Shown
from dbversus.results.stored import Results

_SQL = (
    "SELECT test, target, metric, verdict, ratio, low, high, least, most, blocks, smallest_visible_change "
    "FROM findings WHERE judged OR metric = 'drain_cpu_us_per_op'"
)


def show(results: Results) -> Shown:
    [(columns, rows)] = query(results, _SQL)
    return Shown(columns, rows)
