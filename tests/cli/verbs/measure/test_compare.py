"""What compare and run make of their words before anything is started."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbversus.cli.main import app
from dbversus.cli.verbs.measure.compare import repeat_command
from dbversus.experiment.asked.spec import make_spec
from dbversus.suites.profiles import profile_defaults

PAIR = ("sqlite:bundled", "sqlite:bundled@wal")

OWN = """
title = "Ours"
extends = "sysbench"
[[phases]]
name = "one"
tests = ["point-query"]
"""
MATRIX = '[matrix]\nbuilds = ["sqlite:bundled"]\nconfigs = [["wal", "mmap"]]\n'


def ask(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> tuple[int, str]:
    """Exit status and all that is printed."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DBVERSUS_HOME", str(folder / "home"))
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.output


def test_the_quick_profile_runs_all_tests_of_a_suite_of_ones_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ours.toml").write_text(OWN)
    words = ("compare", "sqlite:bundled", "sqlite:bundled@mmap", "--suite", "ours.toml", "--profile", "quick")
    status, said = ask(monkeypatch, tmp_path, *words, "--dry-run")
    assert status == 0, said
    assert "one: point-query" in said and "300,000 rows" in said
    (tmp_path / "ours.toml").write_text(OWN.replace('"point-query"]', '"point-query", "insert"]') + _QUICK)
    assert "one: insert\n" in ask(monkeypatch, tmp_path, *words, "--dry-run")[1]
    (tmp_path / "experiment.toml").write_text(
        'targets = ["sqlite:bundled", "sqlite:bundled@mmap"]\nprofile = "quick"\n'
    )
    with (tmp_path / "experiment.toml").open("a") as file:
        file.write('suite = "ours.toml"\n')
    assert "one: insert\n" in ask(monkeypatch, tmp_path, "run", "experiment.toml", "--dry-run")[1]


_QUICK = '[selections]\nquick = ["insert"]\n'


def test_the_durability_matrix_runs_with_the_quick_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text(f'suite = "durability"\n{MATRIX}')
    words = ("compare", "sqlite:bundled", "--profile", "quick", "--dry-run", "--matrix")
    status, said = ask(monkeypatch, tmp_path, *words, "matrix.toml")
    assert status == 0 and "update-nonindex" in said, said


def test_one_target_is_refused_unless_it_is_said_to_be_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    status, said = ask(monkeypatch, tmp_path, "compare", "sqlite:bundled", "--dry-run")
    assert status == 2 and "sqlite:bundled is the only target" in said and "--alone" in said
    status, said = ask(monkeypatch, tmp_path, "compare", "sqlite:bundled", "--alone", "--dry-run")
    assert status == 0 and "sqlite:bundled" in said
    status, said = ask(monkeypatch, tmp_path, "compare", "sqlite:bundled", "sqlite:bundled@wal", "--alone", "--dry-run")
    assert status == 2 and "alone is for one target" in said


def test_a_file_with_one_target_says_so_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text('targets = ["sqlite:bundled"]\n')
    status, said = ask(monkeypatch, tmp_path, "run", "one.toml", "--dry-run")
    assert status == 2 and "alone = true" in said
    assert ask(monkeypatch, tmp_path, "run", "one.toml", "--alone", "--dry-run")[0] == 0
    file.write_text('targets = ["sqlite:bundled"]\nalone = true\n')
    assert ask(monkeypatch, tmp_path, "run", "one.toml", "--dry-run")[0] == 0


def test_an_unknown_metric_to_judge_and_none_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('targets = ["sqlite:bundled", "sqlite:bundled@wal"]\n')
    accepted = "cpu, throughput, io, mean, p50, p95, p99."
    for words in (("compare", *PAIR), ("run", "one.toml"), ("calibrate", "sqlite:bundled")):
        status, said = ask(monkeypatch, tmp_path, *words, "--dry-run", "--judge", "cpu,speed")
        assert status == 2 and f"--judge: unknown metric 'speed'; accepted: {accepted}" in " ".join(said.split())
        status, said = ask(monkeypatch, tmp_path, *words, "--dry-run", "--judge", "")
        assert status == 2 and f"--judge: no metric is named; name one or more of: {accepted}" in " ".join(said.split())
        status, said = ask(monkeypatch, tmp_path, *words, "--dry-run", "--judge", "p99,cpu")
        assert status == 0 and "cpu, p99 make the verdicts" in said


def test_the_command_that_repeats_it_judges_the_same_metrics() -> None:
    targets = {"targets": list(PAIR)}
    assert "--judge" not in repeat_command(make_spec(targets | {"judge": "io,throughput,cpu"}), PAIR, targets, [])
    assert "--judge cpu,p99" in repeat_command(make_spec(targets | {"judge": "p99,cpu"}), PAIR, targets, [])


@pytest.mark.parametrize("verb", [("compare", *PAIR), ("run", "experiment.toml"), ("calibrate", "sqlite:bundled")])
@pytest.mark.parametrize("value", ["0", "0s", "-5m", "soon", ""])
def test_a_wait_that_is_no_duration_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verb: tuple[str, ...], value: str
) -> None:
    (tmp_path / "experiment.toml").write_text(f"targets = {list(PAIR)}\n")
    status, said = ask(monkeypatch, tmp_path, *verb, "--dry-run", f"--wait-quiet={value}")
    assert status == 2, said
    assert f"--wait-quiet is '{value}'; write a duration such as 90s, 45m or 1h30m." in " ".join(said.split())


@pytest.mark.parametrize(
    ("value", "words"), [('"soon"', "wait_quiet_s is 'soon'; write a duration"), ("0", "greater than 0")]
)
def test_a_file_is_held_to_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str, words: str) -> None:
    (tmp_path / "experiment.toml").write_text(f"targets = {list(PAIR)}\nwait_quiet_s = {value}\n")
    status, said = ask(monkeypatch, tmp_path, "run", "experiment.toml", "--dry-run")
    assert (status, words in said) == (2, True), said


def test_the_plan_says_what_is_done_about_other_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = ("compare", *PAIR, "--dry-run")
    assert "other work" not in ask(monkeypatch, tmp_path, *words)[1]
    said = ask(monkeypatch, tmp_path, *words, "--wait-quiet", "5m")[1]
    assert "up to 5 min 00 s more before each block" in said and "the block begins all the same" in said
    said = ask(monkeypatch, tmp_path, *words, "--wait-quiet", "5m", "--require-quiet")[1]
    assert "when it has not, the run ends" in said
    said = ask(monkeypatch, tmp_path, *words, "--require-quiet")[1]
    assert "where other work goes on before a block, the run ends" in said


def test_the_command_that_repeats_an_experiment_waits_too() -> None:
    given = {"targets": list(PAIR)}
    chosen = given | {"wait_quiet_s": 90, "require_quiet": True}
    spec = make_spec(profile_defaults(chosen) | chosen)
    command = repeat_command(spec, PAIR, given, ())
    assert command.endswith("--wait-quiet 90s --require-quiet")
    assert "quiet" not in repeat_command(make_spec(profile_defaults(given) | given), PAIR, given, ())
