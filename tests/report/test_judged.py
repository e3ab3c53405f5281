"""Reports of an experiment that is judged by other metrics than the usual ones."""

import io
import json
import re
from dataclasses import replace

import msgspec
import pytest
from rich.console import Console

from dbversus.report.assessment import build_assessment, query
from dbversus.report.formats import html, markdown, text
from dbversus.report.formats import json as json_report
from dbversus.report.model import Assessment
from dbversus.report.words import NBSP, experiment_facts, worse_ratios
from dbversus.results.stored import Results
from dbversus.stats.judgeable import P95, P99
from dbversus.stats.judged import judged_metrics
from dbversus.stats.model import Verdict

from ..journals import header

JUDGE = ["cpu", "throughput", "io", "p95", "p99"]


@pytest.fixture(scope="module")
def by_percentiles(results: Results) -> Results:
    return replace(results, header=msgspec.structs.replace(results.header, judge=JUDGE))


@pytest.fixture(scope="module")
def judged(by_percentiles: Results) -> Assessment:
    return build_assessment(by_percentiles)


def printed(assessment: Assessment, **options: object) -> str:
    out = io.StringIO()
    text.render(assessment, Console(file=out, **options))  # type: ignore[arg-type]
    return out.getvalue()


def test_tables_have_a_column_for_each_judged_metric(judged: Assessment, assessment: Assessment) -> None:
    for report in (printed(judged), markdown.render(judged), html.render(judged)):
        assert re.search("p95 (<span>)?ratio", report) and re.search("p99 (<span>)?ratio", report)
    for report in (printed(assessment), markdown.render(assessment), html.render(assessment)):
        assert not re.search("p95 (<span>)?ratio", report)


def test_a_narrow_terminal_still_holds_the_table(judged: Assessment) -> None:
    lines = printed(judged, force_terminal=True, width=120, no_color=True, color_system=None).splitlines()
    assert max(map(len, lines)) <= 120
    assert any(line.startswith("test ") and " p95 " in line for line in lines)


def test_a_longer_percentile_is_a_regression_in_words_and_margins(judged: Assessment) -> None:
    slower = next(item for item in judged.comparisons if item.test == "update-index")
    assert slower.findings[P95].verdict is Verdict.REGRESSION and slower.findings[P95].judged
    assert "95th percentile of response time +" in slower.notes[0]
    said = " ".join(judged.candidates[0].sentences)
    assert "95th percentile of response time: update-index (+" in said
    assert "10 % 95th percentile of response time" in printed(judged)


def test_too_few_operations_are_said_in_the_summary_and_in_the_test(judged: Assessment) -> None:
    (said,) = (sentence for sentence in judged.candidates[0].sentences if sentence.startswith("p99 is not judged"))
    assert "which have too few operations per block" in said
    item = next(item for item in judged.comparisons if item.test == "hot-points")
    assert "99th percentile of response time not judged: 4,000 operations per block, 10,000 are needed" in item.notes[0]


def test_too_few_operations_are_said_in_the_place_of_the_ratio(judged: Assessment, assessment: Assessment) -> None:
    assert '<span class="none">too few operations</span>' in html.render(judged)
    assert "too few operations" not in html.render(assessment)


def test_json_and_sql_tell_which_findings_are_judged(by_percentiles: Results, judged: Assessment) -> None:
    test = next(one for one in json.loads(json.dumps(json_report.as_json(judged)))["tests"] if one["name"] == "scan")
    findings = test["comparisons"][0]["findings"]
    assert findings[P95]["judged"] is True and findings[P99]["judged"] is False
    ((columns, rows),) = query(by_percentiles, "SELECT DISTINCT metric FROM findings WHERE judged ORDER BY 1")
    assert columns == ["metric"] and (P95,) in rows and (P99,) not in rows and len(rows) == 4


def test_the_facts_say_what_it_is_judged_by() -> None:
    assert "judged by cpu, throughput, io and p99" in experiment_facts(header(judge=[*JUDGE[:3], "p99"]), 1, 4)
    assert not any("judged" in fact for fact in experiment_facts(header(judge=JUDGE[:3]), 1, 4))


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        (["cpu", "throughput", "io"], "CPU and IO ratios over 1 and throughput ratios under 1 are"),
        (JUDGE, "CPU, IO and response time ratios over 1 and throughput ratios under 1 are"),
        (["throughput"], "Throughput ratios under 1 are"),
        (["p95", "p99"], "Response time ratios over 1 are"),
    ],
)
def test_which_ratios_are_worse(judge: list[str], words: str) -> None:
    assert worse_ratios(judged_metrics(header(judge=judge))) == words


def test_the_usual_metrics_are_shown_as_before(assessment: Assessment) -> None:
    assert [metric.name for metric in assessment.judged] == [metric.name for metric in judged_metrics(header())]
    assert NBSP in printed(assessment)
