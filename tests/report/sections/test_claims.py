"""Claims of posts: the same lines in the post, on the page and in report.md."""

from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.posts.rule import Status
from dbversus.report.assessment import build_assessment, judged_of
from dbversus.report.formats import html, markdown
from dbversus.report.formats.post import write as post
from dbversus.report.judged import Judged
from dbversus.report.model import Assessment
from dbversus.report.sections import claims
from dbversus.results.read import open_results
from dbversus.results.stored import Results

from ...posts.test_scoring import AS_PUBLISHED, POST
from ..pairs import write_pairs


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return open_results(
        write_pairs(tmp_path_factory.mktemp("claims") / "results", AS_PUBLISHED, spec={"posts": [POST]})
    )


@pytest.fixture(scope="module")
def judged(results: Results) -> Judged:
    return judged_of(results)


@pytest.fixture(scope="module")
def assessment(results: Results) -> Assessment:
    return build_assessment(results)


def test_each_claim_is_a_line(judged: Judged) -> None:
    (part,) = claims.posts_of(judged)
    shown = claims.section(judged)
    assert shown is not None
    (table,) = shown.tables
    assert [row[1] for row in table.rows] == [claim.says for claim in part.claims]
    row = next(row for row in table.rows if row[0] == "12")
    assert row[2] == "not shown (2 of 10 figures found)"
    ours = str(row[3])
    assert "n = 4, against 1.400: found" in ours and ours.endswith("8 figures not shown: not in the experiment")


def test_what_differs_stands_beside_what_is_not_found(judged: Judged) -> None:
    (part,) = claims.posts_of(judged)
    lines = [line for claim in part.claims for line in claims.lines(claim)]
    weaker = next(line for line in lines if "same direction, weaker" in line)
    assert "against 3.930: same direction, weaker (8.0.33 for 8.0.21; " in weaker
    assert not any(": found (" in line for line in lines)


def test_most_tests_together_are_one_line(judged: Judged) -> None:
    (part,) = claims.posts_of(judged)
    lines = [line for claim in part.claims for line in claims.lines(claim)]
    assert "most of 2 tests cpu, mysql:8.0.33 ÷ mysql:5.6.24: 2 found, against mostly up: found" in lines


def test_a_remark_stands_beside_what_is_not_found(judged: Judged) -> None:
    first = claims.posts_of(judged)[0].claims[0]
    figures = [replace(one, remark="since it is so") for one in first.figures if one.ratio]
    assert figures and not any(one.status == Status.FOUND for one in figures)
    assert all("since it is so" in line for line in claims.lines(replace(first, figures=tuple(figures))))
    part = claims.posts_of(judged)[0]
    (reason,) = claims.remarks(replace(part, claims=(replace(first, figures=tuple(figures)),)))
    assert reason.endswith(": since it is so") and all(one.test in reason for one in figures)
    found = replace(first, figures=(replace(figures[0], status=Status.FOUND),))
    assert "since it is so" not in "".join(claims.lines(found)) and claims.remarks(replace(part, claims=(found,))) == []


def test_the_sentence_counts_every_figure_and_says_what_differs(judged: Judged) -> None:
    (part,) = claims.posts_of(judged)
    said = claims.sentence(part)
    assert "20 claims, 93 figures: " in said and said.endswith("refuted. Here: 1k rows for 10m.")


def test_page_markdown_and_post_say_the_same(judged: Judged, assessment: Assessment) -> None:
    (part,) = claims.posts_of(judged)
    said = claims.sentence(part)
    assert said in html.render(assessment)
    for text in (markdown.render(assessment), post.render(assessment)):
        assert f"## Claims of {POST}" in text and markdown.escape(said) in text


def test_without_a_post_there_is_no_such_section(tmp_path: Path) -> None:
    other = build_assessment(open_results(write_pairs(tmp_path / "results", AS_PUBLISHED)))
    assert "Claims of" not in html.render(other) and "Claims of" not in markdown.render(other)


def test_the_spreadsheet_has_a_line_per_figure_of_a_claim(judged: Judged) -> None:
    (part,) = claims.posts_of(judged)
    found = claims.section(judged)
    assert found is not None and found.data[0].sheet == "Claims"
    columns, rows = found.data[0].plain()
    counted = [row for row in rows if row[columns.index("of figure")]]
    assert len(counted) == sum(max(1, len(claim.figures)) for claim in part.claims)
    row = dict(zip(columns, next(row for row in rows if row[0] == f"{POST}/12"), strict=True))
    assert (row["result"], row["of figure"], row["blocks"]) == ("not shown", "found", 4)
    assert [row["published_low"], row["published_high"]] == [pytest.approx(0.975 / 1.05), pytest.approx(0.985 * 1.05)]


def test_for_eyes_each_figure_stands_beside_ours(judged: Judged) -> None:
    shown = claims.asked(judged)
    assert shown is not None
    said, figures = shown.tables
    (part,) = claims.posts_of(judged)
    assert [row[0] for row in said.rows] == [claim.name for claim in part.claims]
    assert len(figures.rows) == sum(len(claim.figures) for claim in part.claims)
    row = next(row for row in figures.rows if row[0] == f"{POST}/12" and row[4] == "1.400")
    assert row[1:4] == ["point-query", "throughput", "PostgreSQL 13.1 ÷ MySQL 8.0.21"]
    assert str(row[5]).startswith("1.427 [1.4") and row[6:8] == ["found", "4"]
