from pathlib import Path
from typing import Any

import pytest

from dbversus.results.read import open_results
from dbversus.results.tables.background import BACKGROUND_WORK, DRAINS, background_rows, drain_rows

from ...journals import DictJournal, records_of
from ..samples import write_journal

LABELS = {"t0": "old", "t1": "new"}


def drain(block: int, cpu_ns: int | None = 500_000, ops: int = 1000, **more: Any) -> dict[str, Any]:
    figures = {
        "ops": ops,
        "idle": True,
        "elapsed_ns": 400_000_000,
        "server_cpu_ns": cpu_ns,
        "server_write_bytes": 64_000,
    }
    return {"type": "drain", "block": block, "test": "insert", "targets": {"t0": figures, "t1": figures}, **more}


def background(block: int, ops: int, **cpu_ns: int) -> dict[str, Any]:
    return {"type": "background", "block": block, "test": "insert", "targets": {"t0": {"ops": ops, "cpu_ns": cpu_ns}}}


def test_a_drain_is_charged_to_the_operations_before_it() -> None:
    first, second = drain_rows(records_of(drain(3)), LABELS)
    assert (first["target"], second["target"], first["block"]) == ("old", "new", 3)
    assert first["drain_cpu_us_per_op"] == pytest.approx(0.5)
    assert first["drain_write_bytes_per_op"] == 64.0
    assert set(first) == set(DRAINS.columns)


def test_what_is_not_known_stays_unknown() -> None:
    assert [row["drain_cpu_us_per_op"] for row in drain_rows(records_of(drain(0, cpu_ns=None)), LABELS)] == [None, None]
    assert [row["drain_cpu_us_per_op"] for row in drain_rows(records_of(drain(0, ops=0)), LABELS)] == [None, None]


def test_the_last_drain_of_a_resumed_test_counts_and_groups_stay_apart() -> None:
    rows = drain_rows(records_of(drain(0), drain(0, cpu_ns=900_000), drain(0, group="g1"), drain(1)), LABELS)
    of_old = [(row["block"], row["target_group"], row["server_cpu_ns"]) for row in rows if row["target"] == "old"]
    assert of_old == [(0, None, 900_000), (0, "g1", 500_000), (1, None, 500_000)]


def test_background_of_one_block_adds_up_and_what_was_idle_is_zero() -> None:
    records = [background(0, 500, log=1_000_000), background(0, 500, log=500_000, purge=100), background(1, 100)]
    rows = {(row["block"], row["kind"]): row for row in background_rows(records_of(*records), LABELS)}
    assert rows[0, "log"]["cpu_us_per_op"] == pytest.approx(1.5)
    assert rows[0, "log"]["ops"] == 1000
    assert rows[1, "log"]["cpu_us_per_op"] == 0 and rows[1, "purge"]["cpu_ns"] == 0
    assert set(rows[0, "log"]) == set(BACKGROUND_WORK.columns)


def test_sql_sees_both_and_has_their_columns_where_there_are_none(tmp_path: Path) -> None:
    write_journal(tmp_path, rows=2)
    query = (
        "SELECT count(drain_cpu_us_per_op), count(kind) FROM drains FULL JOIN background USING (test, target, block)"
    )
    assert open_results(tmp_path).sql(query)[1] == [(0, 0)]
    with DictJournal(tmp_path) as journal:
        journal.append(drain(0))
        journal.append(background(0, 500, log=1_000_000))
    results = open_results(tmp_path)
    assert results.sql("SELECT target, idle, drain_cpu_us_per_op FROM drains ORDER BY target")[1] == [
        ("postgres:13.1", True, 0.5),
        ("postgres:17.2", True, 0.5),
    ]
    assert results.sql("SELECT target, kind, cpu_us_per_op FROM background")[1] == [("postgres:13.1", "log", 2.0)]
