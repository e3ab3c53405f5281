"""What PostgreSQL and SQLite tell of their tables; servers of the MySQL family are asked in test_mysql.py."""

import sqlite3
from pathlib import Path

import pytest

from dbversus.builds.model import Build
from dbversus.errors import RunError
from dbversus.servers.base import Placement, ServerConfig
from dbversus.servers.config.load import load_config
from dbversus.servers.config.sizing import Sizing
from dbversus.servers.null import NullServer
from dbversus.servers.postgres.server import PostgresServer
from dbversus.servers.sqlite.server import SqliteServer

from ..tables import called, sbtest

NAMES = ("id", "k", "c", "pad")


def test_postgres(server: PostgresServer) -> None:
    server.start(Placement())
    state = server.state([sbtest()], counted=True)["sbtest1"]
    assert (state.rows, state.rows_counted, state.lowest_id, state.highest_id) == (2000, True, 1, 2000)
    assert (
        tuple(column.split()[0] for column in state.columns) == NAMES
        and state.columns[2] == "c character(120) NOT NULL"
    )
    assert len(state.indexes) == 2 and "USING btree (k)" in " ".join(state.indexes)
    assert state.statistics_rows is None
    with server.connect() as connection:
        connection.execute("DELETE FROM sbtest1 WHERE id > 1500")
    server.settle(["sbtest1"])
    counted, estimated = (server.state([sbtest()], counted=counted)["sbtest1"] for counted in (True, False))
    assert (counted.rows, counted.highest_id, counted.statistics_rows) == (1500, 1500, 1500)
    assert (estimated.rows, estimated.rows_counted) == (1500, False)
    with server.connect() as connection:
        connection.execute("DROP INDEX k_1")
        connection.execute("DELETE FROM sbtest1")
    empty = server.state([sbtest()], counted=True)["sbtest1"]
    assert (empty.rows, empty.lowest_id, empty.highest_id, len(empty.indexes)) == (0, None, None, 1)
    with pytest.raises(RunError, match='relation "gone" does not exist'):
        server.state([called("gone")], counted=True)


def test_sqlite(work_dir: Path) -> None:
    build = Build("sqlite", "bundled", "bundled", Path("bundled"), "")
    server = SqliteServer(build, load_config("sqlite", "bundled", [], Sizing(2**30, data_bytes=2**20)), work_dir)
    server.initialise()
    server.start(Placement())
    create, after = server.table_sql(sbtest())
    with sqlite3.connect(server.database) as connection:
        for statement in create:
            connection.execute(statement)
        connection.executemany(
            "INSERT INTO sbtest1 (id, k) VALUES (?, ?)", ((number, number) for number in range(5, 105))
        )
        for statement in after:
            connection.execute(statement)
    connection.close()
    before = server.state([sbtest()], counted=True)["sbtest1"]
    assert (before.rows, before.lowest_id, before.highest_id, before.statistics_rows) == (100, 5, 104, None)
    assert tuple(column.split()[0] for column in before.columns) == NAMES and before.columns[1] == "k INTEGER NOT NULL"
    assert before.indexes == ("CREATE INDEX k_1 ON sbtest1 (k)",)
    server.settle(["sbtest1"])
    after_settling = server.state([sbtest()], counted=False)["sbtest1"]
    assert (after_settling.rows, after_settling.rows_counted, after_settling.statistics_rows) == (100, False, 100)
    with pytest.raises(RunError, match="gone"):
        server.state([called("gone")], counted=True)


def test_the_echo_server_has_no_tables(tmp_path: Path) -> None:
    server = NullServer(Build("null", "1", "bundled", Path("null"), ""), ServerConfig("null", {}), tmp_path)
    assert server.state([sbtest()], counted=True) == {}
