import pytest

from dbversus.suites.sql import fill, is_query, only_reads, placeholders, values_row


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT c FROM sbtest{table} WHERE id BETWEEN :low AND :high_2", ["low", "high_2"]),
        ("SELECT :a::int, b::text[1:2] FROM t -- :c\nWHERE x = :a", ["a"]),
        ("SELECT ':a', 'it''s :b', \":c\", `:d`, 12:34 /* :e */", []),
    ],
)
def test_placeholders_are_found_as_in_the_engine(sql: str, names: list[str]) -> None:
    assert placeholders(sql) == names


@pytest.mark.parametrize(
    ("sql", "values", "filled"),
    [
        ("SELECT c FROM sbtest{table} WHERE id IN (:ids)", {"ids": "3, 5"}, "SELECT c FROM sbtest2 WHERE id IN (3, 5)"),
        ('UPDATE "t{table}" SET c = :c -- :c', {"c": "'it''s'"}, "UPDATE \"t2\" SET c = 'it''s' -- :c"),
        ("SELECT :x::int", {"x": "-1"}, "SELECT -1::int"),
    ],
)
def test_values_take_the_places_of_names(sql: str, values: dict[str, str], filled: str) -> None:
    assert fill(sql, 2, values) == filled


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        ("INSERT INTO t (a, b) VALUES (:a, :b)", "(:a, :b)"),
        ("insert into t values(:a, f(:b, ')')) ON CONFLICT (a) DO NOTHING", "(:a, f(:b, ')'))"),
        ("INSERT INTO values_of VALUES\n (1) -- (2)", "(1)"),
        ("INSERT INTO t /* VALUES (1) */ (a) VALUES (':x')", "(':x')"),
        ("INSERT INTO t VALUES (1), (2)", None),
        ("INSERT INTO t VALUES (1", None),
        ("INSERT INTO t SELECT 1", None),
    ],
)
def test_the_row_of_values(sql: str, row: str | None) -> None:
    found = values_row(sql)
    assert (found and sql[slice(*found)]) == row


def test_windows_have_two_placeholders() -> None:
    assert placeholders("t >= :w.from AND t < :w.to AND :a.c") == ["w.from", "w.to", "a"]


READS = (
    "SELECT 1",
    "(SELECT a FROM t) UNION (SELECT b FROM u)",
    "-- first\n/* second */ SELECT 'DELETE FROM t'",
    "# MySQL's own\nSELECT `update` FROM t",
    "WITH t AS (SELECT 1) SELECT replace(a, 'b', 'c'), (insert('abc', 1, 1, 'd')) FROM t",
    "with recursive t(n) as (values (1) union all select n + 1 from t) table t",
    "VALUES (1, 2)",
    "TABLE orders",
    "SHOW TABLES",
    "EXPLAIN DELETE FROM t",
    "EXPLAIN QUERY PLAN DELETE FROM t",
    "EXPLAIN (ANALYZE, BUFFERS) SELECT 1",
    "DESCRIBE t",
    "PRAGMA table_info(t)",
    "BEGIN; SELECT 1; COMMIT;",
    "SELECT a AS updated, t.delete FROM t WHERE b = E'\\'; DELETE FROM t --' AND c = $x$INTO$x$",
    "SELECT /*! STRAIGHT_JOIN */ * FROM t LOCK IN SHARE MODE",
)
CHANGES = (
    "INSERT INTO t SELECT 1",
    "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
    "WITH old AS (SELECT 1 AS a) UPDATE t SET b = 2 FROM old WHERE t.a = old.a",
    "WITH a AS (SELECT 1) /* then */ INSERT INTO t SELECT * FROM a",
    "WITH a AS MATERIALIZED (\n  UPDATE t SET b = 1 RETURNING b)\nTABLE a",
    "SELECT * INTO copied FROM t",
    "SELECT * FROM t WHERE a = 1 FOR UPDATE SKIP LOCKED",
    "SELECT * FROM t FOR NO KEY UPDATE",
    "SELECT nextval('orders_id')",
    "EXPLAIN ANALYZE DELETE FROM t",
    "EXPLAIN (ANALYZE) UPDATE t SET a = 1",
    "PRAGMA user_version = 3",
    "CALL pay(1)",
    "DO $$ BEGIN END $$",
    "BEGIN; UPDATE t SET a = 1; COMMIT",
    "/*! DELETE FROM t */",
    "VACUUM",
    "",
)


@pytest.mark.parametrize("sql", READS)
def test_what_only_reads_is_told_by_its_words(sql: str) -> None:
    assert only_reads(sql)


@pytest.mark.parametrize("sql", CHANGES)
def test_all_else_may_change_data(sql: str) -> None:
    assert not only_reads(sql)


def test_a_query_asks_for_rows_and_may_lock_them() -> None:
    assert is_query("WITH a AS (SELECT 1) SELECT * FROM a") and is_query("SELECT 1 FOR UPDATE")
    assert not is_query("WITH a AS (DELETE FROM t RETURNING 1) SELECT * FROM a") and not is_query("BEGIN")
