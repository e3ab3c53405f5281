"""What a running PostgreSQL server tells about itself: settings, plans, counters, sizes; and warming its cache."""

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from psycopg import sql

from dbversus.errors import RunError
from dbversus.servers.base import Executed, Execution
from dbversus.servers.objects import Moment, ObjectFigures, object_figures
from dbversus.servers.postgres.debt import Connection, has_extension, scalar
from dbversus.servers.postgres.names import NAME, NOT_OF_EXTENSION, USER_SCHEMA, identifier

_STATISTICS_LIMIT_S = 5.0
_LOOK_AGAIN_S = 0.02
_CUSTOM_PLANS = 5
"""So often a prepared statement is planned for its values before a generic plan is considered."""
_PLANNED_TIMES = 15
_PLANNING = re.compile(r"^Planning [Tt]ime: ([\d.]+) ms", re.MULTILINE)

# not monotonic, or no count at all
_NOT_COUNTERS = {
    "datid",
    "numbackends",
    "datname",
    "stats_reset",
    "op_bytes",
    "checksum_last_failure",
    "relid",
    "indexrelid",
}


def settings(connection: Connection) -> dict[str, str]:
    """Every setting as SHOW gives it."""
    return {row[0]: row[1] for row in connection.execute("SHOW ALL").fetchall()}


def plan(connection: Connection, statement: str) -> str:
    rows = connection.execute("EXPLAIN " + statement).fetchall()
    return "\n".join(row[0] for row in rows)


def executed_plans(connection: Connection, statements: Sequence[Execution]) -> list[Executed]:
    """EXPLAIN ANALYZE of each, in a transaction that is rolled back.

    A prepared statement is planned as often before as it takes until the plan cache decides between a generic plan and one for
    the values at hand.
    """
    connection.execute("BEGIN")
    try:
        return [_executed(connection, statement, f"explained_{number}") for number, statement in enumerate(statements)]
    finally:
        connection.rollback()


def _executed(connection: Connection, statement: Execution, name: str) -> Executed:
    options = "ANALYZE, BUFFERS, SETTINGS" if connection.info.server_version >= 120000 else "ANALYZE, BUFFERS"
    connection.execute(f"SET LOCAL statement_timeout = {round(statement.limit_s * 1000)}")
    connection.execute("SAVEPOINT before")
    try:
        sql = _prepared(connection, statement, name) if statement.numbered else statement.sql
        rows = connection.execute(f"EXPLAIN ({options}) {sql}").fetchall()
        planning_ms = _planning_ms(connection, sql)
    except psycopg.Error as error:
        connection.execute("ROLLBACK TO SAVEPOINT before")
        return Executed(refused=str(error).partition("\n")[0])
    plan = "\n".join(row[0] for row in rows)
    told = plan if planning_ms is None else _PLANNING.sub(f"Planning Time: {planning_ms:.3f} ms", plan)
    return Executed(told, planning_ms=planning_ms)


def _planning_ms(connection: Connection, sql: str) -> float | None:
    """The least of several: the first time, what the catalogs say is looked up, and others may be interrupted. A generic plan is
    only fetched."""
    if connection.info.server_version < 100000:
        return None
    found = []
    for _ in range(_PLANNED_TIMES):
        rows = connection.execute(f"EXPLAIN (SUMMARY) {sql}").fetchall()
        found += [float(match[1]) for row in rows if (match := _PLANNING.match(row[0]))]
    return min(found, default=None)


def _prepared(connection: Connection, statement: Execution, name: str) -> str:
    """What executes it; the statement itself where it cannot be prepared, as where the types of its values cannot be told."""
    values = f"({', '.join(statement.values)})" if statement.values else ""
    try:
        connection.execute(f"PREPARE {name} AS {statement.numbered}")
        for _ in range(_CUSTOM_PLANS):
            connection.execute(f"EXPLAIN EXECUTE {name}{values}")
    except psycopg.Error:
        connection.execute("ROLLBACK TO SAVEPOINT before")
        return statement.sql
    return f"EXECUTE {name}{values}"


def counters(connection: Connection) -> dict[str, float]:
    """Monotonic counters by flat name; a view that this version does not have is left out.

    `database.*`, `background.*`, `checkpointer.*` (17+), `wal.*` (14+), `io.<backend>.<object>.<context>.*` (16+),
    `table.*` and `index.*` (sums over the user's tables and indexes), and `wal.position_bytes`, which all versions have.
    """
    found: dict[str, float] = {}
    for prefix, source in (
        ("database", "pg_stat_database WHERE datname = current_database()"),
        ("background", "pg_stat_bgwriter"),
        ("checkpointer", "pg_stat_checkpointer"),
        ("wal", "pg_stat_wal"),
        ("io", "pg_stat_io"),
    ):
        if _exists(connection, source.split()[0]):
            found |= _numbers(connection, prefix, source)
    found |= _table_sums(connection)
    function = "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"
    if connection.info.server_version < 100000:
        function = "pg_xlog_location_diff(pg_current_xlog_insert_location(), '0/0')"
    found["wal.position_bytes"] = float(scalar(connection, f"SELECT {function}"))
    return found


def objects(connection: Connection, moment: Moment, version: str) -> ObjectFigures:
    """Figures of tables, indexes, buffers and the log (objects.toml)."""

    def ask(statement: str) -> list[tuple[Any, ...]]:
        try:
            return connection.execute(statement).fetchall()
        except psycopg.Error as error:
            raise RunError(str(error).strip()) from error

    connection.execute("SET work_mem = '1GB'")  # else the list of buffers goes through a file
    return object_figures("postgres", moment, "postgres", version, ask)


def await_statistics(connection: Connection) -> None:
    """Waits until other clients' backends are gone, which report what they did as they end, and their reports can be read.

    Before version 15 statistics come from a file that is written every half a second at most, and only when somebody asks.
    """
    background = (
        "backend_type = 'client backend'" if connection.info.server_version >= 100000 else "query !~ '^autovac'"
    )
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "  # noqa: S608
        f"AND {background}"
    )
    _wait_until(connection, lambda: scalar(connection, others) == 0)
    if connection.info.server_version < 150000:
        gone_at = scalar(connection, "SELECT clock_timestamp()")
        _wait_until(connection, lambda: scalar(connection, "SELECT pg_stat_get_snapshot_timestamp()") >= gone_at)


def _wait_until(connection: Connection, is_so: Callable[[], bool]) -> None:
    """Looks at fresh statistics again and again; gives up after a while, since a client of the user's may stay."""
    deadline = time.monotonic() + _STATISTICS_LIMIT_S
    while True:
        connection.execute("SELECT pg_stat_clear_snapshot()")
        if is_so() or time.monotonic() > deadline:
            return
        time.sleep(_LOOK_AGAIN_S)


def _exists(connection: Connection, view: str) -> bool:
    return scalar(connection, f"SELECT to_regclass('{view}') IS NOT NULL") is True


def _numbers(connection: Connection, prefix: str, source: str) -> dict[str, float]:
    """Numeric columns of all rows; text columns of a row become part of its names."""
    cursor = connection.execute(f"SELECT * FROM {source}")  # noqa: S608
    columns = [column.name for column in cursor.description or []]
    found: dict[str, float] = {}
    for row in cursor.fetchall():
        named = {name: value for name, value in zip(columns, row, strict=True) if name not in _NOT_COUNTERS}
        words = [value.replace(" ", "_") for value in named.values() if isinstance(value, str)]
        found |= {".".join([prefix, *words, name]): float(value) for name, value in named.items() if _is_number(value)}
    return found


def _is_number(value: Any) -> bool:
    return value is not None and not isinstance(value, str | bool) and hasattr(value, "__float__")


def _table_sums(connection: Connection) -> dict[str, float]:
    columns = (
        "seq_scan",
        "seq_tup_read",
        "idx_scan",
        "idx_tup_fetch",
        "n_tup_ins",
        "n_tup_upd",
        "n_tup_del",
        "n_tup_hot_upd",
    )
    maintenance = ("vacuum_count", "autovacuum_count", "analyze_count", "autoanalyze_count")
    names = (*columns, *maintenance)
    sums = ", ".join(f"coalesce(sum({name}), 0)::float8" for name in names)
    row = connection.execute(f"SELECT {sums} FROM pg_stat_user_tables").fetchone()  # noqa: S608
    found = dict(zip((f"table.{name}" for name in names), row or (), strict=True))
    entries = "SELECT coalesce(sum(idx_tup_read), 0)::float8 FROM pg_stat_user_indexes"
    return found | {"index.idx_tup_read": float(scalar(connection, entries))}


def relations(connection: Connection) -> list[tuple[str, str, str, int]]:
    """(kind `table` or `index`, its name, its table's name, bytes with all forks) of every user table and index.

    The table of a partition, and of its indexes, is the partitioned one.
    """
    return connection.execute(
        "WITH RECURSIVE belongs (oid, name) AS ("  # noqa: S608
        f"SELECT c.oid, {NAME} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = c.oid) "
        "UNION ALL SELECT h.inhrelid, b.name FROM pg_inherits h JOIN belongs b ON b.oid = h.inhparent) "
        f"SELECT CASE c.relkind WHEN 'i' THEN 'index' ELSE 'table' END, {NAME}, b.name, "
        "pg_table_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "LEFT JOIN pg_index i ON i.indexrelid = c.oid JOIN belongs b ON b.oid = coalesce(i.indrelid, c.oid) "
        f"WHERE {USER_SCHEMA} AND c.relkind IN ('r', 'i', 'm') AND {NOT_OF_EXTENSION} ORDER BY 1, 2"
    ).fetchall()


def database_bytes(connection: Connection) -> int:
    """Of its files."""
    return int(scalar(connection, "SELECT pg_database_size(current_database())"))


def sizes(connection: Connection) -> dict[str, int]:
    found = {"database": database_bytes(connection)}
    return found | {f"{kind}.{name}": int(size) for kind, name, _, size in relations(connection)}


def warm(connection: Connection, tables: Sequence[str]) -> None:
    """Brings tables and their indexes into the server's own cache."""
    wanted = [(kind, name, table) for kind, name, table, _ in relations(connection) if table in tables]
    if has_extension(connection, "pg_prewarm"):
        for _, name, _ in wanted:
            connection.execute("SELECT pg_prewarm(%s::regclass)", [identifier(name).as_string(connection)])
        return
    # Without pg_prewarm: not by sequential scans, which go through a small ring of buffers when a table is large.
    connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    for table in tables:
        for column in _indexed_columns(connection, table):
            query = sql.SQL("SELECT count(t) FROM {table} t WHERE {column} IS NOT NULL")
            connection.execute(query.format(table=identifier(table), column=sql.Identifier(column)))
    connection.execute("RESET enable_seqscan; RESET enable_bitmapscan")


def _indexed_columns(connection: Connection, table: str) -> list[str]:
    """First columns of the indexes of a table."""
    rows = connection.execute(
        "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] "
        "WHERE i.indrelid = %s::regclass",
        [identifier(table).as_string(connection)],
    ).fetchall()
    return [row[0] for row in rows]
