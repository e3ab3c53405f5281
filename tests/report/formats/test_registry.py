"""`report --format`: each format by its name, from one assessment."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbversus.cli.main import app
from dbversus.report.formats.registry import FORMATS, USUAL, Format
from dbversus.report.model import Assessment

from ..synthetic import LABELS
from .unpacked import unpacked


@pytest.fixture
def directory(results_dir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(results_dir, tmp_path / "results"))


def reports(directory: Path) -> set[str]:
    return {path.name for path in directory.glob("report.*")}


@pytest.mark.parametrize("each", FORMATS.values(), ids=FORMATS.keys())
def test_a_format_writes_its_file_and_no_other(each: Format, assessment: Assessment, tmp_path: Path) -> None:
    path = each.write(assessment, tmp_path)
    beside = {tmp_path / each.folder} if each.folder else set()
    assert set(tmp_path.iterdir()) == {path, *beside} == {tmp_path / each.file, *beside}
    assert any(LABELS[1].encode() in unpacked(file) for file in (path.rglob("*.*") if path.is_dir() else [path]))


def test_files_and_names_are_told_apart() -> None:
    assert len({each.file for each in FORMATS.values()}) == len(FORMATS)
    assert set(USUAL) <= set(FORMATS)


def test_the_usual_reports_are_written_where_none_is_named(directory: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(directory)])
    assert done.exit_code == 0, done.output
    assert reports(directory) == {FORMATS[name].file for name in USUAL}
    assert f"report: {directory / 'report.html'}" in done.output


def test_those_that_are_named_are_written_and_said(directory: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(directory), "--format", "md, json"])
    assert done.exit_code == 0, done.output
    assert reports(directory) == {"report.md", "report.json"}
    assert done.output.splitlines()[-2:] == [f"report: {directory / f'report.{end}'}" for end in ("md", "json")]


def test_an_unknown_format_is_refused_and_nothing_is_written(directory: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(directory), "--format", "md,pdf"])
    assert (done.exit_code, reports(directory)) == (2, set())
    assert f"--format pdf is unknown; accepted: {', '.join(FORMATS)}." in done.output


@pytest.mark.parametrize("name", ["html", "md", "json", "xlsx", "post"])
def test_that_the_base_was_chosen_afterwards_is_said_in_every_report(
    name: str, assessment: Assessment, tmp_path: Path
) -> None:
    said = "Judged against another base"
    assert said.encode() not in unpacked(FORMATS[name].write(assessment, tmp_path))
    chosen = replace(assessment, chosen_base=(said,))
    assert said.encode() in unpacked(FORMATS[name].write(chosen, tmp_path))
