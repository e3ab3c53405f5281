"""report.csv: the verdicts, one line per test, target and judged metric (docs/results-directory.md)."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dbversus.files import write_whole
from dbversus.report.cells import csv_cell
from dbversus.report.model import Assessment, TestPart
from dbversus.stats.comparison import Comparison
from dbversus.stats.judgeable import P50, PERCENTS
from dbversus.stats.judged import JUDGEABLE_METRICS
from dbversus.stats.model import SPOILT, Metric

_RANKS = {P50: 50.0, **PERCENTS}
_FIGURES = ("ratio", "low", "high", "least", "most", "p_value", "q_value", "blocks")


def _sides(metric: Metric) -> tuple[str, str]:
    """The columns of the two values: a unit has its own, so that no column mixes two."""
    unit = metric.unit.replace("µ", "u").replace("/", "_per_")
    return f"base_{unit}", f"target_{unit}"


_VALUES = tuple(dict.fromkeys(name for metric in JUDGEABLE_METRICS for name in _sides(metric)))
COLUMNS = ("test", "target", "base", "metric", "verdict", *_FIGURES, *_VALUES)


def write(assessment: Assessment, path: Path) -> None:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for line in _lines(assessment):
        writer.writerow({name: csv_cell(value) for name, value in line.items()})
    write_whole(path, text.getvalue())


def _lines(assessment: Assessment) -> Iterator[dict[str, Any]]:
    tests = {test.name: test for test in assessment.tests}
    for comparison in (*assessment.comparisons, *assessment.over_clients):
        test = tests.get(comparison.test)
        for metric in assessment.judged:
            labels = (assessment.base.label, comparison.target)
            values = [_value(test, metric.name, label) if test else None for label in labels]
            yield {
                "test": comparison.test,
                "target": comparison.target,
                "base": assessment.base.label,
                "metric": metric.name,
                **_judged(comparison, metric.name),
                **dict(zip(_sides(metric), values, strict=True)),
            }


def _judged(comparison: Comparison, metric: str) -> dict[str, Any]:
    """The metric's own verdict and figures; of a test that failed, gave other answers or missed its SLA, the test's verdict."""
    finding = comparison.findings.get(metric)
    if finding is None:
        return {"verdict": comparison.verdict, "blocks": 0}
    spoilt = comparison.verdict in SPOILT
    verdict = comparison.verdict if spoilt else finding.verdict
    return {"verdict": verdict} | {name: getattr(finding, name) for name in _FIGURES}


def _value(test: TestPart, metric: str, label: str) -> float | None:
    if metric in _RANKS:
        return test.latency[label].percentiles_us[_RANKS[metric]].value if label in test.latency else None
    return next((figure.estimates[label].value for figure in test.figures if figure.metric == metric), None)
