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

_TYPED = "SELECT NULL::INTEGER AS run WHERE false UNION ALL BY NAME SELECT * FROM read_parquet(?)"
"""Imports of before runs had numbers can be read, too."""
# a run has one value: what a tool printed stands before what was counted in its log; what a summary says again is no other
# value, as far as both were printed
_VALUES = f"""
    WITH said AS (
        SELECT f.*, format FROM ({_TYPED}) f
        LEFT JOIN (SELECT file, any_value(format) AS format FROM read_parquet(?) GROUP BY file) USING (file)
        WHERE NOT relative AND second IS NULL AND value IS NOT NULL AND isfinite(value) AND list_contains(?, metric)
    ), once AS (
        SELECT *, row_number() OVER (ORDER BY run NULLS LAST, decimals DESC, file, line) AS place FROM said
        QUALIFY run IS NULL OR row_number() OVER (
            PARTITION BY test, clients, target, metric, unit, run ORDER BY ends_with(format, ' log'), file, line
        ) = 1
    )
    SELECT test, clients, target, metric, unit, value FROM once
    WHERE run IS NOT NULL OR NOT EXISTS (
        FROM once other
        WHERE other.test = once.test AND other.clients IS NOT DISTINCT FROM once.clients AND other.target = once.target
            AND other.metric = once.metric AND other.unit = once.unit AND other.place < once.place
            AND abs(other.value - once.value) <= 0.5 * pow(10.0, -least(other.decimals, once.decimals)) + 1e-9 * abs(once.value)
    )
    ORDER BY ALL
"""  # noqa: S608


class Value(NamedTuple):
    """A figure of a whole run; several of one metric are of several runs."""

    test: str
    clients: int | None
    target: str
    metric: str
    unit: str
    value: float


def imported_values(directory: Path, metrics: Sequence[str]) -> list[Value]:
    """Absolute figures of whole runs, by the names that their sources give them. Raises UsageError for a damaged file."""
    path, files = directory / IMPORTED_FIGURES, directory / IMPORTED_FILES
    _check_there(path)
    _check_there(files)
    try:
        with stored_parquet(path, columns=Value._fields) as connection:
            rows = connection.execute(_VALUES, [str(path), str(files), list(metrics)]).fetchall()
            return [Value(*row) for row in rows]
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
            source = _TYPED if "run" in types else "FROM read_parquet(?)"
            return dict(connection.execute(f"SELECT {fields} FROM ({source})", [str(path)]).fetchnumpy())  # noqa: S608
    except duckdb.Error as error:
        raise _damaged(path, error) from error


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise UsageError(f"{path} is not there, though the journal says that figures were imported; import them again.")


def _damaged(path: Path, error: duckdb.Error) -> UsageError:
    return UsageError(f"{path} is damaged ({str(error).splitlines()[0]}); import its files again.")
