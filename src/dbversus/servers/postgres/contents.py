"""What is in PostgreSQL's tables."""

from typing import Any

from psycopg import sql

from dbversus.dbms.sql.table import Table
from dbversus.servers.data.contents import TableState
from dbversus.servers.postgres.debt import Connection
from dbversus.servers.postgres.names import NAME, NOT_OF_EXTENSION, USER_SCHEMA, identifier

# types of keys whose lowest and highest value are told
_KEYS = ("smallint", "integer", "bigint", "text", "character varying", "character")


def table_state(connection: Connection, table: str, key: str, *, counted: bool) -> TableState:
    """`counted`: rows are counted, which reads the table or an index; else their number is that of the statistics."""
    name = identifier(table)
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


def own_tables(connection: Connection) -> list[Table]:
    """All tables of the user, with the first column of their primary key if it is an integer or a text.

    A partitioned one is there without its partitions.
    """
    rows = connection.execute(
        f"SELECT {NAME}, (SELECT a.attname FROM pg_index i "  # noqa: S608
        "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] "
        "WHERE i.indrelid = c.oid AND i.indisprimary AND a.atttypid::regtype::text = ANY (%s)) "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        f"WHERE {USER_SCHEMA} AND c.relkind IN ('r', 'p') AND {NOT_OF_EXTENSION} "
        "AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = c.oid) ORDER BY 1",
        [list(_KEYS)],
    ).fetchall()
    return [Table(name, (), (key,) if key else ()) for name, key in rows]


def _row(connection: Connection, statement: sql.Composed) -> tuple[Any, ...]:
    return tuple(connection.execute(statement).fetchone() or ())


def _statistics_rows(connection: Connection, table: str) -> int | None:
    """None when the table was never analyzed: its columns have no statistics then."""
    row = connection.execute(
        "SELECT c.reltuples::bigint, EXISTS (SELECT FROM pg_statistic s WHERE s.starelid = c.oid) FROM pg_class c "
        "WHERE c.oid = %s::regclass",
        [identifier(table).as_string(connection)],
    ).fetchone()
    return int(row[0]) if row and row[1] else None


def _columns(connection: Connection, table: str) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT attname || ' ' || format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END "
        "FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        [identifier(table).as_string(connection)],
    ).fetchall()
    return tuple(row[0] for row in rows)


def _indexes(connection: Connection, table: str) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %s::regclass AND indisvalid ORDER BY 1",
        [identifier(table).as_string(connection)],
    ).fetchall()
    return tuple(row[0] for row in rows)
