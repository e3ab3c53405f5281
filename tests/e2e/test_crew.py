"""Two workers, each a process of its own on this host; one is killed in the midst of a cell."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.crew.remote import ProcessWorker
from dbversus.experiment.rig.rig import Silent
from dbversus.experiment.run import run_together
from dbversus.results.journal import parse_journal
from dbversus.results.read import open_results
from dbversus.results.records import Row, of_type
from dbversus.results.records import Test as Measured
from dbversus.results.schema import JOURNAL

from .conftest import Bench

pytestmark = pytest.mark.e2e


class _Said(Silent):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


def test_nothing_is_lost_or_counted_twice(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in bench.places.items():
        monkeypatch.setenv(name, value)
    choices = {"table_size": 2000, "slot_ms": 10, "write_slot_ms": 10, "settle_ms": 1, "rows": 6, "seconds": 1}
    spec = make_spec(
        {"targets": ["sqlite:bundled", "sqlite:bundled@wal"], "tests": "point-query,insert", "looks": [6], **choices}
    )
    said, hired = _Said(), list[ProcessWorker]()

    def hire() -> list[ProcessWorker]:
        for number in (1, 2):
            lock = {"DBVERSUS_HOST_LOCK": str(bench.folder / f"host-{number}.lock")}
            hired.append(ProcessWorker(f"worker {number}", bench.out, lock))
        threading.Thread(target=_kill_in_a_cell, args=(hired[1], bench.out), daemon=True).start()
        return hired

    run_together(spec, bench.out, "dbversus run", said, hire)
    (lost,) = [line for line in said.lines if "was killed by signal 9" in line]
    assert "worker 2" in lost and "goes to another worker" in lost
    records, _ = parse_journal(bench.out / JOURNAL)
    rows = Counter((row.block, row.test, row.row) for row in of_type(records, Row))
    assert set(rows.values()) == {1} and {block for block, _, _ in rows} == set(range(6))
    results = open_results(bench.out)
    assert results.finished and {test.block for test in of_type(records, Measured)} == set(range(6))
    assert all(worker.pid and not _lives(worker.pid) for worker in hired)


COORDINATOR = """
import sys
from pathlib import Path
from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.crew.remote import ProcessWorker
from dbversus.experiment.rig.rig import Silent
from dbversus.experiment.run import run_together

out = Path(sys.argv[1])
asked = {"targets": ["sqlite:bundled", "sqlite:bundled@wal"], "tests": "point-query", "table_size": 2000}
spec = make_spec({**asked, "looks": [9], "seconds": 3})
run_together(spec, out, "x", Silent(), lambda: [ProcessWorker("worker 1", out, {"DBVERSUS_HOST_LOCK": sys.argv[2]})])
"""


def test_workers_end_with_a_coordinator_that_is_killed_and_a_resumed_run_goes_on(bench: Bench) -> None:
    command = [sys.executable, "-c", COORDINATOR, str(bench.out), str(bench.folder / "worker.lock")]
    started = subprocess.Popen(command, env=bench.env, stderr=subprocess.PIPE, text=True)
    _wait_until_in_a_cell(bench.out, started)
    started.kill()
    assert started.stderr
    assert started.stderr.read().splitlines()[-1] == (
        "dbversus: the coordinator is gone, and with it the cell that was under way."
    )
    assert not bench.survivors()
    bench.run("resume", bench.out, "--time-budget", "1s")
    assert open_results(bench.out).finished


def _kill_in_a_cell(worker: ProcessWorker, folder: Path) -> None:
    _wait_until_in_a_cell(folder)
    os.kill(worker.pid, signal.SIGKILL)


def _wait_until_in_a_cell(folder: Path, coordinator: subprocess.Popen[str] | None = None) -> None:
    """A cell's records are in the journal once it is over; then each worker has the next one, which takes a second at least.

    Between two cells a worker waits for an order, and would end without a word.
    """
    while not ((folder / JOURNAL).exists() and '"event":"finished"' in (folder / JOURNAL).read_text()):
        assert not coordinator or coordinator.poll() is None, coordinator.stderr and coordinator.stderr.read()
        time.sleep(0.01)
    time.sleep(0.5)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
