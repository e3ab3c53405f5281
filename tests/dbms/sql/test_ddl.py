"""What a target changes in how tables are made, in each dialect."""

from dataclasses import replace

import pytest

from dbversus.dbms.sql.ddl import Ddl, unknown, why_not
from dbversus.dbms.sql.table import Column, Index, Table
from dbversus.servers.mysql import ddl as mysql
from dbversus.servers.postgres import ddl as postgres
from dbversus.servers.sqlite import ddl as sqlite

ORDERS = Table(
    "orders2",
    (Column("id", "int8"), Column("day", "int4")),
    ("id",),
    (Index("by_day_2", ("day", "id"), made_as="by_day"), Index("other_2", ("id",), made_as="other")),
    made_as="orders",
)


def test_a_clause_is_for_all_or_for_one() -> None:
    choices = Ddl({"index": "WITH (fillfactor=50)", "index.by_day": "WITH (deduplicate_items=off)"})
    _, after = postgres.table_sql(ORDERS, "", choices)
    assert after[1:] == [
        "CREATE INDEX by_day_2 ON orders2 (day, id) WITH (deduplicate_items=off)",
        "CREATE INDEX other_2 ON orders2 (id) WITH (fillfactor=50)",
    ]


def test_the_fill_factor_of_init_is_for_what_ddl_says_nothing_of() -> None:
    create, after = postgres.table_sql(ORDERS, " WITH (fillfactor=70)", Ddl({"table": "TABLESPACE fast"}))
    assert create == ["CREATE TABLE orders2 (id BIGINT NOT NULL, day INTEGER NOT NULL) TABLESPACE fast"]
    assert after[0] == "ALTER TABLE orders2 ADD PRIMARY KEY (id) WITH (fillfactor=70)"


def test_a_test_that_creates_an_index_has_the_clause_for_indexes() -> None:
    made = "CREATE INDEX by_k_{table} ON items{table} (k)"
    clause = "WITH (deduplicate_items = off)"
    for said in ({"index": clause}, {"index.by_k": clause, "index": "WITH (fillfactor = 50)"}):
        assert Ddl(said).in_statement(made) == f"{made} {clause}"
        assert (
            Ddl(said).in_statement("create unique index by_k_1 on items1 (k) ")
            == f"create unique index by_k_1 on items1 (k) {clause}"
        )
    for said in (
        {},
        {"index": "none"},
        {"index.other": clause},
        {"index": "CREATE INDEX {name} ON {table} USING brin ({columns})"},
    ):
        assert Ddl(said).in_statement(made) == made
    assert Ddl({"index": clause}).in_statement("SELECT k FROM items1") == "SELECT k FROM items1"


def test_a_statement_takes_the_place_of_the_usual_one() -> None:
    choices = Ddl({"index.by_day": "CREATE INDEX {name} ON {table} USING brin ({columns})", "index.other": "none"})
    _, after = postgres.table_sql(ORDERS, "", choices)
    assert after[1:] == ["CREATE INDEX by_day_2 ON orders2 USING brin (day, id)"]
    create, _ = sqlite.table_sql(ORDERS, Ddl({"table.orders": "CREATE TABLE {name} ({columns}) STRICT"}))
    assert create == ["CREATE TABLE orders2 (id INTEGER PRIMARY KEY, day INTEGER NOT NULL) STRICT"]


def test_engines_partitions_and_tables_without_keys() -> None:
    choices = Ddl({"engine": "MyISAM", "table": "PARTITION BY HASH (id) PARTITIONS 4", "primary_key": "None"})
    assert mysql.table_sql(ORDERS, "mysql", "InnoDB", ddl=choices)[0] == [
        "CREATE TABLE orders2 (id BIGINT NOT NULL, day INTEGER NOT NULL) ENGINE=MyISAM PARTITION BY HASH (id) PARTITIONS 4"
    ]
    choices = Ddl({"table": "PARTITION BY HASH (id)", "empty": "CREATE TABLE {table}_0 PARTITION OF {table} DEFAULT"})
    assert postgres.table_sql(ORDERS, "", choices)[0][1:] == ["CREATE TABLE orders2_0 PARTITION OF orders2 DEFAULT"]
    create, _ = sqlite.table_sql(ORDERS, Ddl({"primary_key": "none"}))
    assert create == ["CREATE TABLE orders2 (id INTEGER NOT NULL, day INTEGER NOT NULL)"]


def test_partitions_are_ranges_of_the_key_with_equal_shares_of_all_rows() -> None:
    orders = replace(ORDERS, rows_at_end=1000)
    create, _ = postgres.table_sql(orders, " WITH (fillfactor=70)", Ddl({"partitions": "3"}))
    assert create == [
        "CREATE TABLE orders2 (id BIGINT NOT NULL, day INTEGER NOT NULL) PARTITION BY RANGE (id)",
        "CREATE TABLE orders2_p0 PARTITION OF orders2 FOR VALUES FROM (MINVALUE) TO (334) WITH (fillfactor=70)",
        "CREATE TABLE orders2_p1 PARTITION OF orders2 FOR VALUES FROM (334) TO (667) WITH (fillfactor=70)",
        "CREATE TABLE orders2_p2 PARTITION OF orders2 FOR VALUES FROM (667) TO (MAXVALUE) WITH (fillfactor=70)",
    ]
    ((made,), _) = mysql.table_sql(orders, "mysql", "InnoDB", ddl=Ddl({"partitions.orders": "2"}))
    assert made.endswith(
        "ENGINE=InnoDB PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (501), PARTITION p1 VALUES LESS THAN MAXVALUE)"
    )
    two_keys = replace(ORDERS, primary_key=("id", "day"))
    assert unknown("partitions", [two_keys]).startswith("table 'orders' has no primary key of one integer column")
    assert not unknown("partitions.orders", [ORDERS])


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("indexes", "none", "'indexes' is not accepted in [ddl]; accepted are table, "),
        ("index.", "none", "'index.' is not accepted"),
        ("table", "none", "only indexes and primary keys can be left out"),
        ("index", "", "'index' has no value"),
        ("partitions", "1", "'partitions' is 1; a number of partitions from 2 to 1024 is accepted"),
        ("partitions.t", "many", "a number of partitions from 2 to 1024 is accepted"),
        ("engine.orders", "MyISAM", "only the MySQL family has storage engines"),
    ],
)
def test_lines_that_no_suite_could_make_sense_of(name: str, value: str, words: str) -> None:
    assert words in why_not(name, value, has_engines=False)


def test_lines_about_what_the_suite_does_not_have() -> None:
    assert unknown("index.k", [ORDERS]) == "the suite has no index 'k'; it has by_day, other"
    assert unknown("table.order", [ORDERS]) == "the suite has no table 'order'; it has orders"
    assert unknown("index", []).startswith("the suite has no tables of its own; what its scripts make")
    assert not unknown("loaded", [])
    assert not any(unknown(name, [ORDERS]) for name in ("index", "index.by_day", "loaded.1", "primary_key.orders"))
