"""Tables that nobody told of: what PostgreSQL and SQLite say that they have; the MySQL family is asked in mysql/."""

import sqlite3
from pathlib import Path

from dbversus.builds.model import Build
from dbversus.dbms.sql.table import Table
from dbversus.servers.base import Placement, ServerConfig
from dbversus.servers.postgres.server import PostgresServer
from dbversus.servers.sqlite.server import SqliteServer

MADE = """
CREATE SCHEMA shop;
CREATE TABLE shop.orders (id bigint PRIMARY KEY, day date NOT NULL);
CREATE INDEX by_day ON shop.orders (day);
CREATE TABLE "odd.name" (key uuid PRIMARY KEY);
CREATE TABLE parts (id int, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (1000) TO (9000);
CREATE VIEW seen AS SELECT * FROM parts;
INSERT INTO shop.orders SELECT i, date '2024-01-01' + i FROM generate_series(1, 700) i;
INSERT INTO parts SELECT generate_series(1, 2000);
"""


def test_postgresql_tells_tables_of_all_schemas_and_partitioned_ones_once(server: PostgresServer) -> None:
    server.start(Placement())
    with server.connect() as connection:
        connection.execute(MADE)
    tables = server.own_tables()
    assert tables == [
        Table("parts", (), ("id",)),
        Table("public.odd.name", ()),
        Table("sbtest1", (), ("id",)),
        Table("shop.orders", (), ("id",)),
    ]
    names = [table.name for table in tables]
    server.settle(names)
    server.warm(names)
    state = server.state(tables, counted=True)
    assert [state[name].rows for name in names] == [2000, 0, 2000, 700]
    assert (state["shop.orders"].lowest_id, state["shop.orders"].highest_id) == (1, 700)
    assert len(state["shop.orders"].indexes) == 2 and state["public.odd.name"].highest_id is None
    sizes = server.sizes()
    assert sizes["index.shop.by_day"] > 0 and sizes["table.parts_high"] > 0 and "table.parts" not in sizes


def test_sqlite_tells_all_but_its_own_tables(work_dir: Path) -> None:
    build = Build("sqlite", "bundled", "bundled", Path("bundled"), "")
    server = SqliteServer(build, ServerConfig("", {}), work_dir)
    server.initialise()
    server.start(Placement())
    with sqlite3.connect(server.database) as connection:
        connection.execute("CREATE TABLE b (x INTEGER PRIMARY KEY AUTOINCREMENT, y)")
        connection.execute("CREATE TABLE a (x, y, PRIMARY KEY (y, x)) WITHOUT ROWID")
        connection.execute("CREATE VIEW v AS SELECT * FROM a")
    connection.close()
    tables = server.own_tables()
    assert tables == [Table("a", (), ("y",)), Table("b", (), ("x",))]
    server.settle([table.name for table in tables])
    assert server.state(tables, counted=True)["b"].rows == 0
