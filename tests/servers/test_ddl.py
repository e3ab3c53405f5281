"""How tables are made in each dialect: those of sysbench as ever, and any other."""

import sqlite3

import pytest

from dbversus.dbms.flavour import Flavour
from dbversus.dbms.sql.table import Column, Index, Table
from dbversus.dbms.sql.types import TypeLacking
from dbversus.servers.mysql import ddl as mysql
from dbversus.servers.postgres import ddl as postgres
from dbversus.servers.sqlite import ddl as sqlite
from dbversus.servers.sqlite.contents import table_state

from ..tables import sbtest

ORDERS = Table(
    "orders",
    (
        Column("shop", "int2", {"mysql": "TINYINT UNSIGNED"}),
        Column("number", "int8"),
        Column("code", "varchar(8)", default="it's"),
        Column("note", "text", nullable=True),
    ),
    ("shop", "number"),
    (Index("by_code", ("code", "shop"), unique=True),),
)


def test_tables_of_sysbench_are_made_as_ever() -> None:
    """To the letter: snapshots are keyed by it."""
    assert postgres.table_sql(sbtest(2), " WITH (fillfactor = 50)") == (
        [
            "CREATE TABLE sbtest2 (id SERIAL, k INTEGER NOT NULL DEFAULT 0, "
            "c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '') WITH (fillfactor = 50)"
        ],
        [
            "ALTER TABLE sbtest2 ADD PRIMARY KEY (id) WITH (fillfactor = 50)",
            "SELECT setval(pg_get_serial_sequence('sbtest2', 'id'), (SELECT coalesce(max(id), 1) FROM sbtest2))",
            "CREATE INDEX k_2 ON sbtest2 (k) WITH (fillfactor = 50)",
        ],
    )
    assert mysql.table_sql(sbtest(1), "mysql", "InnoDB") == (
        [
            "CREATE TABLE sbtest1 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER NOT NULL DEFAULT 0, "
            "c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id)) ENGINE=InnoDB"
        ],
        ["CREATE INDEX k_1 ON sbtest1 (k)"],
    )
    assert sqlite.table_sql(sbtest(1)) == (
        [
            "CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, k INTEGER NOT NULL DEFAULT 0, "
            "c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '')"
        ],
        ["CREATE INDEX k_1 ON sbtest1 (k)"],
    )


def test_a_key_of_several_columns_texts_with_quotes_and_types_of_ones_own() -> None:
    create, after = postgres.table_sql(ORDERS, "")
    assert create == [
        "CREATE TABLE orders (shop SMALLINT NOT NULL, number BIGINT NOT NULL, "
        "code VARCHAR(8) NOT NULL DEFAULT 'it''s', note TEXT)"
    ]
    assert after == [
        "ALTER TABLE orders ADD PRIMARY KEY (shop, number)",
        "CREATE UNIQUE INDEX by_code ON orders (code, shop)",
    ]
    ((made,), _) = mysql.table_sql(ORDERS, "mysql", "InnoDB")
    assert "shop TINYINT UNSIGNED NOT NULL" in made and "PRIMARY KEY (shop, number)" in made
    assert "shop SMALLINT NOT NULL" in mysql.table_sql(ORDERS, "mariadb", "InnoDB")[0][0]


EVENTS = Table(
    "events",
    (
        Column("at", "timestamp(6)"),
        Column("price", "decimal(10,2)", default=0.5),
        Column("open", "bool", default=1),
        Column("since", "date", default=1_709_247_906_123_456),
        Column("doc", "json", nullable=True),
        Column("hash", "bytes(16)"),
    ),
    ("at",),
)


def test_every_dialect_has_its_words_for_a_type() -> None:
    assert postgres.table_sql(EVENTS, "")[0] == [
        "CREATE TABLE events (at TIMESTAMP(6) NOT NULL, price NUMERIC(10,2) NOT NULL DEFAULT 0.5, "
        "open BOOLEAN NOT NULL DEFAULT true, since DATE NOT NULL DEFAULT '2024-02-29', doc JSONB, hash BYTEA NOT NULL)"
    ]
    assert mysql.table_sql(EVENTS, "mysql", "InnoDB")[0] == [
        "CREATE TABLE events (at DATETIME(6) NOT NULL, price DECIMAL(10,2) NOT NULL DEFAULT 0.5, "
        "open BOOLEAN NOT NULL DEFAULT 1, since DATE NOT NULL DEFAULT '2024-02-29', doc JSON, "
        "hash VARBINARY(16) NOT NULL, PRIMARY KEY (at)) ENGINE=InnoDB"
    ]
    assert sqlite.table_sql(EVENTS)[0] == [
        "CREATE TABLE events (at INTEGER NOT NULL, price DECIMAL(10,2) NOT NULL DEFAULT 0.5, "
        "open INTEGER NOT NULL DEFAULT 1, since TEXT NOT NULL DEFAULT '2024-02-29', doc TEXT, hash BLOB NOT NULL, "
        "PRIMARY KEY (at))"
    ]
    assert EVENTS.ordered_key == "" and ORDERS.ordered_key == "shop"


@pytest.mark.parametrize(
    ("flavour", "lacking"),
    [
        (Flavour(False, (5, 5, 62)), {"json", "timestamp6"}),
        (Flavour(False, (5, 6, 51)), {"json"}),
        (Flavour(False, (5, 7, 8)), set()),
        (Flavour(True, (5, 5, 68)), {"json"}),
        (Flavour(True, (10, 2, 7)), set()),
    ],
)
def test_what_old_servers_lack_is_named(flavour: Flavour, lacking: set[str]) -> None:
    types = mysql.types_of(flavour)
    assert mysql.TYPES.keys() - types.keys() == lacking
    if lacking:
        with pytest.raises(TypeLacking) as error:
            mysql.table_sql(EVENTS, "mysql", "InnoDB", types)
        assert "this version of MySQL has no type for" in str(error.value) and 'type_mysql = "…"' in str(error.value)
        assert error.value.column in ("at", "doc")


def test_sqlite_takes_them() -> None:
    create, after = sqlite.table_sql(ORDERS)
    with sqlite3.connect(":memory:") as connection:
        for statement in (*create, *after):
            connection.execute(statement)
        connection.execute("INSERT INTO orders (shop, number) VALUES (1, 2)")
        assert connection.execute("SELECT * FROM orders").fetchall() == [(1, 2, "it's", None)]


def test_without_a_primary_key() -> None:
    table = Table("log", (Column("line", "text"),))
    assert table.key == "" and postgres.table_sql(table, "") == (["CREATE TABLE log (line TEXT NOT NULL)"], [])
    assert mysql.table_sql(table, "mysql", "InnoDB")[0] == ["CREATE TABLE log (line TEXT NOT NULL) ENGINE=InnoDB"]


def test_a_key_may_be_a_text() -> None:
    table = Table("codes", (Column("code", "varchar(8)"), Column("n", "int4")), ("code",))
    create, _ = sqlite.table_sql(table)
    with sqlite3.connect(":memory:") as connection:
        connection.execute(create[0])
        connection.execute("INSERT INTO codes VALUES ('a1', 1), ('b2', 2)")

        def query(sql: str) -> list[list[str | None]]:
            found = connection.execute(sql).fetchall()
            return [[None if value is None else str(value) for value in row] for row in found]

        state = table_state(query, table.name, table.key, counted=True)
    assert (state.rows, state.lowest_id, state.highest_id) == (2, "a1", "b2")
