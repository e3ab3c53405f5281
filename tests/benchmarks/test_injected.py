"""What was added, what is shown of it, and what the rest cost, from a journal in which all three are known."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError

from ..journals import DictJournal

injected: Any = importlib.import_module("injected")

OPS = 1000
LABELS = ("pg", "pg#2")


def _slot(name: str, place: int, cpu_ns_per_op: float) -> dict[str, Any]:
    figures = {"server_cpu_ns": round(cpu_ns_per_op * OPS), "server_read_bytes": 0, "server_write_bytes": 0}
    return {"target": name, "position": place, "ops": OPS, "elapsed_ns": 50_000_000, **figures}


def _journal(directory: Path, added_ns: float, rests_ns: tuple[float, ...]) -> Path:
    """The base costs 10 µs, the copy of block n `rests_ns[n]`, and what was added to that."""
    targets = [{"name": f"t{number}", "label": label} for number, label in enumerate(LABELS)]
    nothing = {"cpu_share": 0.0, "io_share": 0.0, "burned_ns": 0, "io_bytes_added": 0, "ops": OPS}
    with DictJournal(directory) as journal:
        journal.append({"type": "experiment", "schema": 2, "targets": targets, "tests": ["scan"]})
        for block, rest_ns in enumerate(rests_ns):
            slots = [_slot("t0", 0, 10_000), _slot("t1", 1, rest_ns + added_ns)]
            where = {"block": block, "test": "scan"}
            for row in range(4):
                timed = {"clients": 1, "row": row, "started_unix_ns": row, "disturbed": False}
                journal.append({"type": "row", **where, **timed, "slots": slots})
            burned = {"t0": nothing, "t1": {**nothing, "burned_ns": round(added_ns * OPS)}}
            journal.append({"type": "injected", **where, "targets": burned})
            journal.append({"type": "block", "block": block, "event": "finished"})
    return directory


def _run(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["injected.py", str(path)])
    injected.main()


def test_the_rest_is_what_a_copy_costs_without_what_was_burned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(monkeypatch, _journal(tmp_path, 500, (9_900, 9_900)))
    assert capsys.readouterr().out.splitlines()[2] == "| scan | pg#2 | 2 | +5.05 % | +4.00 % | -1.00 % ± 0.00 |"


def test_its_error_is_that_of_the_mean_over_blocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(monkeypatch, _journal(tmp_path, 500, (9_900, 10_100)))
    assert "| -0.01 % ± 1.00 |" in capsys.readouterr().out


def test_where_nothing_was_added_there_is_nothing_to_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="Nothing was added"):
        _run(monkeypatch, _journal(tmp_path, 0, (10_000, 10_000)))
