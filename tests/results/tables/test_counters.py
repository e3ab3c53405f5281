"""Rows of the servers' own counters, from records of this dbversus and of older ones."""

import json
from pathlib import Path
from typing import Any

from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL
from dbversus.results.tables.counters import COUNTERS, counter_rows, lack_spanned_ops

from ...journals import records_of
from ..samples import write_journal

LABELS = {"t0": "old", "t1": "new"}
RECORD: dict[str, Any] = {
    "type": "counters",
    "block": 2,
    "test": "insert",
    "delta": {"t0": {"a": 50.0}, "t1": {"a": 30.0}},
}


def test_a_row_tells_what_rose_by_how_much_and_over_how_many_operations() -> None:
    rows = counter_rows(records_of(RECORD | {"spanned_ops": {"t0": 50, "t1": 60}, "group": "g1"}), LABELS)
    assert list(rows[0]) == list(COUNTERS.columns)
    assert [tuple(row.values()) for row in rows] == [
        ("insert", "old", 2, "g1", "a", 50.0, 50, 1.0),
        ("insert", "new", 2, "g1", "a", 30.0, 60, 0.5),
    ]


def test_without_operations_nothing_is_per_operation() -> None:
    (row, _) = counter_rows(records_of(RECORD | {"spanned_ops": {"t0": 0}}), LABELS)
    assert (row["total"], row["ops"], row["per_op"]) == (50.0, 0, None)


def test_older_records_are_read_and_can_be_told() -> None:
    older, newer = records_of(
        RECORD | {"counted_ops": {"t0": 40, "t1": 60}}, RECORD | {"spanned_ops": {"t0": 50, "t1": 60}}
    )
    assert [row["per_op"] for row in counter_rows([older], LABELS)] == [1.25, 0.5]
    assert lack_spanned_ops([newer, older]) and not lack_spanned_ops([newer]) and not lack_spanned_ops([])


def test_sql_sees_them_and_has_their_columns_where_there_are_none(tmp_path: Path) -> None:
    write_journal(tmp_path, rows=3)
    query = "SELECT target, counter, total, ops, per_op FROM counters ORDER BY target"
    assert open_results(tmp_path).sql(query)[1] == []
    with (tmp_path / JOURNAL).open("a") as file:
        file.write(json.dumps(RECORD | {"spanned_ops": {"t0": 50, "t1": 60}}) + "\n")
    assert open_results(tmp_path).sql(query)[1] == [
        ("postgres:13.1", "a", 50.0, 50, 1.0),
        ("postgres:17.2", "a", 30.0, 60, 0.5),
    ]
