"""DuckDB SQL on the tables of an experiment: it reaches no file, changes nothing, and sees no name but theirs."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb

from dbversus.errors import UsageError
from dbversus.results.columns import Columns, column

Rows = list[tuple[Any, ...]]

# figures that people ask for, beside the columns that are stored
_ADDED = {
    "slots": """, ops / (elapsed_ns / 1e9) AS ops_per_second,
        server_cpu_ns / 1e3 / nullif(ops, 0) AS server_cpu_us_per_op,
        (driven_read_bytes + driven_write_bytes) / nullif(driven_ops, 0) AS server_io_bytes_per_op"""
}
# what DuckDB knows beside our tables is no help
_MOMENT = "TIMESTAMP WITH TIME ZONE"
_NO_HELP = re.compile(r'Did you mean "(pg_|sqlite_|duckdb_|pragma_|information_schema)')


def names(query: str, table: str) -> bool:
    """Whether `query` may read `table`, so that it has to be filled."""
    return table in query.lower()


def run_sql(
    query: str,
    typed: Mapping[str, tuple[Columns, Mapping[str, str]]],
    plain: Mapping[str, Sequence[Mapping[str, Any]]],
) -> list[tuple[list[str], Rows]]:
    """Names of columns and rows of each statement that has a result, of those between semicolons.

    Tables are `typed` (columns and their types) or `plain` (rows, types as found). Raises UsageError with DuckDB's words.
    """
    with duckdb.connect() as connection:
        for name, (content, types) in typed.items():
            _create_typed(connection, name, content, types)
        for name, rows in plain.items():
            _create_plain(connection, name, rows)
        connection.execute(
            f"SET memory_limit='{_memory_mb()}MB'; SET temp_directory=''; SET TimeZone='UTC'; "
            "SET python_enable_replacements=false; SET enable_external_access=false; SET lock_configuration=true"
        )
        results = _run(connection, query, [*typed, *plain])
    if not results:
        raise UsageError("The SQL has no statement with a result, such as SELECT or SHOW TABLES.")
    return results


@contextmanager
def make_table(name: str, content: Columns, types: Mapping[str, str]) -> Iterator[duckdb.DuckDBPyRelation]:
    """One table as queries see it, for as long as it is used."""
    with database_with(name, content, types) as connection:
        yield connection.table(name)


def database_with(name: str, content: Columns, types: Mapping[str, str]) -> duckdb.DuckDBPyConnection:
    """A database of its own with one table, for queries of dbversus's own."""
    connection = duckdb.connect()
    _create_typed(connection, name, content, types)
    return connection


def columns_of(rows: Sequence[Mapping[str, Any]], types: Mapping[str, str]) -> Columns:
    return {name: column([row[name] for row in rows], kind) for name, kind in types.items()}


def _create_typed(connection: duckdb.DuckDBPyConnection, name: str, content: Columns, types: Mapping[str, str]) -> None:
    casts = ", ".join(f'"{field}"::{kind} AS "{field}"' for field, kind in types.items())
    added = _ADDED.get(name, "")
    connection.execute(f'CREATE TABLE "{name}" AS SELECT *{added} FROM (SELECT {casts} FROM content)')  # noqa: S608


def _create_plain(connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    fields = list(dict.fromkeys(key for row in rows for key in row)) or ["target"]
    content = {key: _plain_column([row.get(key) for row in rows]) for key in fields}  # noqa: F841  (DuckDB finds it)
    connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM content')  # noqa: S608


def _plain_column(values: Sequence[Any]) -> Any:
    present = [value for value in values if value is not None]
    for kind, types in (("BOOLEAN", bool), ("BIGINT", int), ("DOUBLE", (int, float))):
        if present and all(isinstance(value, types) for value in present):
            return column(values, kind)
    texts = [value if isinstance(value, str | None) else json.dumps(value, default=str) for value in values]
    return column([None if text is None else str(text) for text in texts], "VARCHAR")


def _memory_mb() -> int:
    """Of a query: half of what this host has, and at most 4 GiB."""
    host_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(host_bytes // 2, 4 * 2**30) // 2**20


def _result(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[list[str], Rows]:
    """Names of columns and rows. Moments with a zone are in UTC; those inside of lists and structures are texts."""
    kinds = [str(kind) for kind in _types(connection, query)]
    if not any(_MOMENT in kind for kind in kinds):
        cursor = connection.execute(query)
        return [part[0] for part in cursor.description or []], cursor.fetchall()
    # DuckDB hands these to Python by a package that is none of ours
    plain = [
        f"timezone('UTC', #{place})" if kind == _MOMENT else f"#{place}::VARCHAR" if _MOMENT in kind else f"#{place}"
        for place, kind in enumerate(kinds, 1)
    ]
    relation = connection.sql(query)
    shown = relation.project(", ".join(f"{one} AS c{place}" for place, one in enumerate(plain)))
    return relation.columns, shown.fetchall()


def _types(connection: duckdb.DuckDBPyConnection, query: str) -> Sequence[Any]:
    """None where it is refused: who executes it gets DuckDB's words, with a caret."""
    try:
        return connection.sql(query).types
    except duckdb.Error:
        return ()


def _run(connection: duckdb.DuckDBPyConnection, query: str, tables: Sequence[str]) -> list[tuple[list[str], Rows]]:
    results = []
    try:
        for statement in connection.extract_statements(query):
            # its text, since carets of what was parsed with others before it point elsewhere
            if statement.expected_result_type == [duckdb.ExpectedResultType.QUERY_RESULT]:
                results.append(_result(connection, statement.query))
            else:
                connection.execute(statement.query)
    except duckdb.Error as error:
        # its own lines, so that the caret stays under what it points at
        words = "\n".join(line for line in str(error).splitlines() if not _NO_HELP.match(line))
        raise UsageError(f"The SQL was refused.\n{words}\nTables: {', '.join(tables)}.") from error
    return results
