"""What was compared: each target with its compiler and the size of its data."""

from dbversus.report.assessment import judged_of
from dbversus.report.formats import html, markdown
from dbversus.report.model import Assessment
from dbversus.report.sections.targets import section
from dbversus.results.stored import Results

from ..synthetic import LABELS


def test_each_target_has_its_compiler_and_the_size_of_its_data(results: Results) -> None:
    found = section(judged_of(results))
    assert found is not None
    columns, rows = found.data[0].plain()
    first, second, _ = (dict(zip(columns, row, strict=True)) for row in rows)
    assert (first["target"], first["build"], second["target"]) == (LABELS[0], "postgres 13.1", LABELS[1])
    assert (first["compiled by"], first["from"]) == ("gcc 10.2.1, 64-bit", "npm")
    assert (second["data_mb"], second["logs_mb"]) == (61.0, 16.777216)


def test_reports_have_it(assessment: Assessment) -> None:
    assert "## What was compared" in markdown.render(assessment)
    assert (
        "gcc 10.2.1, 64-bit"
        in html.render(assessment).partition("<h3>What was compared</h3>")[2].partition("</details>")[0]
    )
