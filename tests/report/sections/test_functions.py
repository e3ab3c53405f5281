"""Functions in reports: in every format where something was profiled, in none where nothing was."""

import json
from pathlib import Path

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown
from dbversus.report.formats import json as json_format
from dbversus.report.formats.xlsx.sheets.every import of_sections
from dbversus.report.sections.functions import TITLE
from dbversus.results.read import open_results

from ...profiling.samples import write_profiles
from ...results.samples import HEADER, write_journal

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
    (content,) = json.loads(json_format.render(assessment))["functions"]
    assert content["functions"][0]["new"] == ["mblen_with_len", "utf_private"]
    assert any(sheet.name == "Functions" for sheet in of_sections(assessment))


def test_a_damaged_profile_is_a_sentence_and_takes_nothing_else_with_it(tmp_path: Path) -> None:
    write_journal(tmp_path, 2)
    folder = write_profiles(tmp_path, LABELS, "point-query")
    (folder / "profiles/point-query@t0.0.folded").write_text("main 1\n")
    assert "is not what was recorded" in markdown.render(build_assessment(open_results(tmp_path)))
