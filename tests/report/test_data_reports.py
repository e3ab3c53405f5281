import json
from pathlib import Path

import pytest

from dbversus.report.formats import json as json_report
from dbversus.report.formats import markdown
from dbversus.report.model import Assessment

from .synthetic import HOSTILE, LABELS, SERVER_WORDS


def test_json_is_versioned_and_complete(assessment: Assessment, tmp_path: Path) -> None:
    json_report.write(assessment, tmp_path / "report.json")
    content = json.loads((tmp_path / "report.json").read_text())
    assert content["report_schema"] == 2
    assert [target["label"] for target in content["targets"]] == list(LABELS)
    update = next(test for test in content["tests"] if test["name"] == "update-index")
    finding = update["comparisons"][0]["findings"]["server_cpu_us_per_op"]
    assert finding["verdict"] == "regression"
    assert finding["low"] < finding["ratio"] < finding["high"]
    assert update["latency"][LABELS[0]]["operations"] == 16_000
    assert content["failures"][0]["message"] == SERVER_WORDS


def test_json_has_no_numbers_that_json_lacks(assessment: Assessment) -> None:
    json.dumps(json_report.as_json(assessment), allow_nan=False, default=str)


def test_markdown_has_the_table_and_escapes(assessment: Assessment) -> None:
    text = markdown.render(assessment)
    assert HOSTILE not in text.replace("```", "\0").split("## Surroundings")[0]
    assert "&lt;script&gt;" in text
    of_targets = text.partition(" against ")[2].partition(f"## {LABELS[1]} against")[2]
    rows = [line for line in of_targets.splitlines() if line.startswith("| update-index |") and "\\[" in line]
    assert len(rows) == 2
    assert "▼ regression" in rows[0]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a|b", "a\\|b"), ("<b>", "&lt;b&gt;"), ("*x*", "\\*x\\*"), ("one\ntwo", "one two"), ("a`b", "a\\`b")],
)
def test_markdown_escapes(text: str, shown: str) -> None:
    assert markdown.escape(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`a_b` and c_d", "`a_b` and c\\_d"),
        ("a `b` c `d@e`", "a `b` c `d@e`"),
        ("one ` alone_", "one \\` alone\\_"),
        ("no `a|b` cell", "no \\`a\\|b\\` cell"),
        ("nor `<b>`", "nor \\`&lt;b&gt;\\`"),
        ("nor ``", "nor \\`\\`"),
    ],
)
def test_in_a_sentence_what_stands_between_backticks_is_code(text: str, shown: str) -> None:
    assert markdown.prose(text) == shown


def test_markdown_files_are_written(assessment: Assessment, tmp_path: Path) -> None:
    markdown.write(assessment, tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text().startswith("# ")
