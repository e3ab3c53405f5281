"""`dbversus explain` on a results directory: in sentences, as JSON, and what it refuses."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dbversus
from dbversus.cli.main import app
from dbversus.files import LineFile
from dbversus.results.schema import JOURNAL

from ....report.synthetic import LABELS, TRUTHS, write_results

RUNNER = CliRunner()
CHANGED, SAME = "range-notcovered-si", "hot-points"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    truths = tuple(truth for truth in TRUTHS if truth.name in (CHANGED, SAME))
    return write_results(tmp_path_factory.mktemp("explain") / "results", targets=2, truths=truths)


def test_a_change_is_told_in_three_sentences_with_its_leads(directory: Path) -> None:
    done = RUNNER.invoke(app, ["explain", str(directory)])
    assert done.exit_code == 0
    text = " ".join(done.output.split())
    assert f"{CHANGED} on {LABELS[1]} against {LABELS[0]}" in text and SAME not in text
    assert "Likely cause, not tested: another plan, Index Scan of sbtest1 by k_1 → Bitmap Heap Scan of sbtest1." in text
    assert "1. lead: another plan" in text and "A cause was tested" in text


def test_json_has_all_of_it(directory: Path) -> None:
    (found,) = json.loads(RUNNER.invoke(app, ["explain", str(directory), "--json"]).output)
    assert (found["test"], found["target"], found["explained"]) == (CHANGED, LABELS[1], None)
    assert len(found["words"]) == 3
    (cause,) = found["causes"]
    assert (cause["kind"], cause["tested"], cause["sure"]) == ("plan", False, False)
    experiment = dbversus.read(directory)
    assert [one.what for one in experiment.causes()] == [cause["what"]]
    assert experiment.causes(CHANGED, LABELS[1]) and not experiment.causes(SAME)


def test_nothing_that_changed_is_said_as_that(directory: Path) -> None:
    done = RUNNER.invoke(app, ["explain", str(directory), "--tests", "hot-*"])
    assert done.exit_code == 0
    assert done.output == "The one test has no regression or improvement: there is nothing to explain.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tests", "sc*"], f"--tests sc* matches none of the tests that were measured: {SAME}, {CHANGED}."),
        (["--base", "nobody"], "nobody"),
    ],
)
def test_what_is_not_there_is_refused(directory: Path, words: list[str], said: str) -> None:
    done = RUNNER.invoke(app, ["explain", str(directory), *words])
    assert done.exit_code == 2 and said in " ".join(done.output.split())


def test_the_end_of_a_report_names_the_command_where_a_cause_is_known(directory: Path) -> None:
    done = RUNNER.invoke(app, ["report", str(directory), "--format", "csv"])
    assert done.output.splitlines()[-2:] == [
        f"why: dbversus explain {directory}",
        f"report: {directory / 'report.csv'}",
    ]


TWO = ["--settings", "cache_size=2", "cache_size=-2000"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["DIR", *TWO, "--build", "sqlite:bundled"], "--settings measures anew, and needs no results; leave out"),
        (TWO, "--settings needs the build to measure on"),
        ([*TWO, "--build", "sqlite:bundled", "--base", "t2"], "--base t2 is for stored results"),
        (["DIR", "--profile", "quick"], "--profile is for --settings; of"),
        (["DIR", "--time-budget", "5m"], "--time-budget is for --settings; of"),
        (["DIR", "--dry-run"], "--dry-run is for --settings; of"),
        (["--json"], "Name a results directory, or measure two configs"),
        (
            ["--settings", "no.conf", "b.conf", "--build", "sqlite:bundled"],
            "cannot be read: No such file or directory.",
        ),
    ],
)
def test_results_and_settings_are_not_mixed(directory: Path, words: list[str], said: str) -> None:
    done = RUNNER.invoke(app, ["explain", *(str(directory) if word == "DIR" else word for word in words)])
    assert done.exit_code == 2 and said in done.stderr and not done.stdout


def test_settings_are_planned_by_a_dry_run() -> None:
    words = ["--build", "sqlite:bundled", "--tests", "point-query", "--profile", "quick", "--dry-run"]
    done = RUNNER.invoke(app, ["explain", "--settings", "cache_size=2", "cache_size=-2000,cell_size_check=on", *words])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("ends: whether there is a change")
    assert "then: if tests changed, each setting measured by itself" in done.stdout


PLANS = ["--plans", "sqlite:bundled", "sqlite:bundled@cache_size=2"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["results/x", *PLANS], "leave out results/x"),
        ([*PLANS, "--build", "sqlite:bundled"], "--build is not for --plans"),
        ([*PLANS, *TWO], "give one of the two"),
        ([*PLANS, "--fail-on", "shapes"], "Did you mean 'shape'"),
        ([*PLANS, "--time-budget", "5m"], "--plans measures nothing"),
        ([*PLANS, "--table-size", "1k,2k"], "one --table-size"),
        (["--plans", "sqlite:bundled", "postgres:17"], "compares plans of one DBMS"),
        (["results/x", "--verbose"], "--verbose is for --plans"),
        (["results/x", "--fail-on", "shape"], "--fail-on shape is for --plans"),
    ],
)
def test_mistakes_about_plans_are_one_sentence(words: list[str], said: str) -> None:
    done = RUNNER.invoke(app, ["explain", *words])
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


def test_a_dry_run_of_plans_names_builds_and_statements() -> None:
    done = RUNNER.invoke(app, ["explain", *PLANS, "--tests", "point-query", "--table-size", "1k", "--dry-run"])
    assert done.exit_code == 0, done.stderr
    assert "1 statement of sysbench with 1,000 rows per table; nothing is measured" in done.stdout


MEASURE = ["DIR", "--measure"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--measure"], "--measure explains results; name their directory."),
        ([*MEASURE, *TWO], "--settings compares two configs, and --measure explains results; give one of the two."),
        ([*MEASURE, "--base", "t2"], "--base is not for --measure"),
        ([*MEASURE, "--profile", "quick"], "--profile is the experiment's own; --measure takes --only, --tests and"),
        (
            [*MEASURE, "--only", "profil"],
            "--only profil is no step. Did you mean 'profile' or 'trial'? Accepted: plans, trial, settings, waits, profile",
        ),
        ([*MEASURE, "--tests", "no-*"], "--tests no-* matches none of the tests that were measured"),
        (["DIR", "--only", "profile"], "--only profile is for --measure."),
    ],
)
def test_what_measure_does_not_take_is_refused(directory: Path, words: list[str], said: str) -> None:
    done = RUNNER.invoke(app, ["explain", *(str(directory) if word == "DIR" else word for word in words)])
    assert done.exit_code == 2 and said in " ".join(done.stderr.split()) and not done.stdout


def test_measure_waits_for_nobody_who_measures_there(directory: Path) -> None:
    with LineFile(directory / JOURNAL):
        done = RUNNER.invoke(app, ["explain", str(directory), "--measure"])
    assert done.exit_code == 1 and "is being written by another dbversus" in done.stderr


def test_what_was_interrupted_is_resumed_before_it_is_explained(directory: Path, tmp_path: Path) -> None:
    shutil.copytree(directory, tmp_path / "results")
    journal = tmp_path / "results" / JOURNAL
    lines = [line for line in journal.read_bytes().splitlines(keepends=True) if b'"type":"finished"' not in line]
    journal.write_bytes(b"".join(lines))
    done = RUNNER.invoke(app, ["explain", str(tmp_path / "results"), "--measure"])
    assert (
        done.exit_code == 2 and "was interrupted, so what changed is not known; first: dbversus resume" in done.stderr
    )


def test_without_perf_measure_says_what_to_install(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = RUNNER.invoke(app, ["explain", str(directory), "--measure", "--only", "profile", "--tests", CHANGED])
    assert done.exit_code == 2 and "package linux-perf on Debian" in done.stderr
    assert not (directory / "measured").exists()


def test_steps_that_can_tell_nothing_are_named_with_why(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbversus.profiling.perf.find_perf", lambda: None)
    words = ["explain", str(directory), "--measure", "--tests", CHANGED, "--only", "trial,profile", "--dry-run"]
    done = RUNNER.invoke(app, words)
    assert "trial: left out, no lead points to a setting that could be tried" in done.stderr
    alone = RUNNER.invoke(app, [*words[:-3], "--only", "plans", "--dry-run"])
    assert alone.exit_code == 0 and alone.stdout.startswith(
        f"plans: which settings bring the old plans of {CHANGED} back"
    )
