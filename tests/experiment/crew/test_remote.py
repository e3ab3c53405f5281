"""What a coordinator says of workers that do not do as they should; real ones are in tests/e2e/test_crew.py."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import dbversus
from dbversus.errors import UsageError
from dbversus.experiment.crew.remote import ProcessWorker, hello
from dbversus.experiment.crew.worker import Order, WorkerLost
from dbversus.experiment.plan.agenda import Cell
from dbversus.results.records import AnyRecord, encode
from dbversus.results.records import Test as Measured

RECORD = Measured(0, "scan", host="h")
LINE = {"kind": "record", "record": encode(RECORD).decode()}


def _worker(
    *answers: Sequence[dict[str, Any]], greeting: dict[str, Any] | None = None, status: int = 0
) -> ProcessWorker:
    """A process that greets, answers each order with lines as given, and ends."""
    lines = [
        [json.dumps({"kind": "hello"} | (greeting or hello()))],
        *([json.dumps(one) for one in each] for each in answers),
    ]
    program = (
        "import sys\n"
        f"lines = {lines!r}\n"
        "print(*lines[0], flush=True)\n"
        "for answer in lines[1:]:\n"
        "    sys.stdin.readline()\n"
        "    print(*answer, sep=chr(10), flush=True)\n"
        f"sys.exit({status})"
    )
    return ProcessWorker("worker 1", Path(), command=[sys.executable, "-c", program])


def _perform(worker: ProcessWorker, block: int = 0) -> list[AnyRecord]:
    taken: list[AnyRecord] = []
    try:
        worker.perform(Order(Cell(block, ("scan",))), taken.append)
    except WorkerLost:
        assert not taken, "what a worker said that was lost is given to nobody"
        raise
    return taken


def test_records_are_given_away_when_the_cell_is_finished() -> None:
    worker = _worker([LINE, LINE, {"kind": "finished", "block": 0}])
    assert _perform(worker) == [RECORD] * 2
    worker.close()


def test_one_that_dies_is_told_with_its_status() -> None:
    with pytest.raises(WorkerLost, match=r"worker 1 \(process \d+\) ended with status 7\."):
        _perform(_worker([LINE], status=7))


def test_one_that_gives_up_says_why() -> None:
    with pytest.raises(WorkerLost, match=r"worker 1 gave up: No space left"):
        _perform(_worker([LINE, {"kind": "failed", "words": "No space left"}]))


def test_one_that_answers_twice_is_not_believed() -> None:
    worker = _worker([{"kind": "finished", "block": 0}, {"kind": "finished", "block": 0}], [])
    _perform(worker)
    with pytest.raises(WorkerLost, match=r"answered for block 1, which it was not asked for or had answered before"):
        _perform(worker, block=1)


def test_one_of_another_version_is_refused() -> None:
    with pytest.raises(UsageError, match=rf"worker 1 is dbversus 9\.9 .* schema 7, and this is {dbversus.__version__}"):
        _worker(greeting={"dbversus": "9.9", "schema": 7})


def test_one_that_talks_otherwise_is_quoted() -> None:
    worker = ProcessWorker(
        "worker 1",
        Path(),
        command=[
            sys.executable,
            "-c",
            f"print({json.dumps({'kind': 'hello'} | hello())!r}); input(); print('Traceback')",
        ],
    )
    with pytest.raises(WorkerLost, match="worker 1 said what no worker says: 'Traceback'"):
        _perform(worker)


def test_one_that_sends_what_is_no_record_is_given_up() -> None:
    with pytest.raises(WorkerLost, match="worker 1 said what is no record"):
        _perform(_worker([{"kind": "record", "record": '{"type":"nonsense"}'}]))
