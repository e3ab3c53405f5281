"""report.csv: every verdict has its line, and every value its unit."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dbversus.report.formats import csv as csv_report
from dbversus.report.model import Assessment
from dbversus.results.read import open_results
from dbversus.stats.judgeable import CPU, IO_BYTES, P99, THROUGHPUT
from dbversus.stats.judged import JUDGEABLE_METRICS

from ..sections.test_scaleup import write as write_clients
from ..synthetic import FAILED_TEST, LABELS, WRONG_TEST

Lines = dict[tuple[str, str, str], dict[str, str]]


def lines(assessment: Assessment, folder: Path) -> Lines:
    path = folder / "report.csv"
    csv_report.write(assessment, path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    found = {(row["test"], row["target"], row["metric"]): row for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.fixture(scope="module")
def written(assessment: Assessment, tmp_path_factory: pytest.TempPathFactory) -> Lines:
    return lines(assessment, tmp_path_factory.mktemp("csv"))


def test_every_test_target_and_metric_has_a_line(assessment: Assessment, written: Lines) -> None:
    metrics = [metric.name for metric in assessment.judged]
    tests = [test.name for test in assessment.tests]
    assert set(written) == {(test, target, metric) for test in tests for target in LABELS[1:] for metric in metrics}
    assert {row["base"] for row in written.values()} == {LABELS[0]}


def test_figures_are_those_of_the_finding(assessment: Assessment, written: Lines) -> None:
    findings = [item for item in assessment.findings if item.judged and item.test not in (WRONG_TEST, FAILED_TEST)]
    assert findings
    for finding in findings:
        row = written[finding.key]
        assert row["verdict"] == finding.verdict
        for name in ("ratio", "low", "high", "p_value", "q_value", "blocks"):
            known = getattr(finding, name)
            assert row[name] == ("" if known is None else str(known)), (finding.key, name)


def test_values_stand_under_their_unit_and_nowhere_else(assessment: Assessment, written: Lines) -> None:
    units = {CPU: "us_per_op", THROUGHPUT: "ops_per_s", IO_BYTES: "bytes_per_op"}
    for test in assessment.tests:
        estimates = {figure.metric: figure.estimates for figure in test.figures}
        for metric, unit in units.items():
            row = written[test.name, LABELS[1], metric]
            filled = {name for name in row if name.startswith(("base_", "target_")) and row[name]}
            assert filled == ({f"base_{unit}", f"target_{unit}"} if metric in estimates else set())
            if not filled:  # no IO on any target
                continue
            assert float(row[f"base_{unit}"]) == estimates[metric][LABELS[0]].value
            assert float(row[f"target_{unit}"]) == estimates[metric][LABELS[1]].value


def test_what_failed_or_is_wrong_says_so(written: Lines) -> None:
    assert written[FAILED_TEST, LABELS[2], CPU]["verdict"] == "failed"
    assert {row["verdict"] for key, row in written.items() if key[0] == WRONG_TEST} >= {"wrong result"}


def test_percentiles_have_values_too(assessment: Assessment, tmp_path: Path) -> None:
    judged = replace(assessment, header=msgspec.structs.replace(assessment.header, judge=["p99"]))
    row = lines(judged, tmp_path)["point-query", LABELS[1], P99]
    latency: Any = next(test for test in assessment.tests if test.name == "point-query").latency
    assert float(row["base_us"]) == latency[LABELS[0]].percentiles_us[99.0].value
    assert float(row["target_us"]) == latency[LABELS[1]].percentiles_us[99.0].value


def test_every_judged_metric_has_columns() -> None:
    assert {name for metric in JUDGEABLE_METRICS for name in csv_report._sides(metric)} <= set(csv_report.COLUMNS)


def test_verdicts_over_all_numbers_of_clients_are_there(tmp_path: Path) -> None:
    from dbversus.report.assessment import build_assessment

    judged = build_assessment(open_results(write_clients(tmp_path)))
    found = lines(judged, tmp_path)
    for item in judged.over_clients:
        assert found[item.test, item.target, THROUGHPUT]["ratio"] == str(item.findings[THROUGHPUT].ratio)


def test_no_text_is_a_formula_for_a_spreadsheet(assessment: Assessment, tmp_path: Path) -> None:
    (test, *_) = assessment.tests
    hostile = replace(test, name="=1+1", comparisons=tuple(replace(item, test="=1+1") for item in test.comparisons))
    assert ("'=1+1", LABELS[1], CPU) in lines(replace(assessment, tests=(hostile,)), tmp_path)
