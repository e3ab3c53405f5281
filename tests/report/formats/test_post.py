"""post.md: ratios by phase, charts, caveats and claims, each made of what was measured."""

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import json as json_report
from dbversus.report.formats import post
from dbversus.report.model import Assessment
from dbversus.results.read import open_results
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import Verdict

from ...posts.test_scoring import AS_PUBLISHED, POST
from ..pairs import write_pairs
from ..synthetic import FAILED_TEST, HOSTILE, LABELS


@pytest.fixture(scope="module")
def written(assessment: Assessment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("post") / "post.md"
    post.write(assessment, path)
    return path


def fenced(text: str) -> list[str]:
    return re.findall(r"```\n(.*?)\n```", text, re.DOTALL)


def test_every_test_has_its_ratio_in_a_column_of_each_target(assessment: Assessment, written: Path) -> None:
    lists = [block.splitlines() for block in fenced(written.read_text()) if block.startswith("col-1")]
    lines = {line.split()[-1]: line.split()[:-1] for block in lists[::2] for line in block[1:]}
    assert set(lines) == {test.name for test in assessment.tests}
    findings = {(item.test, item.target): item for item in assessment.findings if item.metric == THROUGHPUT}
    for test, cells in lines.items():
        assert len(cells) == len(assessment.candidates)
        for cell, target in zip(cells, LABELS[1:], strict=True):
            if re.fullmatch(r"[0-9.]+[?]?", cell):
                assert cell.rstrip("?") == f"{findings[test, target].ratio:.2f}"
    assert lines[FAILED_TEST][1] in ("–", "!")


def test_what_is_not_decided_has_a_mark(assessment: Assessment, written: Path) -> None:
    undecided = {
        item.test
        for item in assessment.findings
        if item.metric == THROUGHPUT and item.verdict in (Verdict.UNDECIDED, Verdict.UNSTABLE) and item.ratio
    }
    marked = {line.split()[-1] for block in fenced(written.read_text()) for line in block.splitlines() if "? " in line}
    assert undecided and undecided <= marked


def test_phases_are_reads_and_writes_in_their_order(written: Path) -> None:
    titles = re.findall(r"^### (.*)", written.read_text(), re.MULTILINE)
    assert titles[:2] == ["Reads before writes", "Writes"]


def test_pictures_are_whole_and_named_in_the_text(written: Path, assessment: Assessment) -> None:
    named = re.findall(r"!\[.*\]\((.*)\)", written.read_text())
    assert named == ["post/throughput.svg", "post/cpu.svg"]
    for name in named:
        root = ElementTree.parse(written.parent / name).getroot()
        texts = {element.text for element in root.iter() if element.tag.endswith("text")}
        assert {test.name for test in assessment.tests} | set(LABELS[1:]) <= texts


def test_text_of_others_stays_text(written: Path) -> None:
    outside = re.sub(r"```.*?```", "", written.read_text(), flags=re.DOTALL)
    assert HOSTILE not in outside and "<b>" not in outside
    assert "FATAL:" in outside


def test_the_command_repeats_it(assessment: Assessment, written: Path) -> None:
    assert fenced(written.read_text())[-1] == assessment.command


def test_claims_of_a_post_stand_beside_what_was_found(tmp_path: Path) -> None:
    results = open_results(write_pairs(tmp_path / "results", AS_PUBLISHED, spec={"posts": [POST]}))
    text = post.render(build_assessment(results))
    assert f"## Claims of {POST}" in text
    line = next(line for line in text.splitlines() if line.startswith("| 12 |"))
    assert "found (2 of 2 figures)" in line and "n = 4, against 1.400: found" in line
    assert "## Two generations: " in text


def test_claims_are_in_the_data_too(tmp_path: Path) -> None:
    results = open_results(write_pairs(tmp_path / "results", AS_PUBLISHED, spec={"posts": [POST]}))
    (found,) = json.loads(json_report.render(build_assessment(results)))["posts"]
    claims = {claim["name"]: claim["status"] for claim in found["claims"]}
    assert (found["name"], claims[f"{POST}/12"], len(claims)) == (POST, "found", 20)


def test_one_target_alone_has_no_ratios(assessment: Assessment) -> None:
    alone = replace(assessment, targets=assessment.targets[:1], tests=(), findings=(), sentences=())
    assert "Ratios by phase" not in post.render(alone)
