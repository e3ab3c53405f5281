"""PostgreSQL's unpaid background work, and paying it."""

import time
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

from dbversus.servers.postgres.names import identifier
from dbversus.servers.process.timing import timed

Connection = psycopg.Connection[Any]

SETTLE_LIMIT_S = 600.0
STATISTICS_DELAY_S = 1.2
# A crash may leave pages without content in the midst of a table, which no vacuum calls visible to all.
ROUNDS_IN_VAIN = 3
# Records of the checkpoint, of the background writer and of our own looking (catalog pages) are not work put off.
WAL_ALLOWANCE_BYTES = 64 * 1024
# Beside so many dirty buffers the few of catalogs make no difference, and the list of all buffers takes long.
MANY_BUFFERS = 10_000
# what a checkpoint, or a little patience, does away with
_WRITTEN_OUT = (
    "dirty_buffers",
    "wal_since_checkpoint_bytes",
    "wal_unflushed_bytes",
    "checkpoint_running",
    "autovacuum_workers",
)


def scalar(connection: Connection, statement: str) -> Any:
    row = connection.execute(statement).fetchone()
    return row[0] if row else None


def has_extension(connection: Connection, name: str) -> bool:
    return bool(scalar(connection, f"SELECT count(*) FROM pg_extension WHERE extname = '{name}'"))  # noqa: S608


def debt(connection: Connection) -> dict[str, int]:
    """Unpaid work by name. A name is missing where this version or build does not show that kind.

    `dirty_buffers`: pages of user tables and indexes changed in memory only (needs pg_buffercache). `dead_rows`,
    `rows_not_vacuumed` (inserted since the last vacuum, 13 and later), `rows_not_analyzed`: as the server's statistics
    know them. `pages_not_all_visible`: as the last vacuum left them. `autovacuum_workers`, `checkpoint_running`: at
    work now. `wal_since_checkpoint_bytes`, `wal_unflushed_bytes`: written since the last checkpoint, and not yet on
    disk, each beyond 64 kB.
    """
    version = connection.info.server_version
    owed = _rows(connection, version) | _wal(connection, version) | _at_work(connection, version)
    if has_extension(connection, "pg_buffercache"):
        owed["dirty_buffers"] = _dirty_buffers(connection, version)
    return owed


def _dirty_buffers(connection: Connection, version: int) -> int:
    """Catalogs (numbered below 16384) do not count: our own looking dirties them, a page or two each time.

    They do where there are MANY_BUFFERS.
    """
    if version >= 160000:
        number = int(scalar(connection, "SELECT buffers_dirty FROM pg_buffercache_summary()"))
        if number == 0 or number >= MANY_BUFFERS:
            return number
    connection.execute("SET work_mem = '1GB'")  # else the list of buffers goes through a file
    number = scalar(connection, "SELECT count(*) FROM pg_buffercache WHERE isdirty AND relfilenode >= 16384")
    connection.execute("RESET work_mem")
    return int(number)


def _rows(connection: Connection, version: int) -> dict[str, int]:
    pages = "SELECT sum(relpages - relallvisible) FROM pg_class WHERE relkind = 'r' AND oid >= 16384"
    columns = {"dead_rows": "n_dead_tup", "rows_not_analyzed": "n_mod_since_analyze"}
    if version >= 130000:
        columns["rows_not_vacuumed"] = "n_ins_since_vacuum"
    sums = ", ".join(f"coalesce(sum({column}), 0)::bigint" for column in columns.values())
    connection.execute("SELECT pg_stat_clear_snapshot()")
    row = connection.execute(f"SELECT {sums} FROM pg_stat_user_tables").fetchone()  # noqa: S608
    return {**dict(zip(columns, row or (), strict=True)), "pages_not_all_visible": int(scalar(connection, pages) or 0)}


def _wal(connection: Connection, version: int) -> dict[str, int]:
    wal, lsn, redo = ("wal", "lsn", "redo_lsn") if version >= 100000 else ("xlog", "location", "redo_location")
    position = f"pg_current_{wal}_insert_{lsn}()"
    flushed = f"pg_current_{wal}_flush_{lsn}()"
    row = connection.execute(
        f"SELECT pg_{wal}_{lsn}_diff({position}, {redo})::bigint, pg_{wal}_{lsn}_diff({position}, {flushed})::bigint "  # noqa: S608
        "FROM pg_control_checkpoint()"
    ).fetchone()
    since, unflushed = row or (0, 0)
    return {
        "wal_since_checkpoint_bytes": max(0, since - WAL_ALLOWANCE_BYTES),
        "wal_unflushed_bytes": max(0, unflushed - WAL_ALLOWANCE_BYTES),
    }


def _at_work(connection: Connection, version: int) -> dict[str, int]:
    if version < 100000:  # background processes are not shown before 10
        return {"autovacuum_workers": _activities(connection, "query LIKE 'autovacuum:%'")}
    return {
        "autovacuum_workers": _activities(connection, "backend_type = 'autovacuum worker'"),
        "checkpoint_running": _activities(
            connection, "backend_type = 'checkpointer' AND wait_event IS DISTINCT FROM 'CheckpointerMain'"
        ),
    }


def _activities(connection: Connection, condition: str) -> int:
    return int(scalar(connection, f"SELECT count(*) FROM pg_stat_activity WHERE {condition}"))  # noqa: S608


def settle(connection: Connection, tables: Sequence[str], limit_s: float = SETTLE_LIMIT_S) -> dict[str, float]:
    """Vacuums and analyzes the tables and writes checkpoints until nothing is owed, or `limit_s` is over.

    What ROUNDS_IN_VAIN more rounds do not change is given up. Returns seconds by step, the number of `rounds`, and what
    `remains.<name>`, if anything does.
    """
    deadline = time.monotonic() + limit_s
    spent = {"vacuum_s": 0.0, "checkpoint_s": 0.0, "wait_s": 0.0}
    rounds = in_vain = 0
    owed = {"all": 1}
    while any(owed.values()) and in_vain < ROUNDS_IN_VAIN and time.monotonic() < deadline:
        rounds, before = rounds + 1, owed
        spent["vacuum_s"] += timed(lambda: vacuum(connection, tables))
        owed = _write_out(connection, spent, deadline)
        if any(owed.values()):
            owed = _await_statistics(connection, spent)
        in_vain = in_vain + 1 if owed == before else 0
    return spent | {"rounds": rounds} | {f"remains.{name}": float(count) for name, count in owed.items() if count}


def _write_out(connection: Connection, spent: dict[str, float], deadline: float) -> dict[str, int]:
    """Writes checkpoints until no page or log waits for one and no background work goes on; returns what is owed then."""
    while True:
        spent["checkpoint_s"] += timed(lambda: connection.execute("CHECKPOINT"))
        owed = debt(connection)
        if not any(owed.get(name, 0) for name in _WRITTEN_OUT) or time.monotonic() > deadline:
            return owed
        spent["wait_s"] += timed(lambda: time.sleep(0.1))


def _await_statistics(connection: Connection, spent: dict[str, float]) -> dict[str, int]:
    """What is owed when the statistics have come in: before 15 they pass through a file written twice a second."""
    end = time.monotonic() + STATISTICS_DELAY_S
    while any((owed := debt(connection)).values()) and time.monotonic() < end:
        spent["wait_s"] += timed(lambda: time.sleep(0.1))
    return owed


def vacuum(connection: Connection, tables: Sequence[str], *, analyze: bool = True) -> None:
    """With `analyze` indexes are cleaned even when few rows are dead, where the server has a say in that (12 and later).

    Commits that did not wait for the disk are flushed first: until then a vacuum may not mark their rows as visible to
    all, and reads afterwards would do that, and write.
    """
    connection.execute("SET synchronous_commit = on")
    connection.execute("SELECT pg_logical_emit_message(true, 'dbversus', 'flush')")
    options = "(ANALYZE, INDEX_CLEANUP ON)" if connection.info.server_version >= 120000 else "(ANALYZE)"
    options = options if analyze else ""
    for table in tables:
        connection.execute(sql.SQL("VACUUM {} {}").format(sql.SQL(options), identifier(table)))
