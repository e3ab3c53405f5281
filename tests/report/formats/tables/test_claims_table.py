"""Claims of posts: the same lines in the post, on the page and in report.md."""

from pathlib import Path

import pytest

from dbversus.posts.scored import ClaimStatus
from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown
from dbversus.report.formats.post import write as post
from dbversus.report.formats.tables import claims_table
from dbversus.report.formats.xlsx.sheets.comparisons import claims as claims_sheet
from dbversus.report.formats.xlsx.table import Table
from dbversus.report.model import Assessment
from dbversus.results.read import open_results

from ....posts.test_scoring import AS_PUBLISHED, POST
from ...pairs import write_pairs


@pytest.fixture(scope="module")
def assessment(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    folder = write_pairs(tmp_path_factory.mktemp("claims") / "results", AS_PUBLISHED, spec={"posts": [POST]})
    return build_assessment(open_results(folder))


def test_each_claim_that_can_be_checked_is_a_line(assessment: Assessment) -> None:
    (part,) = assessment.posts
    checked = [claim for claim in part.claims if claim.status != ClaimStatus.NOT_HERE]
    shown = claims_table.table(part)
    assert [row[1] for row in shown.rows] == [claim.says for claim in checked]
    found = next(row for row in shown.rows if row[0] == "12")
    assert found[2].startswith("found") and "against" in found[3]


def test_page_markdown_and_post_say_the_same(assessment: Assessment) -> None:
    (part,) = assessment.posts
    said = claims_table.sentence(part)
    assert said in html.render(assessment)
    for text in (markdown.render(assessment), post.render(assessment)):
        assert f"## Claims of {POST}" in text and markdown.escape(said) in text


def test_without_a_post_there_is_no_such_section(tmp_path: Path) -> None:
    other = build_assessment(open_results(write_pairs(tmp_path / "results", AS_PUBLISHED)))
    assert "Claims of" not in html.render(other) and "Claims of" not in markdown.render(other)


def test_the_spreadsheet_has_a_line_per_figure_of_a_claim(assessment: Assessment) -> None:
    (part,) = assessment.posts
    found = claims_sheet.sheet(assessment)
    assert found is not None
    table = found.parts[0]
    assert isinstance(table, Table)
    assert len(table.rows) == sum(max(1, len(claim.figures)) for claim in part.claims)
    titles = [column.title for column in table.columns]
    row = dict(zip(titles, next(row for row in table.rows if row[0] == f"{POST}/12"), strict=True))
    assert (row["result"], row["result of the figure"], row["blocks"]) == ("found", "found", 4)
