"""`show --table`: each table by its name, for eyes and for pipes."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbversus.cli.main import app
from dbversus.importing.run import import_results
from dbversus.profiling.perf import SWITCHES
from dbversus.report.sections.registry import SECTIONS, USUAL
from tests.importing.conftest import REFERENCE

from ..posts.test_scoring import AS_PUBLISHED
from ..profiling.samples import write_profiles
from ..results.samples import HEADER, write_journal
from .pairs import write_pairs
from .parts.steps import test_columns, test_summary
from .sections import test_after_writes, test_events, test_forms, test_objects, test_phases, test_scaleup, test_sizes
from .synthetic import LABELS, write_results
from .test_assessment import with_rates


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """View → results in which it has something to show; `""`: all others."""
    made: Mapping[str, Callable[[Path], Path]] = {
        "": test_scaleup.write,
        "sizes": test_sizes.write,
        "generations": lambda folder: write_pairs(folder / "results"),
        "steps": test_columns.write,
        "summary": test_summary.write,
        "phases": test_phases.write_phases,
        "objects": test_objects.write,
        "events": test_events.write,
        "after_writes": test_after_writes.write,
        "roles": write_roles,
        "forms": lambda folder: test_forms.write(folder, 2).directory,
        "functions": write_functions,
        "waits": partial(write_functions, event=SWITCHES),
        "response": lambda folder: write_results(folder / "results"),
        "imported": import_small,
        "claims": lambda folder: write_pairs(folder / "results", AS_PUBLISHED),
    }
    return {view: write(tmp_path_factory.mktemp("views")) for view, write in made.items()}


def write_roles(folder: Path) -> Path:
    with_rates(write_results(folder / "results", blocks=1), "scan", dict.fromkeys(("t0", "t1", "t2"), 500))
    return folder / "results"


def write_functions(folder: Path, event: str = "cpu-clock") -> Path:
    write_journal(folder, 2)
    write_profiles(folder, [target["label"] for target in HEADER["targets"]], "point-query", event=event)
    return folder


def import_small(folder: Path) -> Path:
    import_results([REFERENCE / "sysbench-2020"], folder / "results")
    return folder / "results"


def shown(directory: Path, *words: str) -> str:
    done = CliRunner().invoke(app, ["show", str(directory), *words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("name", SECTIONS)
def test_a_table_has_the_same_rows_in_every_form(folders: Mapping[str, Path], name: str) -> None:
    folder = folders.get(name, folders[""])
    as_csv = list(csv.DictReader(io.StringIO(shown(folder, "--table", name, "--format", "csv")), strict=True))
    as_json = json.loads(shown(folder, "--table", name, "--format", "json"))
    as_markdown = shown(folder, "--table", name, "--format", "md").splitlines()
    assert as_csv and None not in as_csv[0]
    assert [list(row) for row in as_csv] == [list(row) for row in as_json]
    assert len(as_markdown) == 2 + len(as_csv)
    assert next(iter(as_csv[0].values())) in shown(folder, "--table", name)


def test_findings_are_what_is_shown_unless_another_is_named(results_dir: Path) -> None:
    text = shown(results_dir)
    assert text == shown(results_dir, "--table", USUAL)
    assert text.split()[:4] == ["test", "target", "metric", "verdict"] and LABELS[1] in text


def test_an_unknown_table_is_refused_with_those_that_there_are(results_dir: Path) -> None:
    done = CliRunner().invoke(app, ["show", str(results_dir), "--table", "verdicts"])
    assert done.exit_code == 2
    assert f"--table verdicts is unknown; accepted: {', '.join(SECTIONS)}." in " ".join(done.output.split())


def test_a_table_that_these_results_cannot_have_says_what_it_needs(results_dir: Path) -> None:
    done = CliRunner().invoke(app, ["show", str(results_dir), "--table", "scaleup"])
    assert (done.exit_code, "--table scaleup needs several (--clients 1,2,4)." in done.output) == (2, True)
    done = CliRunner().invoke(app, ["show", str(results_dir), "--table", "sizes"])
    assert (done.exit_code, "--table sizes needs several (--table-size 1m,10m)." in done.output) == (2, True)


def test_what_was_measured_has_no_imported_figures(results_dir: Path) -> None:
    done = CliRunner().invoke(app, ["show", str(results_dir), "--table", "imported"])
    assert (done.exit_code, "was measured, not imported" in " ".join(done.output.split())) == (2, True)


def test_claims_need_builds_and_tests_of_a_post(results_dir: Path) -> None:
    done = CliRunner().invoke(app, ["show", str(results_dir), "--table", "claims"])
    # of 13.1 and 17.11, whatever a post says of 13.1 lacks its other build
    assert (done.exit_code, "has nothing that a post claims" in " ".join(done.output.split())) == (2, True)


def test_steps_need_a_test_that_lasts(results_dir: Path) -> None:
    done = CliRunner().invoke(app, ["show", str(results_dir), "--table", "steps"])
    assert (done.exit_code, "needs a step, roles, or slots of a second or more" in " ".join(done.output.split())) == (
        2,
        True,
    )


def test_help_says_what_each_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    text = CliRunner().invoke(app, ["show", "--help"]).stdout
    assert all(f"{each.name}: {each.what}" in text for each in SECTIONS.values())
