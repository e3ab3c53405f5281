"""Reports of experiments that were cut short, and of folders that are made to write elsewhere."""

import json
import shutil
from pathlib import Path

import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.formats.registry import FORMATS
from dbversus.results.read import open_results

from .synthetic import LABELS, write_results


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_results(tmp_path_factory.mktemp("half") / "results", targets=2, rows=4)


def cut(whole: Path, into: Path, until: str, torn: bool = False) -> Path:
    """A copy whose journal ends with the last record before the first one of type `until`; `torn`: within that one."""
    shutil.copytree(whole, into)
    (into / "slots.parquet").unlink()
    lines = (into / "journal.jsonl").read_text().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if json.loads(line)["type"] == until)
    (into / "journal.jsonl").write_text("".join(lines[:first]) + (lines[first][:40] if torn else ""))
    return into


@pytest.mark.parametrize("until", ["load", "block", "row", "latency", "finished"])
@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("base", [None, LABELS[1]])
def test_every_format_tells_that_it_has_not_ended(
    whole: Path, tmp_path: Path, until: str, torn: bool, base: str | None
) -> None:
    directory = cut(whole, tmp_path / "cut", until, torn)

    assessment = build_assessment(open_results(directory, base))
    written = [each.write(assessment, directory) for each in FORMATS.values()]

    assert "has not ended" in assessment.outcome
    assert all(path.stat().st_size for path in written)


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_that_is_a_link_is_replaced(whole: Path, tmp_path: Path, name: str) -> None:
    directory, mine = tmp_path / "results", tmp_path / "mine"
    shutil.copytree(whole, directory)
    mine.write_text("dear to me")
    (directory / FORMATS[name].file).symlink_to(mine)

    path = FORMATS[name].write(build_assessment(open_results(directory)), directory)

    assert mine.read_text() == "dear to me"
    assert not path.is_symlink()
