"""The same amount of work, said in each load generator's own way."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import RunError

instructions: Any = importlib.import_module("client_instructions")
peers: Any = importlib.import_module("peers")

ADDRESS = {"socket_dir": "/tmp/s", "port": 5432, "user": "u", "database": "d"}
TARGET = {"cmd": "target", "name": "t0", "wire": "postgres", "address": ADDRESS}
POINT = peers.workloads(1000)[0]


def test_so_many_operations_or_so_many_seconds() -> None:
    sysbench = peers._sysbench("sysbench", POINT, ADDRESS, 1000)
    assert sysbench.command(peers.Amount(ops=7))[-3:] == ["--events=7", "--time=0", "run"]
    assert sysbench.command(peers.Amount(seconds=4))[-3:] == ["--events=0", "--time=4", "run"]
    pgbench = peers._pgbench("pgbench", Path("/tmp/x"), ADDRESS)
    assert pgbench.command(peers.Amount(ops=7))[-2:] == ["--transactions=7", "d"]
    assert pgbench.command(peers.Amount(seconds=4))[-2:] == ["--time=4", "d"]


@pytest.mark.parametrize(
    ("amount", "slot_ms", "slot", "slots"),
    [
        (peers.Amount(ops=7), None, {"ops": 7}, 1),
        (peers.Amount(seconds=2), None, {"ms": 2000, "min_ops": 1}, 1),
        (peers.Amount(seconds=2), 50, {"ms": 50, "min_ops": 1}, 40),
    ],
)
def test_the_engine_is_given_slots(amount: Any, slot_ms: int | None, slot: dict[str, int], slots: int) -> None:
    given = peers.engine(TARGET, {"name": "t"}, 0, slot_ms).given(amount).splitlines()
    _, _, rows, _ = map(json.loads, given)
    assert (rows["slot"], len(rows["orders"])) == (slot, slots)


def test_the_engines_own_count_is_taken_and_its_refusal_told() -> None:
    done = peers.engine(TARGET, {"name": "t"}, 0).done
    assert done('{"slots": [{"ops": 3}]}\n{"slots": [{"ops": 4}]}\n{}\n') == 7
    with pytest.raises(RunError, match="no such test"):
        done('{"error": {"message": "no such test"}}\n')


def test_instructions_of_an_operation_are_those_that_more_operations_add(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions, "instructions", lambda _, amount, __: 1_000_000 + 2000 * amount.ops)
    assert instructions.per_op(None, 50, "valgrind") == 2000
    table = instructions.report({peers.ENGINE: 2000.0, "sysbench": 8000.0})
    assert "| sysbench | 8,000 | 0.25 |" in table
