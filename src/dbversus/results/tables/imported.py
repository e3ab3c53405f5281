"""Reads what `dbversus import` has written (docs/import.md): tables for queries, and figures by case."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb

from dbversus.errors import UsageError
from dbversus.results.columns import Columns
from dbversus.results.parquet import stored_parquet
from dbversus.results.schema import (
    IMPORTED_COLUMNS,
    IMPORTED_FIGURES,
    IMPORTED_FILE_COLUMNS,
    IMPORTED_FILES,
    IMPORTED_LINE_COLUMNS,
    IMPORTED_LINES,
)

TABLES = {
    "imported": (IMPORTED_FIGURES, IMPORTED_COLUMNS),
    "imported_lines": (IMPORTED_LINES, IMPORTED_LINE_COLUMNS),
    "imported_files": (IMPORTED_FILES, IMPORTED_FILE_COLUMNS),
}
"""Name in queries → file and columns."""

_VALUES = """
    SELECT DISTINCT test, clients, target, metric, unit, value FROM read_parquet(?)
    WHERE NOT relative AND second IS NULL AND value IS NOT NULL AND isfinite(value) AND list_contains(?, metric)
    ORDER BY ALL
"""


class Value(NamedTuple):
    """A figure of a whole run. What two files say alike is one; several of one metric are of several runs."""

    test: str
    clients: int | None
    target: str
    metric: str
    unit: str
    value: float


def imported_values(directory: Path, metrics: Sequence[str]) -> list[Value]:
    """Absolute figures of whole runs, by the names that their sources give them. Raises UsageError for a damaged file."""
    path = directory / IMPORTED_FIGURES
    _check_there(path)
    try:
        with stored_parquet(path, columns=Value._fields) as connection:
            return [Value(*row) for row in connection.execute(_VALUES, [str(path), list(metrics)]).fetchall()]
    except duckdb.Error as error:
        raise _damaged(path, error) from error


def imported_table(directory: Path, name: str) -> Columns:
    """A table of TABLES, all of it. Raises UsageError where it is damaged or gone."""
    file, types = TABLES[name]
    path = directory / file
    _check_there(path)
    fields = ", ".join(f'"{column}"' for column in types)
    try:
        with stored_parquet(path, columns=types) as connection:
            return dict(connection.execute(f"SELECT {fields} FROM read_parquet(?)", [str(path)]).fetchnumpy())  # noqa: S608
    except duckdb.Error as error:
        raise _damaged(path, error) from error


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise UsageError(f"{path} is not there, though the journal says that figures were imported; import them again.")


def _damaged(path: Path, error: duckdb.Error) -> UsageError:
    return UsageError(f"{path} is damaged ({str(error).splitlines()[0]}); import its files again.")
