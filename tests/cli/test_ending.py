"""How a verb ends when its clean-up fails too, and when it says how to go on."""

import errno
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
import typer

from dbversus.cli.ending import INTERRUPTED, reports_errors, resumable
from dbversus.errors import RunError
from dbversus.results.schema import CAMPAIGN, JOURNAL

TARGETS = [{"name": name, "label": name} for name in ("t0", "t1")]
HEADER = {"type": "experiment", "schema": 2, "tests": [], "targets": TARGETS}
ROW = {"type": "row", "block": 0, "test": "scan", "row": 0, "disturbed": False, "slots": []}


def _status(verb: Callable[[], int | None]) -> int:
    with pytest.raises(typer.Exit) as ended:
        reports_errors(verb)()
    return ended.value.exit_code


@pytest.mark.parametrize(
    "error", [OSError(errno.EBUSY, "Device or resource busy"), RunError("disk"), ValueError("odd")]
)
def test_an_interrupt_stays_one_whatever_fails_after_it(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    def verb() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise error

    assert _status(verb) == INTERRUPTED
    assert capsys.readouterr().err == "dbversus: interrupted\n"


@pytest.fixture
def ctrl_c_is_heard() -> Iterator[None]:
    """Also where what started the tests ignores it, as a shell does for what runs in its background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_in_a_query_is_an_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    def verb() -> None:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        # a second's work: which thread does it decides whether DuckDB looks for signals before its end
        duckdb.connect().execute("SELECT sum(sqrt(range)) FROM range(200000000)").fetchall()

    assert _status(verb) == INTERRUPTED
    assert capsys.readouterr().err == "dbversus: interrupted\n"


def test_want_of_memory_is_told_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def verb() -> None:
        with resumable(tmp_path):
            (tmp_path / JOURNAL).write_text(
                "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in (HEADER, ROW))
            )
            raise MemoryError

    assert _status(verb) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0] == f"go on with: dbversus resume {tmp_path}"
    assert said[1].startswith("dbversus: There is not enough memory for that: ")


def _advice(directory: Path, error: BaseException, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(type(error)), resumable(directory):
        (directory / JOURNAL).write_text(json.dumps(HEADER) + "\n")
        raise error
    return capsys.readouterr().err


def test_with_nothing_measured_yet_it_goes_on_after_an_interrupt_or_a_full_disk_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = f"go on with: dbversus resume {tmp_path}\n"
    assert _advice(tmp_path, KeyboardInterrupt(), capsys) == said
    assert _advice(tmp_path, OSError(errno.ENOSPC, "full"), capsys) == said
    assert _advice(tmp_path, RunError("the base cannot start"), capsys) == ""


def _advice_of_campaign(
    directory: Path, error: BaseException, capsys: pytest.CaptureFixture[str], *, is_measured: bool
) -> str:
    (directory / CAMPAIGN).write_text("")
    (directory / "ends").mkdir(exist_ok=True)
    with pytest.raises(type(error)), resumable(directory):
        rows = [HEADER, ROW] if is_measured else [HEADER]
        lines = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in rows)
        (directory / "ends" / JOURNAL).write_text(lines)
        raise error
    return capsys.readouterr().err


def test_a_campaign_goes_on_where_one_of_its_experiments_can(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = f"go on with: dbversus resume {tmp_path}\n"
    failed = RunError("the base cannot start")
    assert _advice_of_campaign(tmp_path, failed, capsys, is_measured=False) == ""
    assert _advice_of_campaign(tmp_path, failed, capsys, is_measured=True) == said
    (tmp_path / "ends" / JOURNAL).unlink()
    (tmp_path / "ends").rmdir()
    with pytest.raises(KeyboardInterrupt), resumable(tmp_path):  # before its first experiment was begun
        raise KeyboardInterrupt
    assert capsys.readouterr().err == said
