"""Functions in reports: in every format where something was profiled, in none where nothing was."""

import json
from pathlib import Path

import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown
from dbversus.report.formats import json as json_format
from dbversus.report.formats.xlsx.sheets.every import of_sections
from dbversus.report.sections.functions import TITLE
from dbversus.results.read import open_results

from ...profiling.samples import write_profiles
from ...results.samples import HEADER, write_journal
from ..synthetic import TRUTHS, write_results

LABELS = [target["label"] for target in HEADER["targets"]]
MOVED = "mblen, utf_mblen → mblen_with_len, utf_private"


def test_every_format_has_the_functions_and_the_page_both_flame_graphs(tmp_path: Path) -> None:
    write_journal(tmp_path, 2)
    assert TITLE not in markdown.render(build_assessment(open_results(tmp_path)))
    write_profiles(tmp_path, LABELS, "point-query")
    assessment = build_assessment(open_results(tmp_path))
    page, text = html.render(assessment), markdown.render(assessment)
    assert page.count('<svg class="flame"') == 2 and 'class="more"' in page and 'class="same"' in page
    assert MOVED in text.replace("\\", "") and TITLE in text and "functions whose difference is shown come to" in text
    assert "Processes were sampled one by one" in text
    (content,) = json.loads(json_format.render(assessment))["functions"]
    assert content["functions"][0]["new"] == ["mblen_with_len", "utf_private"]
    assert any(sheet.name == "Functions" for sheet in of_sections(assessment))


def test_a_damaged_profile_is_a_sentence_and_takes_nothing_else_with_it(tmp_path: Path) -> None:
    write_journal(tmp_path, 2)
    folder = write_profiles(tmp_path, LABELS, "point-query")
    (folder / "profiles/point-query@t0.0.folded").write_text("main 1\n")
    assert "is not what was recorded" in markdown.render(build_assessment(open_results(tmp_path)))


@pytest.mark.parametrize(
    ("base_us", "mine_us", "said"),
    [
        (148.3, 171.7, "on postgres:17.11; functions whose difference is shown come to"),
        (290, 340, "on postgres:17.11 (148 and 172 in the blocks of the verdict); functions whose"),
        (148.3, 120, "on postgres:17.11 (148 and 172 in the blocks of the verdict); it went the other way"),
    ],
)
def test_where_the_profile_is_of_other_costs_than_the_verdict_both_are_told(
    tmp_path: Path, base_us: float, mine_us: float, said: str
) -> None:
    truth = next(one for one in TRUTHS if one.name == "range-notcovered-si")
    results = write_results(tmp_path / "results", targets=2, truths=(truth,))
    costs = ({"main;run": 100, "main": cost - 100} for cost in (base_us, mine_us))
    write_profiles(results, ["postgres:13.1", "postgres:17.11"], truth.name, (next(costs), next(costs)))
    text = markdown.render(build_assessment(open_results(results))).replace("\\", "")
    assert said in text
    assert ("lead: function main" in text) == ("the other way" not in said)
