"""What compare and run make of their words before anything is started."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbversus.cli.compare import repeat_command
from dbversus.cli.main import app
from dbversus.experiment.spec import make_spec

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
    assert "one: point-query" in said and "100000 rows" in said
    (tmp_path / "ours.toml").write_text(OWN.replace('"point-query"]', '"point-query", "insert"]') + _QUICK)
    assert "one: insert " in ask(monkeypatch, tmp_path, *words, "--dry-run")[1]
    (tmp_path / "experiment.toml").write_text(
        'targets = ["sqlite:bundled", "sqlite:bundled@mmap"]\nprofile = "quick"\n'
    )
    with (tmp_path / "experiment.toml").open("a") as file:
        file.write('suite = "ours.toml"\n')
    assert "one: insert " in ask(monkeypatch, tmp_path, "run", "experiment.toml", "--dry-run")[1]


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
        assert status == 2 and f"--judge: no metric is named; one or more are wanted of: {accepted}" in " ".join(
            said.split()
        )
        status, said = ask(monkeypatch, tmp_path, *words, "--dry-run", "--judge", "p99,cpu")
        assert status == 0 and "cpu, p99 make the verdicts" in said


def test_the_command_that_repeats_it_judges_the_same_metrics() -> None:
    targets = {"targets": list(PAIR)}
    assert "--judge" not in repeat_command(make_spec(targets | {"judge": "io,throughput,cpu"}), PAIR, targets, [])
    assert "--judge cpu,p99" in repeat_command(make_spec(targets | {"judge": "p99,cpu"}), PAIR, targets, [])


PAIR = ("sqlite:bundled", "sqlite:bundled@wal")
