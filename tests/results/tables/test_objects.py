"""Figures of objects: as rows, sealed, and in SQL."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbversus.results.read import open_results
from dbversus.results.tables.objects import OBJECTS, PHASES, object_rows, phase_rows, unit_of
from dbversus.results.write import seal

from ...journals import DictJournal, records_of
from ..samples import HEADER, write_journal

LABELS = {"t0": "old", "t1": "new"}
PLACE: dict[str, Any] = {"type": "objects", "block": 2, "test": "point-query"}
RISE = {**PLACE, "rise": {"t0": {"index": {"t.k": {"read_pages": 30.0}}}}, "spanned_ops": {"t0": 10}}
AT_END = {**PLACE, "at_end": {"t0": {"index": {"t.k": {"size_bytes": 8192.0}}}, "t1": {}}}


def test_what_rose_is_per_operation_and_what_stands_is_not() -> None:
    rise, held = object_rows(records_of(RISE, AT_END), LABELS)
    assert set(rise) == set(OBJECTS.columns)
    assert (rise["target"], rise["kind"], rise["object"], rise["figure"]) == ("old", "index", "t.k", "read_pages")
    assert (rise["unit"], rise["value"], rise["ops"], rise["per_op"]) == ("pages", 30.0, 10, 3.0)
    assert (held["unit"], held["value"], held["ops"], held["per_op"]) == ("bytes", 8192.0, None, None)


def test_without_operations_nothing_is_per_operation() -> None:
    (row,) = object_rows(records_of({**RISE, "spanned_ops": {}}), LABELS)
    assert row["value"] == 30.0 and row["per_op"] is None


@pytest.mark.parametrize(
    ("figure", "unit"), [("read_pages", "pages"), ("scans", "scans"), ("history_list", "transactions")]
)
def test_a_figure_names_its_unit(figure: str, unit: str) -> None:
    assert unit_of(figure) == unit


def test_objects_are_sealed_and_queried(tmp_path: Path) -> None:
    with DictJournal(tmp_path) as journal:
        journal.append(HEADER)
        journal.append(RISE)
        journal.append(AT_END)
    seal(tmp_path)
    with duckdb.connect() as connection:
        stored = connection.execute("SELECT * FROM read_parquet(?)", [str(tmp_path / OBJECTS.file)]).fetchall()
    columns, rows = open_results(tmp_path).sql("SELECT * FROM objects")
    assert rows == stored and len(rows) == 2 and columns == list(OBJECTS.columns)


def test_without_objects_there_is_no_file_and_an_empty_table(tmp_path: Path) -> None:
    write_journal(tmp_path, 2)
    seal(tmp_path)
    assert not (tmp_path / OBJECTS.file).exists()
    assert open_results(tmp_path).sql("SELECT count(*) FROM objects")[1] == [(0,)]


def phase(block: int, l0_files: float) -> dict[str, Any]:
    levels = {"level": {"default.L0": {"files": l0_files}}}
    return {"type": "phase", "block": block, "phase": "reads", "targets": {"t0": levels, "t1": {}}}


def test_of_a_phase_that_was_begun_again_the_last_beginning_counts() -> None:
    first, other = phase_rows(records_of(phase(0, 3.0), phase(1, 2.0), phase(0, 4.0)), LABELS)
    assert set(first) == set(PHASES.columns) | {"ops", "per_op"}
    assert (first["phase"], first["target"], first["object"]) == ("reads", "old", "default.L0")
    assert (first["figure"], first["unit"], first["value"], first["block"]) == ("files", "files", 4.0, 0)
    assert (other["value"], other["block"]) == (2.0, 1)


def test_phases_are_queried(tmp_path: Path) -> None:
    with DictJournal(tmp_path) as journal:
        journal.append(HEADER)
        journal.append(phase(0, 3.0))
    columns, rows = open_results(tmp_path).sql("SELECT * FROM phases")
    label = HEADER["targets"][0]["label"]
    assert columns == list(PHASES.columns)
    assert rows == [("reads", label, 0, None, "level", "default.L0", "files", "files", 3.0)]
