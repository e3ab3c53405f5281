"""The summaries of steps as tables: signs beside the colours, and words where a rate does not count."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, json, markdown
from dbversus.report.model import Assessment, Estimate, Step, StepCell, StepsPart
from dbversus.report.parts.steps.columns import COLUMNS
from dbversus.report.section import Section
from dbversus.report.sections.summary import INSERTS, MOST_COLUMNS, RATES, RATIOS, WORDS, of_steps, summaries
from dbversus.report.table import FEW_LINES
from dbversus.report.texts import headings, texts
from dbversus.results.read import open_results
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import Finding, Verdict

from ..parts.steps import test_summary
from ..synthetic import HOSTILE, LABELS

FAILED = LABELS[1]


def _estimate(value: float) -> Estimate:
    return Estimate(value, value - 1, value + 1, 2)


PART = StepsPart(
    (
        Step("l.i0", "rows/s", {"a": StepCell(_estimate(100.0)), "b": StepCell(_estimate(200.0))}),
        Step(
            "qr100",
            "queries/s",
            {
                "a": StepCell(_estimate(10.0), _estimate(99.0)),
                "b": StepCell(_estimate(20.0), _estimate(50.0), sla_failed=True),
            },
            target_per_s=100.0,
            sla=0.95,
        ),
    ),
    (),
    COLUMNS,
)


@pytest.fixture(scope="module")
def assessment(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    found = build_assessment(open_results(test_summary.write(tmp_path_factory.mktemp("steps"))))
    assert found.steps is not None
    first = found.steps.steps[0]
    cells = {**first.cells, FAILED: replace(first.cells[FAILED], sla_failed=True)}
    part = replace(found.steps, steps=(replace(first, cells=cells), *found.steps.steps[1:]))
    return replace(found, steps=part, sections=(_section(part),))


def _section(part: StepsPart) -> Section:
    return replace(of_steps(part, LABELS[0]), name="summary")


def test_a_sign_stands_beside_every_colour() -> None:
    known = (None,) * 2 + (0.05,) + (None,) * 3
    gain = Finding("l.i0", "b", THROUGHPUT, Verdict.IMPROVEMENT, 2.0, 1.9, 2.1, 0.95, 4, *known)
    first, *others = PART.steps
    first = replace(first, cells={**first.cells, "b": replace(first.cells["b"], finding=gain)})
    part = replace(PART, steps=(first, *others))
    rates, inserts = (texts(one) for one in summaries(part, "a"))
    assert rates == [
        ["l.i0", "100.0 [99.00, 101.0]", "200.0 [199.0, 201.0]", "▲ 2.000 [1.900, 2.100]", "rows/s"],
        ["qr100", "10.00 [9.000, 11.00]", "⚑ 20.00 [19.00, 21.00] SLA failed", "⚑ – SLA failed", "queries/s"],
    ]
    assert inserts == [["qr100", "99.00 [98.00, 100.0]", "⚑ 50.00 [49.00, 51.00]", "100.0"]]


def test_steps_are_told_in_words_beside_versions_by_name() -> None:
    loads, queries = PART.steps
    part = replace(PART, steps=(replace(loads, title="Insert rows"), queries))
    (rates, inserts) = summaries(part, "a")
    assert headings(rates) == ["step", "a", "b", "÷ a", "unit", "what it does"]
    assert [row[-1] for row in texts(rates)] == ["Insert rows", ""]
    assert headings(inserts) == ["step", "a", "b", "asked for"]
    three = [replace(step, cells={**step.cells, "c": step.cells["a"]}) for step in PART.steps]
    assert headings(summaries(replace(PART, steps=tuple(three)), "a")[0])[4:6] == ["b ÷ a", "c ÷ a"]


@pytest.mark.parametrize("count", [MOST_COLUMNS + 1, 40])
def test_many_targets_stand_below_each_other(count: int) -> None:
    labels = [f"v{number}" for number in range(count)]
    loads, queries = PART.steps
    steps = (
        replace(loads, title="Insert rows", cells=dict.fromkeys(labels, loads.cells["a"])),
        replace(queries, cells=dict.fromkeys(labels, queries.cells["b"])),
    )
    words, rates, ratios, inserts = summaries(replace(PART, steps=steps), "v0")
    assert [one.title for one in (words, rates, ratios, inserts)] == [WORDS, RATES, RATIOS, INSERTS]
    assert texts(words) == [["l.i0", "Insert rows"]]
    assert headings(rates) == ["target", "l.i0, rows/s", "qr100, queries/s"] and len(rates.rows) == count
    assert texts(ratios)[0] == ["v0", "1", "⚑ 1 SLA failed"]
    assert texts(inserts)[-1] == ["asked for", "100.0"]


def test_tables_that_would_be_empty_are_left_out() -> None:
    loads = replace(PART, steps=PART.steps[:1])
    assert [one.title for one in summaries(loads, "a")] == [RATES]
    one = replace(loads.steps[0], cells={"a": StepCell(_estimate(100.0))})
    assert [headings(table) for table in summaries(replace(PART, steps=(one,)), "a")] == [["step", "a", "unit"]]
    assert [table.title for table in summaries(PART, "a")] == [RATES, INSERTS]


def test_columns_that_are_known_nowhere_are_left_out(assessment: Assessment) -> None:
    assert assessment.steps is not None
    lines = assessment.steps.lines
    part = replace(assessment.steps, lines=({**lines[0], "rss": None, "wamp": None}, {**lines[0], "wamp": 2.5}))
    shown = of_steps(part, LABELS[0]).tables[-1]
    names = headings(shown)
    assert "wamp" in names and "rss" not in names
    assert [row[names.index("wamp")] for row in texts(shown)] == ["–", "2.500"]
    assert [name for name, _ in shown.legend] == names[2:]


def test_every_report_has_them(assessment: Assessment) -> None:
    page, text, data = html.render(assessment), markdown.render(assessment), json.as_json(assessment)
    section = page[page.index("The steps") :]
    void = re.search(r'<td class="mark-void">(.*?)</td>', section)
    assert void and void[1].startswith("⚑") and "SLA failed" in void[1]
    assert HOSTILE not in section.split("</section>")[0]
    assert f"## {RATES}" in text and re.search(r"\| ⚑ .* SLA failed \|", text)
    assert text.index("<details") < text.index("| test | target | blocks |") < text.index("</details>")
    first = data["steps"]["steps"][0]
    assert first["targets"][FAILED]["marks"]["rate"] == "void"
    assert data["steps"]["lines"] and set(data["steps"]["columns"]) <= set(data["steps"]["lines"][0])


def test_long_tables_of_columns_are_folded_away(assessment: Assessment) -> None:
    assert assessment.steps is not None
    line = assessment.steps.lines[0]
    for count, is_open in ((FEW_LINES, True), (FEW_LINES + 1, False)):
        shown = replace(assessment, sections=(_section(replace(assessment.steps, lines=(line,) * count)),))
        assert ('<details class="key" open>' in html.render(shown)) == is_open
        assert ("<details open>" in markdown.render(shown)) == is_open


def test_without_steps_reports_are_as_before(assessment: Assessment, tmp_path: Path) -> None:
    none = replace(assessment, sections=())
    assert "The steps" not in html.render(none) and RATES not in markdown.render(none)
    assert json.as_json(none)["steps"] is None
