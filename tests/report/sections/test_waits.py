"""What operations wait for, in reports: beside functions, and in none where nothing was recorded."""

import json
from pathlib import Path

from dbversus.profiling.perf import SWITCHES
from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown
from dbversus.report.formats import json as json_format
from dbversus.report.formats.xlsx.sheets.every import of_sections
from dbversus.report.sections import functions
from dbversus.results.read import open_results

from ...profiling.samples import write_profiles
from ...results.samples import HEADER, write_journal

LABELS = [target["label"] for target in HEADER["targets"]]
WAITS = (
    {
        "main;XLogFlush;fdatasync in XLogWrite": 2.0,
        "main;secure_read;epoll_wait in secure_read": 40.0,
        "on a CPU": 50.0,
    },
    {
        "main;XLogFlush;fdatasync in XLogWrite": 900.0,
        "main;secure_read;epoll_wait in secure_read": 40.0,
        "on a CPU": 60.0,
    },
)


def test_waits_stand_beside_functions_of_the_same_test(tmp_path: Path) -> None:
    write_journal(tmp_path, 2)
    write_profiles(tmp_path, LABELS, "point-query", WAITS, event=SWITCHES)
    write_profiles(tmp_path, LABELS, "point-query", number=2)
    assessment = build_assessment(open_results(tmp_path))
    page, text = html.render(assessment), markdown.render(assessment)
    assert page.count('<svg class="flame"') == 4
    assert "µs of time per operation" in text and "parts whose difference is shown come to" in text
    assert "| waits for | base, µs/op | target's, µs/op | change, µs/op | share of the change |" in text
    assert functions.TITLE in text and "functions whose difference is shown come to" in text
    content = json.loads(json_format.render(assessment))
    assert content["off_cpu"][0]["functions"][0]["names"] == ["fdatasync in XLogWrite"]
    assert content["functions"][0]["event"] == "cpu-clock"
    assert {"Waits", "Functions"} <= {sheet.name for sheet in of_sections(assessment)}


def test_without_any_no_report_has_them(tmp_path: Path) -> None:
    write_journal(tmp_path, 2)
    assessment = build_assessment(open_results(tmp_path))
    assert json.loads(json_format.render(assessment))["off_cpu"] == []
    assert not any(one.name == "waits" for one in assessment.sections)
