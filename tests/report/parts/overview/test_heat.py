"""Heat tables: the figures of the verdicts, shaded where a change is shown; in the page and in Markdown."""

import re
from dataclasses import replace

import pytest

from dbversus.report.formats import html, markdown
from dbversus.report.model import Assessment
from dbversus.report.parts.overview import heat
from dbversus.report.parts.overview.shades import shade, spans
from dbversus.report.words import SIGNS, finding_text, short_labels
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT
from dbversus.stats.model import CHANGES, Verdict

from ...formats.test_html import Outline
from ...many import with_targets
from ...synthetic import HOSTILE, LABELS


def of(assessment: Assessment, metric: str) -> heat.Heat:
    return next(one for one in heat.heats(assessment) if one.metric.name == metric)


def test_a_table_for_each_judged_metric_grouped_in_order(assessment: Assessment) -> None:
    found = heat.heats(assessment)
    assert [one.metric.name for one in found] == [CPU, THROUGHPUT, IO_BYTES]
    assert found[0].targets == LABELS[1:]
    assert [group.name for group in found[0].groups] == list(dict.fromkeys(test.group for test in assessment.tests))
    assert sorted(row.test for row in found[0].rows) == sorted(test.name for test in assessment.tests)


def test_shaded_is_what_is_shown_to_change(assessment: Assessment) -> None:
    by_test = {row.test: row.cells for row in of(assessment, CPU).rows}
    worse, _ = by_test["range-notcovered-si"]
    assert worse.finding and worse.finding.ratio
    assert (worse.shade, worse.text) == ("worse-2", f"{SIGNS[Verdict.REGRESSION]} {worse.finding.ratio:.3f}")
    better, _ = by_test["read-only-10000"]
    assert better.shade == "better-2"
    unstable = by_test["scan"][0]
    assert unstable.verdict not in CHANGES and unstable.shade == "" and unstable.known
    for row in of(assessment, THROUGHPUT).rows:
        for cell in row.cells:
            assert bool(cell.shade) == (cell.verdict in CHANGES)


def test_what_does_not_count_has_the_sign_of_its_reason_and_no_shade(assessment: Assessment) -> None:
    by_test = {row.test: row.cells for row in of(assessment, CPU).rows}
    wrong, failed = by_test["random-points-100"][0], by_test["insert"][1]
    assert (wrong.verdict, wrong.known, wrong.shade) == (Verdict.WRONG_RESULT, None, "")
    assert (failed.verdict, failed.text) == (Verdict.FAILED, "! –")


def test_sentences_count_the_cells(assessment: Assessment) -> None:
    one = of(assessment, CPU)
    cells = [cell for row in one.rows for cell in row.cells]
    said = heat.sentence(one)
    assert said.startswith(f"CPU/op, {sum(cell.known is not None for cell in cells)} ratios: ")
    for verdict in CHANGES:
        assert f"{sum(cell.verdict is verdict for cell in cells)} {verdict}s" in said
    same = replace(one, groups=tuple(replace(group, rows=group.rows[:0]) for group in one.groups))
    assert heat.sentence(same) == "CPU/op, 0 ratios: none is a regression or improvement."


def test_one_run_is_shaded_beyond_the_margin(assessment: Assessment) -> None:
    (finding,) = (one for one in assessment.findings if (one.test, one.target, one.metric) == ("scan", LABELS[1], CPU))
    single = replace(finding, verdict=Verdict.NOT_REPLICATED, low=None, high=None, margin=0.03)
    assert replace(single, ratio=1.04).is_shown and replace(single, ratio=0.96).is_shown
    assert not replace(single, ratio=1.02).is_shown


@pytest.mark.parametrize(
    ("ratio", "higher_is_better", "expected"),
    [
        (1.05, False, "worse-1"),
        (1.1, False, "worse-2"),
        (1 / 1.3, False, "better-3"),
        (1.3, True, "better-3"),
        (0.5, True, "worse-4"),
        (0.0, True, "worse-4"),
        (1.0, True, ""),
    ],
)
def test_shades(ratio: float, higher_is_better: bool, expected: str) -> None:
    assert shade(ratio, higher_is_better=higher_is_better) == expected
    assert len(spans()) == 4


def test_short_labels_keep_what_tells_targets_apart() -> None:
    assert short_labels(["postgres:13", "postgres:17@x"]) == ["13", "17@x"]
    assert short_labels(["postgres:13@x", "postgres:17@x"]) == ["13", "17"]
    assert short_labels(["pg:13@x", "pg:17@x,y", "pg:17@z,x"]) == ["13", "17@y", "17@z"]
    assert short_labels(["mysql:8@x", "postgres:17@x"]) == ["mysql:8", "postgres:17"]
    assert short_labels(["pg:13@x,y", "pg:13@y,x"]) == ["13@x,y", "13@y,x"]
    assert short_labels(["mysql:8@x", "postgres:17@y"]) == ["mysql:8@x", "postgres:17@y"]
    assert short_labels(["/opt/a", "/opt/b"]) == ["/opt/a", "/opt/b"]
    assert short_labels(["postgres:17"]) == ["postgres:17"]


def test_the_page_has_every_cell_with_its_interval(assessment: Assessment) -> None:
    page = html.render(assessment)
    outline = Outline()
    outline.feed(page)
    assert outline.open == [] and {"by-0", "by-1", "by-2", "with-intervals"} <= set(outline.ids)
    assert HOSTILE not in page
    rows = re.findall(r'<tr><th scope="row"><a href="#test-scan">scan</a></th>(.*?)</tr>', page)
    assert len(rows) == 3
    first = next(one for one in assessment.findings if (one.test, one.target, one.metric) == ("scan", LABELS[1], CPU))
    assert finding_text(first) in re.sub(r"<small>", " ", rows[0]).replace("</small>", "")


def test_markdown_has_the_tests_that_change(assessment: Assessment) -> None:
    text = markdown.render(assessment)
    table = text.partition("## CPU/op ratio of all targets")[2].partition("\n\n## ")[0]
    assert "| range-notcovered-si | ▼ 1.1" in table and "| random-points-100 | ✗" in table
    assert "| range-covered-pk |" not in table
    assert "Tests without a regression or improvement are left out: CPU/op " in text
    assert HOSTILE not in text.partition("## Surroundings")[0]


def test_two_targets_need_none(assessment: Assessment) -> None:
    two = with_targets(assessment, 2)
    assert heat.heats(two) == []
    page = html.render(two)
    assert 'class="heat' not in page and "trends-title" not in page
    assert "## All targets" not in markdown.render(two)
    wide = html.render(with_targets(assessment, 12))
    assert 'class="heat sorts tall"' in wide and 'id="with-intervals">' in wide
