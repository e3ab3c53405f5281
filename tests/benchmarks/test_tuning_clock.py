"""Where the time of a block goes."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbversus.results.stored import Results, Target

from ..journals import header, records_of

clock: Any = importlib.import_module("tuning.clock")

S = 1_000_000_000


def record(kind: str, at_s: float, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "at_unix_ns": int(at_s * S), **fields}


def block_records(block: int, began_s: float, overhead_s: float) -> list[dict[str, Any]]:
    """A block with two tests of 5 and 3 s."""
    return [
        record("block", began_s + overhead_s / 2, block=block, event="started"),
        record("test", began_s + overhead_s / 2 + 5, block=block, test="a", seconds=5.0),
        record("test", began_s + overhead_s / 2 + 8, block=block, test="b", seconds=3.0),
        record("block", began_s + overhead_s + 8, block=block, event="finished"),
    ]


def made_results() -> Results:
    """Three blocks after a load; rows of `a` take 0.1 s (40 of them), those of `b` 0.2 s (10)."""
    records = [
        record("experiment", 0, schema=2, targets=[], tests=["a", "b"]),
        record("load", 50, target="t0", table="x", earlier=False),
    ]
    at_s = 50.0
    for block in range(3):
        records += block_records(block, at_s, 10)
        at_s += 18
        if block == 1:
            records.append(record("look", at_s + 4, blocks=2, retired=[]))
            at_s += 4
    parts = [(test, block, row) for block in range(3) for test, count in (("a", 40), ("b", 10)) for row in range(count)]
    slots = {
        "test": np.repeat(np.array([test for test, _, _ in parts], dtype=object), 2),
        "target": np.array(["base", "other"] * len(parts), dtype=object),
        "block": np.repeat([block for _, block, _ in parts], 2),
        "row": np.repeat([row for _, _, row in parts], 2),
        "host_wall_ns": np.repeat([S // 10 if test == "a" else S // 5 for test, _, _ in parts], 2),
    }
    targets = tuple(Target(f"t{number}", label, "", "", "") for number, label in enumerate(("base", "other")))
    return Results(Path("none"), header(), targets, ("a", "b"), records_of(*records), {}, slots)


def test_time_is_shared_out() -> None:
    found = clock.read_clock(made_results())
    assert found.block_s == pytest.approx(10)
    assert found.row_s == pytest.approx({"a": 0.1, "b": 0.2})
    assert found.rows == {"a": 40, "b": 10}
    assert found.test_s == pytest.approx({"a": 1.0, "b": 1.0})


def test_a_block_as_run_takes_what_it_took() -> None:
    found = clock.read_clock(made_results())
    assert found.block_duration_s(["a", "b"]) == pytest.approx(18)
    assert found.block_duration_s(["b"]) == pytest.approx(13)
    assert found.block_duration_s(["a", "b"], {"a": 20, "b": 10}) == pytest.approx(16)
    assert found.share_s("a") == pytest.approx(6)


def test_interrupted_blocks_do_not_count() -> None:
    records = [record("experiment", 0, schema=2, targets=[], tests=[]), *block_records(0, 0, 10)[:2]]
    records += [record("resumed", 1000, reason=""), *block_records(0, 1000, 7)[2:], *block_records(1, 1015, 6)]
    assert clock.block_overheads_s(records_of(*records)) == pytest.approx([6])


def test_a_settled_test_that_changes_data_is_run_again_before_an_open_one() -> None:
    test_s, row_s, rows = (dict.fromkeys("abc", figure) for figure in (1.0, 0.5, 4))
    found = clock.Clock(10.0, test_s, row_s, rows, frozenset("b"))
    assert found.block_duration_s(["a", "c"]) == pytest.approx(10 + 3 * 3)
    assert found.block_duration_s(["a"]) == pytest.approx(10 + 3)
    assert found.only(["a", "c"]).block_duration_s(["c"]) == pytest.approx(10 + 3)
