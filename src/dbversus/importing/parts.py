"""What files say, as Parquet files beside the results that are being made, until all of it is put together.

Each process writes parts of its own, so no figure passes from one to another, and memory is bounded, whatever is imported.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb
import numpy as np

from dbversus.errors import RunError
from dbversus.files import why_refused
from dbversus.importing.model import FIELDS, Sheet
from dbversus.results.columns import Columns, column
from dbversus.results.schema import (
    IMPORTED_COLUMNS,
    IMPORTED_FIGURES,
    IMPORTED_FILES,
    IMPORTED_LINE_COLUMNS,
    IMPORTED_LINES,
)

_MEMORY = "400MB"
_FILE_TYPES = {
    "file": "VARCHAR",
    "format": "VARCHAR",
    "bytes": "BIGINT",
    "lines": "BIGINT",
    "problem": "VARCHAR",
    "compared_with": "VARCHAR",
    "figures": "BIGINT",
    "unknown_lines": "BIGINT",
}
_PLACE_TYPES = {
    "test": "VARCHAR",
    "target": "VARCHAR",
    "clients": "INTEGER",
    "relative": "BOOLEAN",
    "base": "VARCHAR",
    "run": "INTEGER",
}
_METRIC_TYPES = {"name": "VARCHAR", "unit": "VARCHAR"}
_KEPT_TYPES = {"number": "BIGINT", "line": "BIGINT", "kind": "VARCHAR", "text": "VARCHAR"}

_POSITION = {"position": "BIGINT"}
"""The order in which files and places were met, over all parts."""
_FIGURES = """
    SELECT test, target, clients, name AS metric, CASE WHEN relative THEN 'ratio' ELSE unit END AS unit, value, decimals,
        relative, base AS relative_to, run, second, path AS file, line
    FROM numbers JOIN metrics USING (metric) JOIN places USING (place) JOIN paths USING (file)
"""
_KEPT = "SELECT position, path AS file, line, kind, text FROM kept JOIN paths ON paths.file = kept.number"
_PARTS: Mapping[str, tuple[Mapping[str, str], str]] = {
    "all_figures": (IMPORTED_COLUMNS, _FIGURES),
    "kept": (_POSITION | IMPORTED_LINE_COLUMNS, _KEPT),
    "files": (_POSITION | _FILE_TYPES, "FROM files"),
    "all_places": (_POSITION | _PLACE_TYPES, "FROM places"),
}
"""Kind of part → its columns and their types, and what it has of a sheet."""
_RESULTS = {
    IMPORTED_FIGURES: "SELECT * FROM figures",
    IMPORTED_LINES: "SELECT file, line, kind, text FROM kept",
    IMPORTED_FILES: "SELECT file, format, bytes, lines, figures, unknown_lines, problem FROM files ORDER BY position",
}


class Parts:
    """Writes the sheets of one task. `number`: of the task, among all."""

    def __init__(self, folder: Path, number: int):
        self._folder = folder
        self._name = f"{number:06}"
        self._first = number << 32
        self._written = self._files_written = 0

    def store(self, sheet: Sheet) -> None:
        """Raises RunError with the database's words where it cannot write."""
        tables = self._tables(sheet)
        with duckdb.connect(config={"threads": 1}) as connection:
            for name, content in tables.items():
                connection.register(name, content)
            for kind, (types, query) in _PARTS.items():
                # a column without any text has no type otherwise
                typed = ", ".join(f"{name}::{of} AS {name}" for name, of in types.items())
                path = self._folder / f"{kind}-{self._name}-{self._written:06}.parquet"
                _copy(connection, f"SELECT {typed} FROM ({query})", path, "lz4_raw")  # noqa: S608
        self._written += 1
        self._files_written = len(sheet.files)

    def _tables(self, sheet: Sheet) -> Mapping[str, Columns]:
        places = _columns(sheet.places, _PLACE_TYPES)
        files, kept = sheet.files[self._files_written :], _columns(sheet.kept, _KEPT_TYPES)
        paths = sheet.paths
        return {
            "numbers": _numbers(sheet),
            "metrics": {**_columns(sheet.metrics, _METRIC_TYPES), "metric": np.arange(len(sheet.metrics))},
            "places": {
                **places,
                "place": np.arange(len(sheet.places)),
                "position": self._positions(0, len(sheet.places)),
            },
            "paths": {"path": column(paths, "VARCHAR"), "file": np.arange(len(paths))},
            "files": {
                **_columns(files, _FILE_TYPES),
                "position": self._positions(self._files_written, len(sheet.files)),
            },
            "kept": {**kept, "position": self._first + kept["number"]},
        }

    def _positions(self, first: int, end: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.arange(self._first + first, self._first + end)


def _numbers(sheet: Sheet) -> Columns:
    numbers = np.array(sheet.figures).reshape(-1, len(FIELDS))
    return {name: np.ascontiguousarray(numbers[:, place]) for place, name in enumerate(FIELDS)}


def _columns(rows: Iterable[tuple[object, ...]], types: Mapping[str, str]) -> Columns:
    values = list(zip(*rows, strict=True)) or [()] * len(types)
    return {name: column(of, kind) for (name, kind), of in zip(types.items(), values, strict=True)}


def open_parts(folder: Path) -> duckdb.DuckDBPyConnection:
    """A database with a view of each kind of part, over all that was stored in `folder`: all_figures, kept, files, all_places."""
    connection = duckdb.connect(
        config={"memory_limit": _MEMORY, "threads": 2, "preserve_insertion_order": False, "temp_directory": str(folder)}
    )
    for kind in _PARTS:
        names = ", ".join(_quoted(path) for path in sorted(folder.glob(f"{kind}-*.parquet")))
        connection.execute(f"CREATE VIEW {kind} AS FROM read_parquet([{names}])")
    return connection


def write_results(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """The Parquet files of docs/import.md. Raises RunError as `Parts.store`."""
    for name, query in _RESULTS.items():
        _copy(connection, query, folder / name, "zstd")


def _copy(connection: duckdb.DuckDBPyConnection, query: str, path: Path, compression: str) -> None:
    try:
        connection.execute(f"COPY ({query}) TO {_quoted(path)} (FORMAT parquet, COMPRESSION {compression})")
    except duckdb.Error as error:
        raise RunError(f"{path} cannot be written: {why_refused(error)}.") from error


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
