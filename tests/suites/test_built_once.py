"""A suite is parsed and built once per process, and again when one of its files has changed."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dbversus import suites
from dbversus.cli.main import app
from dbversus.errors import UsageError
from dbversus.suites import load
from dbversus.suites.assembly import suite
from dbversus.suites.load import load_suite

OWN = (Path(suites.__file__).with_name("shipped") / "sysbench-now.toml").read_text()
WITH_SCRIPT = """
title = "Own"
[setup]
sql = "make.sql"
[tests.count]
title = "Counts"
group = "range"
statements = [{ name = "count", sql = "SELECT count(*) FROM own" }]
[[phases]]
name = "all"
tests = ["count"]
"""


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was parsed and built: `parse` and `build`, in order."""
    done: list[str] = []
    parse, build = tomllib.loads, suite.build_suite

    def counted_parse(text: str, **given: Any) -> dict[str, Any]:
        if "extends" in text or "[tests" in text or "[[phases]]" in text:
            done.append("parse")
        return parse(text, **given)

    def counted_build(*given: Any) -> Any:
        done.append("build")
        return build(*given)

    monkeypatch.setattr(tomllib, "loads", counted_parse)
    monkeypatch.setattr(load, "build_suite", counted_build)
    return done


@pytest.mark.parametrize("size", ["10k", "10k,20k"])
def test_a_dry_run_parses_and_builds_its_suite_once(size: str, tmp_path: Path, counted: list[str]) -> None:
    file = tmp_path / "own.toml"
    file.write_text(OWN + f"# {size}\n")
    asked = ["compare", "sqlite:bundled", "sqlite:bundled", "--suite", str(file), "--table-size", size]
    result = CliRunner().invoke(app, [*asked, "--tests", "scan", "--dry-run"])
    assert result.exit_code == 0, result.output
    assert counted.count("build") == 1
    assert counted.count("parse") <= 2, "the file, and the one that it extends unless that is known"


def test_a_file_that_has_changed_is_parsed_again(tmp_path: Path, counted: list[str]) -> None:
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    first = load_suite(file)
    assert load_suite(file) is first
    file.write_text(OWN.replace('title = "', 'title = "Another, '))
    assert load_suite(file).title.startswith("Another, ")
    assert counted.count("build") == 2


def test_a_script_that_is_gone_is_missed(tmp_path: Path) -> None:
    file, script = tmp_path / "own.toml", tmp_path / "make.sql"
    file.write_text(WITH_SCRIPT)
    script.write_text("CREATE TABLE own (a INT);")
    assert load_suite(file) is load_suite(file)
    script.unlink()
    with pytest.raises(UsageError, match=r"there is no file .*make\.sql"):
        load_suite(file)
