from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import Suite, definition, literal_statement, load_suite, loads

SUITE = """\
title = "Dialects"

[tables.t]
columns = { id = { type = "int4", values = { gen = "sequence" } } }

[tests.limit]
title = "t"
group = "write"

[[tests.limit.statements]]
name = "some"
sql = "SELECT 1 LIMIT :n"
sql_mysql = "SELECT 1"
params = { n = { gen = "uniform", low = 1, high = 4 } }

[[tests.limit.statements]]
name = "put"
sql_postgres = "INSERT INTO t VALUES (:k)"
sql_sqlite = "INSERT INTO t VALUES (:k + 0)"
params = { k = { gen = "uniform", low = 2, high = 2 } }

[[phases]]
name = "p"
tests = ["limit"]
"""


@pytest.fixture
def dialects(tmp_path: Path) -> Suite:
    (tmp_path / "dialects.toml").write_text(SUITE)
    return load_suite(tmp_path / "dialects.toml")


def test_a_dbms_gets_its_own_sql(dialects: Suite) -> None:
    test = dialects.tests["limit"]
    some, put = test.statements
    assert [some.sql_for(dbms) for dbms in ("postgres", "mysql", "mariadb", "myrocks")] == [
        "SELECT 1 LIMIT :n",
        "SELECT 1",
        "SELECT 1",
        "SELECT 1",
    ]
    assert put.sql_for("sqlite").endswith("(:k + 0)")
    with pytest.raises(UsageError, match=r"dialects.toml:16: statement 'put' has no SQL for mysql"):
        definition(test, "mysql", 10)


def test_parameters_that_a_dialect_does_not_use_are_left_out(dialects: Suite) -> None:
    test = dialects.tests["limit"]
    some_only = replace(test, statements=test.statements[:1])
    assert set(definition(some_only, "sqlite", 10)["statements"][0]["params"]) == {"n"}
    assert not definition(some_only, "mysql", 10)["statements"][0]["params"]


def test_definition_is_concrete() -> None:
    made = definition(load_suite("sysbench").tests["read-write-10"], "postgres", 1001, 4)
    assert made["transaction"]
    assert [one["name"] for one in made["statements"]] == [
        "point",
        "range-simple",
        "range-sum",
        "range-order",
        "range-distinct",
        "update-index",
        "update-nonindex",
        "delete",
        "insert-again",
    ]
    assert made["statements"][0] == {
        "name": "point",
        "sql": "SELECT c FROM sbtest{table} WHERE id = :id",
        "repeat": 10,
        "table": "draw",
        "params": {"id": {"gen": "uniform", "low": 1, "high": 1001}},
    }
    assert made["statements"][1]["params"]["high"] == {"gen": "ref", "of": "low", "add": 9}
    assert made["statements"][-1]["table"] == "delete"


def test_hot_points_are_the_rows_after_the_middle() -> None:
    made = definition(load_suite("sysbench").tests["hot-points"], "postgres", 1000)
    ids = made["statements"][0]["params"]["ids"]
    assert ids == {"gen": "uniform", "low": 501, "high": 501, "count": 100, "consecutive": True}


@pytest.mark.parametrize(("table_size", "tables", "message"), [(0, 1, "table_size is 0"), (1, 0, "tables is 0")])
def test_empty_tables_are_refused(table_size: int, tables: int, message: str) -> None:
    suite = load_suite("sysbench")
    with pytest.raises(UsageError, match=message):
        definition(suite.tests["scan"], "sqlite", table_size, tables)


def test_tables_to_load() -> None:
    suite = load_suite("sysbench")
    _, table = loads(suite, 1000, 2, lambda table: ([f"CREATE TABLE {table.name}"], [table.indexes[0].name]))
    assert (table["name"], table["rows"], table["create"], table["after"]) == (
        "sbtest2",
        1000,
        ["CREATE TABLE sbtest2"],
        ["k_2"],
    )
    assert list(table["columns"]) == ["id", "k", "c", "pad"]
    assert table["columns"]["k"] == {"gen": "uniform", "low": 1, "high": 1000}
    assert (len(table["columns"]["c"]["template"]), len(table["columns"]["pad"]["template"])) == (119, 59)
    with pytest.raises(UsageError, match="table_size is 0"):
        loads(suite, 0, 1, lambda table: ([], []))


def test_rows_of_an_operation() -> None:
    suite = load_suite("sysbench")
    assert suite.tests["scan"].rows_scanned_per_op(5000, 1) == 5000
    assert suite.tests["insert"].rows_scanned_per_op(5000, 1) is None


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("point-query", ["SELECT c FROM sbtest1 WHERE id = 500"]),
        ("random-points-10", ["SELECT c FROM sbtest1 WHERE id IN (50, 150, 250, 350, 450, 550, 650, 750, 850, 950)"]),
        ("range-covered-si", ["SELECT k FROM sbtest1 WHERE k BETWEEN 500 AND 600"]),
        ("scan", ["SELECT * FROM sbtest1 WHERE LENGTH(c) < 0"]),
    ],
)
def test_literal_statements(test: str, expected: list[str]) -> None:
    assert [sql for _, sql in literal_statement(load_suite("sysbench").tests[test], "postgres", 1000)] == expected


def test_literal_statements_of_a_transaction() -> None:
    statements = dict(literal_statement(load_suite("sysbench").tests["write-only"], "sqlite", 1000))
    assert statements["delete"] == "DELETE FROM sbtest1 WHERE id = 500"
    assert statements["insert-again"].startswith("INSERT INTO sbtest1 (id, k, c, pad) VALUES (500, 500, '55555555555-")
    assert not any(mark in sql for sql in statements.values() for mark in (":", "{", "#"))
