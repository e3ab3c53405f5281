"""Series of seconds: as rows, sealed, and in SQL."""

from pathlib import Path
from typing import Any

import duckdb

from dbversus.results.read import open_results
from dbversus.results.records import Series, of_type
from dbversus.results.schema import SLOTS
from dbversus.results.tables.timeline import TIMELINE, timeline_rows
from dbversus.results.write import seal

from ...journals import DictJournal, records_of
from ..samples import HEADER, write_journal

LABELS = {"t0": "old", "t1": "new"}


def series(block: int, *ops: int, **more: Any) -> dict[str, Any]:
    nothing = [0] * len(ops)
    columns = dict.fromkeys(("rows", "affected", "errors", "slowest_ns", "server_read_bytes"), nothing)
    seconds = {"second": list(range(len(ops))), "elapsed_ns": [10**9] * len(ops), "ops": list(ops)}
    unknown = {"server_cpu_ns": [None] * len(ops), "server_write_bytes": [7] * len(ops)}
    own = {**columns, **seconds, **unknown}
    return {"type": "series", "block": block, "test": "point-query", "targets": {"t0": own, "t1": own}, **more}


def test_seconds_become_rows(tmp_path: Path) -> None:
    rows = timeline_rows(records_of(series(3, 5, 6)), LABELS)
    assert [(row["target"], row["block"], row["second"], row["ops"]) for row in rows] == [
        ("old", 3, 0, 5),
        ("old", 3, 1, 6),
        ("new", 3, 0, 5),
        ("new", 3, 1, 6),
    ]
    assert list(rows[0]) == list(TIMELINE.columns)


def test_the_seconds_of_a_resumed_test_go_on() -> None:
    rows = timeline_rows(records_of(series(0, 5, 6), series(0, 7), series(1, 8)), {"t0": "old", "t1": "new"})
    assert [(row["block"], row["second"], row["ops"]) for row in rows if row["target"] == "new"] == [
        (0, 0, 5),
        (0, 1, 6),
        (0, 2, 7),
        (1, 0, 8),
    ]


def test_groups_with_the_base_have_seconds_of_their_own() -> None:
    rows = timeline_rows(records_of(series(0, 5, group="g0"), series(0, 6, group="g1")), LABELS)
    assert {(row["target_group"], row["second"], row["ops"]) for row in rows} == {("g0", 0, 5), ("g1", 0, 6)}


def test_roles_have_rows_of_their_own_and_what_is_not_known_of_them_is_null(tmp_path: Path) -> None:
    told = series(0, 5, 6)
    told["targets"]["t0"] = told["targets"]["t1"] | {
        "roles": {"readers": {"ops": [4, 3], "slowest_ns": [8, 9]}},
        "pieces": [[[100, 7], [300, 7]], [[500, 7]]],
    }
    rows = [row for row in timeline_rows(records_of(told, series(0, 7)), LABELS) if row["target"] == "old"]
    assert [(row["role"], row["second"], row["began_unix_ns"], row["ops"]) for row in rows] == [
        ("", 0, 100, 5),
        ("", 1, 500, 6),
        ("readers", 0, 100, 4),
        ("readers", 1, 500, 3),
        ("", 2, None, 7),
    ]
    assert [(row["slowest_ns"], row["rows"], row["server_write_bytes"]) for row in rows[2:4]] == [
        (8, None, None),
        (9, None, None),
    ]
    with DictJournal(tmp_path) as journal:
        journal.append(HEADER)
        journal.append(told)
    results = open_results(tmp_path)
    assert results.sql("SELECT role, sum(ops) FROM timeline GROUP BY role ORDER BY role")[1] == [
        ("", 22),
        ("readers", 7),
    ]
    # whole tests alone, for all that sums over seconds
    assert sum(row["ops"] for row in results.timeline) == 22


def test_series_are_sealed_and_queried(tmp_path: Path) -> None:
    with DictJournal(tmp_path) as journal:
        journal.append(HEADER)
        journal.append(series(0, 5, 6))
    seal(tmp_path)
    with duckdb.connect() as connection:
        stored = connection.execute("SELECT * FROM read_parquet(?)", [str(tmp_path / TIMELINE.file)]).fetchall()
    results = open_results(tmp_path)
    assert (tmp_path / SLOTS).is_file() and len(of_type(results.records, Series)) == 1
    columns, rows = results.sql("SELECT * FROM timeline")
    assert rows == stored and columns == list(TIMELINE.columns)
    assert results.sql("SELECT sum(ops), sum(server_cpu_ns), max(server_write_bytes) FROM timeline")[1] == [
        (22, None, 7)
    ]


def test_without_series_there_is_no_file_and_an_empty_table(tmp_path: Path) -> None:
    write_journal(tmp_path, 2)
    seal(tmp_path)
    assert not (tmp_path / TIMELINE.file).exists()
    assert open_results(tmp_path).sql("SELECT count(*) FROM timeline")[1] == [(0,)]
