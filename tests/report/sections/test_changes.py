"""The tests that changed, largest first, with both values: in every format, and as rows."""

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from dbversus.report.assessment import judged_of
from dbversus.report.formats import html, markdown
from dbversus.report.model import Assessment, StatementPart
from dbversus.report.sections import changes
from dbversus.results.stored import Results
from dbversus.stats.model import CHANGES, SPOILT

from ..synthetic import LABELS


def test_the_worst_come_first_and_what_did_not_change_is_left_out(assessment: Assessment) -> None:
    found = changes.changed(assessment.tests)
    places = [(item.verdict in SPOILT, item.is_worse) for item in found]
    assert places == sorted(places, reverse=True) and len(places) > 3
    left = [item for item in assessment.comparisons if item not in found]
    assert left and not any(item.verdict in (*CHANGES, *SPOILT) or item.is_worse for item in left)


def test_both_values_stand_with_the_ratio(results: Results) -> None:
    section = changes.section(judged_of(results))
    assert section is not None and section.is_first
    names, rows = section.data[0].plain()
    lines: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
    one = next(line for line in lines if line["test"] == "update-index" and line["metric"] == "server_cpu_us_per_op")
    assert one["target"] == LABELS[1] and one["unit"] == "µs/op" and one["verdict"] == "regression"
    assert one["of_target"] / one["of_base"] == pytest.approx(one["ratio"], rel=0.02)
    assert one["low"] < one["ratio"] < one["high"]
    cells = next(row for row in section.tables[0].rows if row[0] == "update-index" and row[1] == LABELS[1])
    assert any("▼ CPU/op 98.24 → 106.7 µs: +8.6" in str(cell) for cell in cells)


def test_pages_have_it_before_all_tests(assessment: Assessment) -> None:
    page, text = html.render(assessment), markdown.render(assessment)
    order = [
        page.index(f'id="{name}"') for name in ("changes-title", "why-title", "verdicts", "tests-title", "how-title")
    ]
    assert order == sorted(order)
    assert text.index("## What changed") < text.index(" against postgres:13.1\n\n- ")


def test_what_it_does_is_its_statement_or_the_names_of_several(assessment: Assessment) -> None:
    one = StatementPart("scan", {"": "SELECT *\n  FROM t" + " WHERE a" * 50}, ())
    test = replace(assessment.tests[0], statements=(one,))
    assert changes.what_it_does(test).startswith("SELECT * FROM t WHERE a")
    assert len(changes.what_it_does(test)) <= 141 and changes.what_it_does(test).endswith("…")
    assert changes.what_it_does(replace(test, statements=(one, replace(one, name="sum")))) == "scan, sum"
    assert changes.what_it_does(replace(test, statements=())) == ""


def test_where_nothing_changed_that_is_said_and_reports_have_no_section(results: Results) -> None:
    judged = judged_of(results)
    judged.__dict__["tests"] = ()
    assert changes.section(judged) is None
    asked = changes.asked(judged)
    assert not asked.tables and not asked.data[0].rows and asked.print_on is not None
    asked.print_on(console := Console(file=io.StringIO()))
    assert isinstance(console.file, io.StringIO) and console.file.getvalue() == "Nothing changed.\n"
