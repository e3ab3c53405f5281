"""Verbs that read results, piped with COLUMNS=40."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .synthetic import HOSTILE, LABELS

MAIN = "from dbversus.cli.main import main; main()"


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [["report"], ["show"], ["show", "--table", "matrix"], ["show", "--table", "efficiency"], ["show", "--sql"]],
    ids=" ".join,
)
def test_names_and_rows_are_whole(results_dir: Path, words: list[str]) -> None:
    verb, *more = words
    query = ["SELECT DISTINCT test, target, repeat('x', 100) AS long FROM slots"] if more == ["--sql"] else []
    done = subprocess.run(
        [sys.executable, "-c", MAIN, verb, str(results_dir), *more, *query],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "40"},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "…" not in done.stdout
    assert all(label in done.stdout for label in LABELS[1:])
    assert HOSTILE in done.stdout
    if query:
        assert any("range-notcovered-si" in line and "x" * 100 in line for line in done.stdout.splitlines())
