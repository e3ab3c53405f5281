"""What is piped is whole, however narrow COLUMNS says that a terminal would be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

MAIN = "from dbversus.cli.main import main; main()"


def piped(*words: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *words],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "40"} | environment,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "…" not in done.stdout
    return done.stdout


def test_suites_are_shown_whole() -> None:
    text = piped("suites", "list")
    (line,) = [line for line in text.splitlines() if line.startswith("sysbench ")]
    assert len(line) > 40
    text = piped("suites", "show", "sysbench")
    assert any(line.startswith("point-query ") and "SELECT" in line and "FROM" in line for line in text.splitlines())


def test_builds_are_listed_whole() -> None:
    text = piped("builds", "available", "sqlite")
    assert all(line.split()[0].startswith("sqlite:") for line in text.splitlines()[1:])


def test_doctor_tells_each_thing_in_one_line(tmp_path: Path) -> None:
    text = piped("doctor", "--seconds", "0", DBVERSUS_HOME=str(tmp_path))
    assert max(map(len, text.splitlines())) > 60
    assert any(
        line.rstrip().endswith("`dbversus calibrate postgres:17 --quick` measures how often verdicts are wrong here")
        for line in text.splitlines()
    )


def test_doctor_says_why_there_is_no_engine(tmp_path: Path) -> None:
    text = piped("doctor", "--seconds", "0", DBVERSUS_HOME=str(tmp_path), DBVERSUS_ENGINE="/nowhere/engine")
    (line,) = [line for line in text.splitlines() if line.startswith("engine ")]
    assert line.split()[1] == "no"
    assert "DBVERSUS_ENGINE is /nowhere/engine" in line


def test_a_plan_is_whole(tmp_path: Path) -> None:
    words = ("compare", "sqlite:bundled", "sqlite:bundled@wal", "--dry-run")
    text = piped(*words, DBVERSUS_HOME=str(tmp_path))
    (phase, *_) = [line for line in text.splitlines() if line.startswith("phase")]
    assert len(phase) > 40 and phase.rstrip()[-1] not in ",:"
