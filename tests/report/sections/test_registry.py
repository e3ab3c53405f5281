"""Sections by name: all are shown, and one that fails takes nothing with it."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown, text
from dbversus.report.formats import json as json_report
from dbversus.report.formats.xlsx.sheets.every import sheets_of
from dbversus.report.model import Assessment
from dbversus.report.section import Chart, Section
from dbversus.report.sections import phases
from dbversus.report.table import Lines
from dbversus.results.read import open_results

from .test_phases import write_phases


def test_a_section_that_fails_leaves_the_report_whole_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(judged: object) -> None:
        raise ValueError("no <b>luck</b>")

    monkeypatch.setattr(phases, "section", fails)
    assessment = build_assessment(open_results(write_phases(tmp_path)))
    said = "The section “phases” could not be made, all others could (ValueError: no "
    terminal = io.StringIO()
    text.render(assessment, Console(file=terminal, width=200))
    assert f"{said}<b>luck</b>)." in terminal.getvalue()
    for report in (html.render(assessment), markdown.render(assessment)):
        assert f"{said}&lt;b&gt;luck&lt;/b&gt;)." in report
    content = json.loads(json_report.render(assessment))
    assert content["phases"] is None and content["broken_sections"][0].startswith(said) and content["targets"]
    overview = sheets_of(assessment)[0]
    assert any(line.startswith(said) for part in overview.parts if isinstance(part, Lines) for line in part.lines)


def test_what_is_for_programs_alone_has_no_heading(assessment: Assessment) -> None:
    silent = [one for one in assessment.sections if not one.has_text]
    assert {one.name for one in silent} >= {"causes", "efficiency", "response"}
    for report in (html.render(assessment), markdown.render(assessment)):
        headings = re.findall(r"<h2[^>]*>(.*?)</h2>", report) + re.findall(r"^## (.*)$", report, re.M)
        assert headings and not {one.title for one in silent} & set(headings)


def test_a_chart_that_fails_is_a_sentence(tmp_path: Path) -> None:
    def draw() -> str:
        raise ZeroDivisionError("division by zero")

    assessment = build_assessment(open_results(write_phases(tmp_path)))
    section = Section(title="Mine", charts=[Chart("Something", draw)], name="mine")
    page = html.render(replace(assessment, sections=(section,)))
    assert "This chart could not be drawn (ZeroDivisionError: division by zero)." in page
