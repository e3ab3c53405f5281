"""`show --table`: each table by its name, for eyes and for pipes."""

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbversus.cli.main import app
from dbversus.report.views.registry import USUAL, VIEWS

from ..parts.test_scaleup import write
from ..synthetic import LABELS


@pytest.fixture(scope="module")
def with_clients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results with several numbers of clients: every table has something to show."""
    return write(tmp_path_factory.mktemp("views"))


def shown(directory: Path, *words: str) -> str:
    done = CliRunner().invoke(app, ["show", str(directory), *words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("name", VIEWS)
def test_a_table_has_the_same_rows_in_every_form(with_clients: Path, name: str) -> None:
    as_csv = list(csv.DictReader(io.StringIO(shown(with_clients, "--table", name, "--format", "csv")), strict=True))
    as_json = json.loads(shown(with_clients, "--table", name, "--format", "json"))
    as_markdown = shown(with_clients, "--table", name, "--format", "md").splitlines()
    assert as_csv and None not in as_csv[0]
    assert [list(row) for row in as_csv] == [list(row) for row in as_json]
    assert len(as_markdown) == 2 + len(as_csv)
    assert next(iter(as_csv[0].values())) in shown(with_clients, "--table", name)


def test_findings_are_what_is_shown_unless_another_is_named(results_dir: Path) -> None:
    text = shown(results_dir)
    assert text == shown(results_dir, "--table", USUAL)
    assert text.split()[:4] == ["test", "target", "metric", "verdict"] and LABELS[1] in text


def test_an_unknown_table_is_refused_with_those_that_there_are(results_dir: Path) -> None:
    done = CliRunner().invoke(app, ["show", str(results_dir), "--table", "verdicts"])
    assert done.exit_code == 2
    assert f"--table verdicts is unknown; accepted: {', '.join(VIEWS)}." in " ".join(done.output.split())


def test_a_table_that_these_results_cannot_have_says_what_it_needs(results_dir: Path) -> None:
    done = CliRunner().invoke(app, ["show", str(results_dir), "--table", "scaleup"])
    assert (done.exit_code, "--table scaleup needs several (--clients 1,2,4)." in done.output) == (2, True)


def test_help_says_what_each_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    text = CliRunner().invoke(app, ["show", "--help"]).stdout
    assert all(f"{each.name}: {each.what}" in text for each in VIEWS.values())
