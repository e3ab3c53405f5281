"""Advice to resume is given where resuming can help, by kind of error."""

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import RunError
from dbversus.experiment.advice import is_for_want_of_room, resume_can_help
from dbversus.experiment.rig.quiet import NotQuiet
from dbversus.results.schema import JOURNAL

TARGETS = [{"name": f"t{n}", "label": f"sqlite#{n}"} for n in range(3)]
HEADER = {"type": "experiment", "schema": 2, "tests": ["load"], "targets": TARGETS}
ROW = {"type": "row", "block": 0, "test": "scan", "row": 0, "disturbed": False, "slots": []}
CRASHED = RunError("The base is out: it crashed")


def _failure(target: str, stage: str) -> dict[str, Any]:
    return {"type": "failure", "target": target, "stage": stage, "final": True, "message": "no"}


def _journal(directory: Path, *records: dict[str, Any]) -> Path:
    lines = [json.dumps(record, separators=(",", ":")) + "\n" for record in (HEADER, *records)]
    (directory / JOURNAL).write_text("".join(lines))
    return directory


def _size(directory: Path) -> int:
    return (directory / JOURNAL).stat().st_size


def test_what_failed_after_rows_may_pass(tmp_path: Path) -> None:
    assert resume_can_help(_journal(tmp_path, ROW, _failure("t0", "slot")), CRASHED, 0)


def test_what_failed_before_any_row_would_fail_again(tmp_path: Path) -> None:
    assert not resume_can_help(_journal(tmp_path, _failure("t0", "start")), CRASHED, 0)


def test_a_resumed_run_that_came_no_further_would_fail_again(tmp_path: Path) -> None:
    known_bytes = _size(_journal(tmp_path, ROW))
    assert not resume_can_help(_journal(tmp_path, ROW, _failure("t0", "start")), CRASHED, known_bytes)


@pytest.mark.parametrize("out", [["t0"], ["t1", "t2"]])
def test_targets_that_refused_something_are_not_tried_again(tmp_path: Path, out: list[str]) -> None:
    failures = [_failure(name, "open") for name in out]
    assert not resume_can_help(_journal(tmp_path, ROW, *failures), CRASHED, 0)
    assert resume_can_help(_journal(tmp_path, ROW, _failure("t1", "open")), CRASHED, 0)


def test_a_full_disk_may_have_room_again_though_nothing_was_measured(tmp_path: Path) -> None:
    assert resume_can_help(_journal(tmp_path, _failure("t0", "load")), OSError(errno.ENOSPC, "no room"), 0)


def test_a_busy_host_may_be_quiet_again_though_nothing_was_measured(tmp_path: Path) -> None:
    assert resume_can_help(_journal(tmp_path), NotQuiet("Block 1 was not begun."), 0)


@pytest.mark.parametrize(
    "words",
    [
        "PANIC: could not write to file: No space left on device",
        "Disk full (/tmp/#sql); waiting for someone to free some space",
        "database or disk is full",
        "OS errno: 28 - ",
    ],
)
def test_words_of_servers_for_a_full_disk(words: str) -> None:
    assert is_for_want_of_room(RunError(words))
    assert not is_for_want_of_room(RunError("shared memory is exhausted, errno: 280"))
