"""What is in PostgreSQL's tables."""

from typing import Any

from psycopg import sql

from dbversus.servers.data.contents import TableState
from dbversus.servers.postgres.debt import Connection


def table_state(connection: Connection, table: str, key: str, *, counted: bool) -> TableState:
    """`counted`: rows are counted, which reads the table or an index; else their number is that of the statistics."""
    name = sql.Identifier(table)
    ends = sql.SQL("SELECT min({key}), max({key}) FROM {table}").format(key=sql.Identifier(key), table=name)
    lowest, highest = _row(connection, ends) if key else (None, None)
    statistics_rows = _statistics_rows(connection, table)
    rows = _row(connection, sql.SQL("SELECT count(*) FROM {}").format(name))[0] if counted else statistics_rows
    return TableState(
        rows=rows,
        rows_counted=counted,
        lowest_id=lowest,
        highest_id=highest,
        columns=_columns(connection, table),
        indexes=_indexes(connection, table),
        statistics_rows=statistics_rows,
    )


def _row(connection: Connection, statement: sql.Composed) -> tuple[Any, ...]:
    return tuple(connection.execute(statement).fetchone() or ())


def _statistics_rows(connection: Connection, table: str) -> int | None:
    """None when the table was never analyzed: its columns have no statistics then."""
    row = connection.execute(
        "SELECT c.reltuples::bigint, EXISTS (SELECT FROM pg_statistic s WHERE s.starelid = c.oid) FROM pg_class c "
        "WHERE c.oid = %s::regclass",
        [sql.Identifier(table).as_string(connection)],
    ).fetchone()
    return int(row[0]) if row and row[1] else None


def _columns(connection: Connection, table: str) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT attname || ' ' || format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END "
        "FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        [sql.Identifier(table).as_string(connection)],
    ).fetchall()
    return tuple(row[0] for row in rows)


def _indexes(connection: Connection, table: str) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %s::regclass AND indisvalid ORDER BY 1",
        [sql.Identifier(table).as_string(connection)],
    ).fetchall()
    return tuple(row[0] for row in rows)
