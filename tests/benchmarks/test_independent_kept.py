"""Outcomes in a file say what they said in their folders."""

import importlib
import io
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.stats.model import Verdict

from .test_independent_figures import made_run, made_test

kept: Any = importlib.import_module("independent_runs.kept")
tables: Any = importlib.import_module("independent_runs.tables")

REGRESSION = Verdict.REGRESSION


def made_runs() -> list[Any]:
    return [
        made_run("quick", 1, [made_test("scan"), made_test("insert", REGRESSION, 1.05)]),
        made_run("quick", 2, [made_test("scan"), made_test("insert", Verdict.UNSTABLE, 1.01)], minutes=None),
        made_run("standard", 1, [made_test("scan", REGRESSION, 1.05, asked=0.05, truth=0.048)]),
        made_run("standard", 2, [made_test("scan", asked=0.03, truth=None)]),
    ]


def file_of(runs: list[Any], path: Path) -> Path:
    text = io.StringIO()
    kept.write_kept(runs, text)
    path.write_text(text.getvalue())
    return path


def test_tables_of_a_file_are_those_of_the_runs(tmp_path: Path) -> None:
    path = file_of(made_runs(), tmp_path / "kept.csv")
    assert tables.report(kept.read_kept(path)) == tables.report(made_runs())
    assert kept.names_in([path]) == {f"{run.run.name}" for run in made_runs()}


def test_each_run_counts_once(tmp_path: Path) -> None:
    first, second = file_of(made_runs()[:3], tmp_path / "first.csv"), file_of(made_runs(), tmp_path / "second.csv")
    assert [one.run for one in kept.outcomes_in([first, second])] == [run.run for run in made_runs()]


def test_sources_without_runs_are_refused(tmp_path: Path) -> None:
    empty = file_of([], tmp_path / "empty.csv")
    with pytest.raises(UsageError, match="no finished run"):
        kept.outcomes_in([tmp_path, empty])


def test_a_source_that_is_not_there_is_named_and_not_passed_over(tmp_path: Path) -> None:
    there = file_of(made_runs(), tmp_path / "there.csv")
    with pytest.raises(UsageError, match=r"mistyped is not there"):
        kept.outcomes_in([there, tmp_path / "mistyped"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("run,day", "runs,day"), "is no file of `export`"),
        (("quick-postgres-001", "quick-001"), "'quick-001' names no run"),
        ((",1.05000,", ",many,"), "is damaged"),
        ((",1.05000,1.04000,1.06000", ""), "is damaged"),
    ],
)
def test_another_file_and_a_damaged_one_are_refused(change: tuple[str, str], words: str, tmp_path: Path) -> None:
    path = file_of(made_runs(), tmp_path / "kept.csv")
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(UsageError, match=words):
        kept.read_kept(path)
    with pytest.raises(UsageError, match="cannot be read"):
        kept.read_kept(tmp_path / "nosuch.csv")
