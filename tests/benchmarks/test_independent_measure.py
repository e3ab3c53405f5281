"""Runs are measured, resumed and counted; other work that was made on purpose ends with whoever made it."""

import fcntl
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import RunError, UsageError
from dbversus.home import home_dir
from dbversus.host.processes import PROC, is_alive
from dbversus.results.read import open_results
from dbversus.servers.process.engine import engine_binary

pytestmark = pytest.mark.slow

busy: Any = importlib.import_module("independent_runs.busy")
measure: Any = importlib.import_module("independent_runs.measure")
outcome: Any = importlib.import_module("independent_runs.outcome")
plan: Any = importlib.import_module("independent_runs.plan")
tables: Any = importlib.import_module("independent_runs.tables")

BENCHMARKS = Path(busy.__file__).parents[1]
SMALL = {"table_size": 2000, "tests": "point-query.pre,insert", "rows": 6, "seconds": 0.5, "looks": [2]}
TARGET = "sqlite:bundled"
LONG_S = 60


def wait_for(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + LONG_S
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.02)


def user_ticks(pid: int) -> int:
    """CPU time that a process has used itself, in clock ticks."""
    return int((PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[11])


def plan_of(folder: Path, runs: list[Any], **more: Any) -> Any:
    return measure.Plan(folder, runs, "independent.py measure", TARGET, choices=SMALL, **more)


@pytest.fixture
def place(open_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a lock of its own; what is measured there does not matter."""
    engine_binary()
    monkeypatch.setenv("DBVERSUS_HOME", str(open_folder / tmp_path.name))
    monkeypatch.setenv("DBVERSUS_HOST_LOCK", str(tmp_path / "host.lock"))
    return tmp_path / "runs"


def test_a_busy_core_is_busy_until_it_is_let_go() -> None:
    with busy.busy_core() as pid:
        wait_for(lambda: user_ticks(pid) > 2)
    assert not is_alive(pid)


def test_one_core_can_be_chosen() -> None:
    cpu = min(os.sched_getaffinity(0))
    with busy.busy_core(cpu) as pid:
        wait_for(lambda: os.sched_getaffinity(pid) == {cpu})


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_busy_core_is_let_go_however_its_maker_ends(how: signal.Signals) -> None:
    code = "from independent_runs.busy import busy_core\nwith busy_core() as pid: print(pid, flush=True); input()"
    maker = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=BENCHMARKS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    with maker:
        assert maker.stdout
        pid = int(maker.stdout.readline())
        assert is_alive(pid)
        maker.send_signal(how)
        maker.wait()
        wait_for(lambda: not is_alive(pid))


def test_runs_are_measured_once_and_counted(place: Path) -> None:
    runs = [plan.Run("quick", "sqlite", 1), plan.Run("busy", "sqlite", 1)]
    measure.measure_all(plan_of(place, runs))
    journals = {path: path.read_bytes() for path in place.glob("*/journal.jsonl")}
    assert sorted(path.parent.name for path in journals) == ["busy-sqlite-001", "quick-sqlite-001"]
    assert open_results(place / runs[0].name).header.seed == runs[0].seed
    measure.measure_all(plan_of(place, runs))
    assert journals == {path: path.read_bytes() for path in place.glob("*/journal.jsonl")}
    found = outcome.read_outcomes([place])
    assert [(one.run, len(one.tests), one.dbms.split()[0]) for one in found] == [
        (run, 2, "sqlite") for run in runs[::-1]
    ]
    assert all(one.minutes is not None and one.minutes > 0 and len(one.equal) == 2 for one in found)
    assert all(len(one.errors) == 2 and all(one.errors.values()) for one in found)
    assert all(one.day.startswith("20") and "CPUs" in one.host for one in found)
    assert "| busy | sqlite" in tables.report(found)
    assert all(measure.commits_of(path.parent) == [measure.commit_at_hand()] for path in journals)


def test_the_commit_of_the_source_is_known_or_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    monkeypatch.setattr(measure, "__file__", str(tmp_path / "measure.py"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert measure.commit_at_hand() == ""
    (tmp_path / "measure.py").write_text("1")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    git("tag", "-a", "v1", "-m", "one")
    commit = measure.commit_at_hand()
    assert len(commit) == 40
    (tmp_path / "measure.py").write_text("2")
    assert measure.commit_at_hand() == f"{commit}-dirty"


def test_runs_that_are_kept_elsewhere_are_left_out(place: Path) -> None:
    measure.measure_all(plan_of(place, [plan.Run("quick", "sqlite", 1)], kept=frozenset({"quick-sqlite-001"})))
    assert list(place.glob("*/journal.jsonl")) == []


def test_the_data_of_a_finished_run_is_not_kept(place: Path) -> None:
    measure.measure_all(plan_of(place, [plan.Run("quick", "sqlite", 1)]))
    assert list((home_dir() / "snapshots").glob("*/key.json")) == []


def test_what_was_interrupted_is_resumed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = plan.Run("quick", "sqlite", 1)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dbversus.experiment.crew.local.run_cell", interrupted)
        with pytest.raises(KeyboardInterrupt):
            measure.measure_all(plan_of(place, [run]))
    assert not measure.is_finished(place / run.name)
    before = measure.commits_of(place / run.name)
    monkeypatch.setattr(measure, "commit_at_hand", lambda: "another")
    measure.measure_all(plan_of(place, [run]))
    assert measure.commits_of(place / run.name) == [*before, "another"]
    (found,) = outcome.read_outcomes([place])
    assert found.minutes is None  # with a pause in it


def test_what_a_kill_left_before_the_first_line_is_begun_anew(place: Path) -> None:
    run = plan.Run("quick", "sqlite", 1)
    (place / run.name).mkdir(parents=True)
    (place / run.name / "journal.jsonl").write_text('{"type":"experi')
    measure.measure_all(plan_of(place, [run]))
    assert measure.is_finished(place / run.name)


def test_no_run_is_begun_when_the_time_is_up(place: Path) -> None:
    measure.measure_all(plan_of(place, [plan.Run("quick", "sqlite", 1)], minutes=0))
    assert list(place.glob("*/")) == []


def test_a_folder_is_filled_by_one_at_a_time(place: Path) -> None:
    place.mkdir()
    with (place / measure.LOCK).open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="Another process fills"):
            measure.measure_all(plan_of(place, []))


def test_a_run_that_fails_does_not_stop_the_others(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def failing(_: Any, run: Any) -> None:
        tried.append(run.number)
        if run.number == 1:
            raise RunError("the disk is full.")

    monkeypatch.setattr(measure, "measure_one", failing)
    with pytest.raises(RunError, match="Not finished: quick-sqlite-001"):
        measure.measure_all(plan_of(place, [plan.Run("quick", "sqlite", number) for number in (1, 2)]))
    assert tried == [1, 2]


def test_a_run_that_cannot_be_gone_on_with_does_not_stop_the_others(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [plan.Run("quick", "sqlite", number) for number in (1, 2)]
    (place / runs[0].name).mkdir(parents=True)
    monkeypatch.setattr(measure, "is_begun", lambda folder: folder.exists())
    monkeypatch.setattr(measure, "is_finished", lambda folder: False)

    def of_another_source(*_: Any, **__: Any) -> None:
        raise UsageError("The suite was another one.")

    begun = []
    monkeypatch.setattr(measure, "read_folder", of_another_source)
    monkeypatch.setattr(measure, "run_experiment", lambda *_, **__: begun.append(2))
    with pytest.raises(RunError, match="Not finished: quick-sqlite-001;"):
        measure.measure_all(plan_of(place, runs))
    assert begun == [2]
