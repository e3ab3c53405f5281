"""Gathers sheets in a database on disk, and writes the Parquet files of an imported experiment from it."""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np

from dbversus.errors import RunError
from dbversus.importing.model import FIELDS, Sheet
from dbversus.results.columns import column
from dbversus.results.schema import IMPORTED_FIGURES, IMPORTED_FILES, IMPORTED_LINES

_MEMORY = "400MB"
"""With less, the names of a million files no longer fit beside the figures that they are joined to: twice the time."""
_TABLES = """
    CREATE TABLE files (
        file INTEGER, path VARCHAR, format VARCHAR, bytes BIGINT, lines BIGINT, problem VARCHAR, compared_with VARCHAR);
    CREATE TABLE places (place INTEGER, test VARCHAR, target VARCHAR, clients INTEGER, relative BOOLEAN, base VARCHAR);
    CREATE TABLE metrics (metric INTEGER, name VARCHAR, unit VARCHAR);
    CREATE TABLE figures (
        file INTEGER, place INTEGER, metric INTEGER, line BIGINT, second DOUBLE, value DOUBLE, decimals INTEGER);
    CREATE TABLE kept (file INTEGER, line BIGINT, kind VARCHAR, text VARCHAR);
"""
_FIGURES = """
    SELECT test, target, clients, name AS metric, CASE WHEN relative THEN 'ratio' ELSE unit END AS unit,
        value, decimals, relative, base AS relative_to,
        second, path AS file, line
    FROM figures JOIN metrics USING (metric) JOIN places USING (place) JOIN files USING (file)
"""
_LINES = "SELECT path AS file, line, kind, text FROM kept JOIN files USING (file)"
_FILES = """
    SELECT path AS file, format, bytes, lines, coalesce(figures, 0) AS figures, coalesce(unknown, 0) AS unknown_lines, problem
    FROM files
    LEFT JOIN (SELECT file, count(*) AS figures FROM figures GROUP BY file) USING (file)
    LEFT JOIN (SELECT file, count(*) FILTER (kind = 'unknown') AS unknown FROM kept GROUP BY file) USING (file)
    ORDER BY file
"""


class Stage:
    """A database beside the results that are being made; memory is bounded, whatever is put into it.

    Raises RunError with the database's words where it cannot write.
    """

    def __init__(self, folder: Path):
        self._connection = duckdb.connect(str(folder / "stage.duckdb"))
        self._connection.execute(
            f"SET memory_limit='{_MEMORY}'; SET threads=2; SET preserve_insertion_order=false; {_TABLES}"
        )
        self._files = self._places = self._metrics = 0

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        return self._connection

    def close(self) -> None:
        self._connection.close()

    def store(self, sheet: Sheet) -> None:
        try:
            self._connection.begin()  # a commit waits for the disk
            self._store_names(sheet)
            self._store_figures(sheet)
            self._store_lines(sheet)
            self._connection.commit()
        except duckdb.Error as error:
            raise RunError(f"figures cannot be stored: {str(error).splitlines()[0]}.") from error
        self._files += len(sheet.files)
        self._places += len(sheet.places)
        self._metrics += len(sheet.metrics)

    def _store_names(self, sheet: Sheet) -> None:
        self._insert(
            "files", self._files, sheet.files, ("VARCHAR", "VARCHAR", "BIGINT", "BIGINT", "VARCHAR", "VARCHAR")
        )
        self._insert(
            "places", self._places, list(sheet.places), ("VARCHAR", "VARCHAR", "INTEGER", "BOOLEAN", "VARCHAR")
        )
        self._insert("metrics", self._metrics, list(sheet.metrics), ("VARCHAR", "VARCHAR"))

    def _insert(self, table: str, first: int, rows: Sequence[tuple[object, ...]], kinds: tuple[str, ...]) -> None:
        if not rows:
            return
        content = {"n": np.arange(first, first + len(rows))}
        content |= {
            f"c{place}": column(values, kind)
            for place, (values, kind) in enumerate(zip(zip(*rows, strict=True), kinds, strict=True))
        }
        self._connection.execute(f"INSERT INTO {table} SELECT * FROM content")  # noqa: S608

    def _store_figures(self, sheet: Sheet) -> None:
        if not sheet.figures:
            return
        numbers = np.array(sheet.figures).reshape(-1, len(FIELDS))
        content = {name: np.ascontiguousarray(numbers[:, place]) for place, name in enumerate(FIELDS)}
        for name, first in (("file", self._files), ("place", self._places), ("metric", self._metrics)):
            content[name] = content[name].astype(np.int32) + first
        self._connection.execute("INSERT INTO figures SELECT * FROM content")

    def _store_lines(self, sheet: Sheet) -> None:
        if not sheet.kept:
            return
        files, lines, kinds, texts = zip(*sheet.kept, strict=True)
        content = {  # noqa: F841  (DuckDB finds it)
            "file": np.array(files, np.int32) + self._files,
            "line": np.array(lines, np.int64),
            "kind": column(kinds, "VARCHAR"),
            "text": column(texts, "VARCHAR"),
        }
        self._connection.execute("INSERT INTO kept SELECT * FROM content")

    def write(self, folder: Path) -> None:
        """The Parquet files of docs/import.md."""
        for query, name in ((_FIGURES, IMPORTED_FIGURES), (_LINES, IMPORTED_LINES), (_FILES, IMPORTED_FILES)):
            target = str(folder / name).replace("'", "''")
            try:
                self._connection.execute(f"COPY ({query}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
            except duckdb.Error as error:
                raise RunError(f"{folder / name} cannot be written: {str(error).splitlines()[0]}.") from error
