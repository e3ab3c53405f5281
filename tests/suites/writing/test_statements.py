"""Statements that servers have counted or logged become a suite to start from; the exports are real (tests/data/statements)."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.rig.engine import Engine
from dbversus.suites import definition, load_suite
from dbversus.suites.writing.missing import Written
from dbversus.suites.writing.sql_tokens import Dialect
from dbversus.suites.writing.statements.normal import Normal, make_template
from dbversus.suites.writing.statements.read import read_statements
from dbversus.suites.writing.statements.suite import write_suite
from dbversus.suites.writing.statements.trim import Unclear, statement_tokens

from ...left_out import engine_at_hand

DATA = Path(__file__).parents[2] / "data" / "statements"
TABLES = """
[tables.customers]
primary_key = ["id"]
[tables.customers.columns]
id = { type = "int4", values = { gen = "sequence" } }
name = { type = "varchar(40)", values = { gen = "text", template = "@@@@" } }
email = { type = "varchar(60)", values = { gen = "text", template = "@@@@" } }
[tables.orders]
primary_key = ["id"]
[tables.orders.columns]
id = { type = "int4", values = { gen = "sequence" } }
customer_id = { type = "int4", values = { gen = "uniform", low = 1, high = "table_size" } }
status = { type = "varchar(10)", values = { gen = "constant", value = "open" } }
total = { type = "int4", values = { gen = "constant", value = 5 } }
placed_at = { type = "varchar(30)", values = { gen = "constant", value = "2026-01-01" } }
"""


def written(name: str, top: int = 20) -> Written:
    return write_suite(read_statements([str(DATA / name)]), top, [name])


def document(name: str) -> Any:
    return tomllib.loads(written(name).text)


def of(tmp_path: Path, text: str, name: str = "seen.csv") -> Any:
    (tmp_path / name).write_text(text)
    return tomllib.loads(write_suite(read_statements([str(tmp_path / name)]), 20, [name]).text)


def refusal(tmp_path: Path, text: str, name: str = "seen.csv") -> str:
    with pytest.raises(UsageError) as error:
        of(tmp_path, text, name)
    return str(error.value).removeprefix(f"{tmp_path}/")


def test_calls_are_weights_and_placeholders_get_the_names_of_columns() -> None:
    made = document("pg_stat_statements.csv")
    weights = {one["use"]: one["weight"] for one in made["tests"]["all"]["statements"]}
    assert weights["select-orders"] == 60 and weights["insert-customers"] == 1
    assert made["statements"]["select-orders"]["sql"] == (
        "SELECT id, total FROM orders WHERE customer_id = :customer_id AND status = :status "
        "ORDER BY placed_at DESC LIMIT :limit"
    )
    assert made["statements"]["insert-customers"]["sql"].endswith("VALUES (:id, :name, :email)")
    assert made["statements"]["select-customers-2"]["params"]["id_list"]["count"] == 5
    assert made["statements"]["delete-orders"]["params"]["id_to"] == {"gen": "ref", "of": "id_from", "add": 10}
    assert "now() - CAST(:interval AS interval)" in made["statements"]["select-orders-2"]["sql"]
    groups = {name: test["group"] for name, test in made["tests"].items()}
    assert groups["select-customers"] == "point" and groups["select-orders"] == "range"
    assert groups["select-customers-2"] == "range-aggregate" and groups["all"] == "write"


def test_what_is_left_to_do_is_named_and_what_is_no_test_is_left_out() -> None:
    made = written("pg_stat_statements.csv")
    assert made.left[0].endswith(": orders, customers")
    assert "select-orders (customer_id, status, limit), select-customers (id)" in made.left[1]
    assert made.notes == [
        "left out: 3 statements (no query and no change of rows)",
        "left out: 1 statement (it asks about the server)",
    ]
    assert "# Left out (6 calls, no query and no change of rows): COMMIT" in made.text
    assert all(f"# Still to be done: {line}" in made.text for line in made.left)
    assert made.text.count("# fill in") == 21


def test_json_says_the_same_as_csv() -> None:
    csv, json = (
        {one["sql"] for one in document(f"pg_stat_statements.{kind}")["statements"].values()}
        for kind in ("csv", "json")
    )
    assert json and json <= csv


def test_digests_are_what_mysql_accepts() -> None:
    statements = document("digests.tsv")["statements"]
    assert "COUNT( * )" in statements["select-customers-3"]["sql"]
    assert statements["insert-orders"]["sql"].endswith("VALUES (:id, :customer_id, :status, :total, :placed_at)")
    assert statements["insert-orders"]["params"]["id"] == {"gen": "sequence", "start": "table_size + 1"}
    assert statements["select-customers-2"]["params"]["id_list"]["count"] == 10


def test_samples_of_digests_are_texts_as_they_were_sent() -> None:
    made = written("digests_with_samples.tsv").text
    assert "WHERE customer_id = :customer_id AND status = :status ORDER BY placed_at DESC LIMIT :limit" in made
    assert 'customer_id = { gen = "uniform", low = 1, high = "table_size" }  # fill in; seen: 44' in made
    assert 'status = { gen = "constant", value = "open" }  # fill in' in made


def test_a_slow_log_tells_values_too() -> None:
    made = document("slow.log")
    orders = made["statements"]["select-orders"]
    assert orders["sql"].endswith(
        "WHERE customer_id = :customer_id AND status = 'open' ORDER BY placed_at DESC LIMIT 10"
    )
    assert orders["params"] == {"customer_id": {"gen": "uniform", "low": 44, "high": 141}}
    assert made["tests"]["all"]["statements"][0] == {"use": "select-orders", "weight": 4}
    # of three rows the first; the semicolon and the quotes in the second are no end
    assert made["statements"]["insert-customers"]["sql"].endswith("VALUES (:id, :name, :email)")


def test_the_suite_runs_as_soon_as_its_tables_are_there(tmp_path: Path) -> None:
    from dbversus.servers.sqlite.ddl import table_sql
    from dbversus.suites import loads

    engine_at_hand()
    path = tmp_path / "mine.toml"
    path.write_text(written("slow.log").text + TABLES)
    suite = load_suite(path)
    with Engine() as engine:
        engine.call("target", name="t0", wire="sqlite", address={"path": str(tmp_path / "a.db"), "library": "bundled"})
        for table in loads(suite, 300, 1, table_sql):
            engine.call("load", target="t0", seed=1, table=table)
        engine.call(
            "open",
            targets=["t0"],
            clients=1,
            mode="prepared",
            tables=1,
            test=definition(suite.tests["all"], "sqlite", 300),
        )
        statements = engine.call("check", events=16, seed=1)["targets"]["t0"]["statements"]
    found = {one["name"]: (one["rows"], one["affected"]) for one in statements}
    assert len(found) == 8 and found["update-orders"] == found["insert-orders"] == (0, 2)


def test_the_busiest_are_taken(tmp_path: Path) -> None:
    lines = [f"TABLE t{number},{number},{100 - number}\n" for number in range(1, 6)]
    (tmp_path / "seen.csv").write_text("query,calls,total_exec_time\n" + "".join(lines))
    made = write_suite(read_statements([str(tmp_path / "seen.csv")]), 2, ["seen.csv"])
    assert list(tomllib.loads(made.text)["statements"]) == ["table-t1", "table-t2"]
    assert made.notes == ["left out: 3 statements (not among the first 2 (--top))"]


def test_the_same_statement_of_several_users_is_one(tmp_path: Path) -> None:
    made = of(tmp_path, 'query,calls\nSELECT a FROM t,2\n"SELECT a\nFROM t",3\n')
    assert made["tests"]["all"]["statements"] == [{"use": "select-t", "weight": 5}]


def test_many_calls_stay_in_proportion(tmp_path: Path) -> None:
    made = of(tmp_path, "query,calls\nSELECT a FROM t,8000000000\nSELECT a FROM u,2000000000\nSELECT a FROM v,1\n")
    assert [one["weight"] for one in made["tests"]["all"]["statements"]] == [1_000_000, 250_000, 1]


def normal_form(sql: str, has_values: bool, dialect: Dialect) -> Normal:
    tokens = statement_tokens(sql, dialect)
    return make_template(sql, tokens, has_values, dialect).filled(tokens, dialect)


@pytest.mark.parametrize(
    ("sql", "has_values", "is_mysql", "expected"),
    [
        ("SELECT 'a''b', \"x\", c1 FROM t WHERE d = 5 -- 7\n", True, True, "SELECT \0, \0, c1 FROM t WHERE d = \0"),
        ('SELECT "5" FROM t WHERE doc ? \'a\' AND id = $1', False, False, 'SELECT "5" FROM t WHERE doc ? \'a\' AND id = \0'),
        ("SELECT CAST(a AS CHAR(10)), 3 FROM t ORDER BY 1", True, True, "SELECT CAST(a AS CHAR(10)), \0 FROM t ORDER BY 1"),
        ("SELECT a FROM t LIMIT ?, ...", False, True, "SELECT a FROM t LIMIT \0, \0"),
        ("REPLACE t (a) VALUES (1), ('),('), (3) AS new", True, True, "REPLACE t (a) VALUES (\0) AS new"),
        ("SELECT a FROM t WHERE b IN (...) AND c IN (?)", False, True, "SELECT a FROM t WHERE b IN (\0) AND c IN (\0)"),
    ],
)  # fmt: skip
def test_normal_forms(sql: str, has_values: bool, is_mysql: bool, expected: str) -> None:
    assert normal_form(sql, has_values, "mysql" if is_mysql else "postgres").text == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a FROM t WHERE b = $1 OR c = $1 OR d = $2", "SELECT a FROM t WHERE b = :b OR c = :b OR d = :d"),
        ("SELECT a FROM t WHERE b = $1 OR b = $2 OR b = $3", "SELECT a FROM t WHERE b = :b OR b = :b_2 OR b = :b_3"),
        # before PostgreSQL 10 a value is `?`, as is an operator
        ("SELECT a FROM t WHERE b = ? AND doc ? 'x' AND doc ? ? LIMIT ?",
         "SELECT a FROM t WHERE b = :b AND doc ? 'x' AND doc ? :value LIMIT :limit"),
        # from 18 on
        ("SELECT a FROM t WHERE b IN ($1 /*, ... */) AND c = $2", "SELECT a FROM t WHERE b IN (:b_list) AND c = :c"),
        ("SELECT a FROM t WHERE b IN ($1, $2, $3)", "SELECT a FROM t WHERE b IN (:b_list)"),
        ('SELECT public.t.a, "t"."b" FROM "public"."t" JOIN app.u ON true', 'SELECT t.a, "t"."b" FROM "t" JOIN u ON true'),
        ("INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4) RETURNING a", "INSERT INTO t (a, b) VALUES (:a, :b) RETURNING a"),
        ("SELECT a[1:2], b::date FROM t WHERE c = ANY($1::int[])", "SELECT a[1:2], b::date FROM t WHERE c = ANY(:c::int[])"),
        ("WITH x AS (SELECT a FROM t WHERE b = $1) SELECT a FROM x LIMIT $2",
         "WITH x AS (SELECT a FROM t WHERE b = :b) SELECT a FROM x LIMIT :limit"),
        ("SELECT a FROM t WHERE d > now() - interval $1 AND e < date $2",
         "SELECT a FROM t WHERE d > now() - CAST(:interval AS interval) AND e < CAST(:date AS date)"),
        ("SELECT ':a' FROM t -- :c", "SELECT ':a' FROM t"),
        ("SELECT a /* b /* c */ d */ FROM t WHERE e IS DISTINCT FROM $1", "SELECT a FROM t WHERE e IS DISTINCT FROM :value"),
    ],
)  # fmt: skip
def test_what_postgres_counts(tmp_path: Path, sql: str, expected: str) -> None:
    quoted = '"' + sql.replace('"', '""') + '"'
    (one,) = of(tmp_path, f"query,calls\n{quoted},1\n")["statements"].values()
    assert one["sql"] == expected


@pytest.mark.parametrize(
    ("digest", "expected"),
    [
        ("SELECT `id` FROM `posts` WHERE `status` = ? ORDER BY `at` DESC LIMIT ?, ...",
         "WHERE `status` = :status ORDER BY `at` DESC LIMIT :offset, :limit"),
        ("SELECT `a` FROM `t` WHERE `b` = ? LIMIT ? OFFSET ?", "SELECT `a` FROM `t` WHERE `b` = :b LIMIT :limit OFFSET :offset"),
        ("INSERT INTO `t` ( `a` , `b` ) VALUES (...) /* , ... */ ON DUPLICATE KEY UPDATE `b` = VALUES ( `b` )",
         "( `a` , `b` ) VALUES (:a, :b) ON DUPLICATE KEY UPDATE `b` = VALUES ( `b` )"),
        ("SELECT `shop` . `t` . `a` FROM `shop` . `t` WHERE `shop` . `t` . `a` IN (...)",
         "SELECT `t`.`a` FROM `t` WHERE `t`.`a` IN (:a_list)"),
        ("SELECT `a` FROM `t` WHERE `d` = DATE ? AND `e` > TIMESTAMP ?",
         "= CAST(:date AS DATE) AND `e` > CAST(:timestamp AS datetime)"),
    ],
)  # fmt: skip
def test_what_mysql_counts(tmp_path: Path, digest: str, expected: str) -> None:
    made = of(tmp_path, f"SCHEMA_NAME\tDIGEST_TEXT\tCOUNT_STAR\nshop\t{digest}\t5\n", "seen.tsv")
    (one,) = made["statements"].values()
    assert one["sql"].endswith(expected)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT `a` , `b` FROM `t` WHERE ...", "its text was cut off"),
        ("SELECT `a` FROM ( SELECT `b` FROM `t`", "its text was cut off"),
        ("SELECT `a` , `b` , ...", "its text was cut off"),
        ("SELECT `a` ... FROM `t`", "its text was cut off"),
        ("SELECT ?, ... FROM `t`", "its text does not say how many values it has"),
        ("SELECT `a` FROM `t` WHERE `b` = :name", "it has :name, which a suite takes for a parameter"),
        ("SELECT `a` FROM `mysql` . `user`", "it asks about the server"),
        ("SELECT @@ `version`", "it asks about the server"),
    ],
)
def test_what_cannot_be_a_test(tmp_path: Path, sql: str, reason: str) -> None:
    assert reason in refusal(tmp_path, f"DIGEST_TEXT\tCOUNT_STAR\n{sql}\t5\n", "seen.tsv")


def test_what_the_engine_would_read_otherwise_is_not_written(tmp_path: Path) -> None:
    text = "query,calls\nSELECT E'it\\'s :a' FROM t,1\n"
    assert "its text cannot be written with names for its values" in refusal(tmp_path, text)


def test_a_broken_line_costs_that_line(tmp_path: Path) -> None:
    (tmp_path / "seen.csv").write_text(
        'query;calls\n"SELECT a FROM t";5\n"SELECT b\nFROM t";x\n"SELECT c FROM t";1;2\n(3 rows)\n'
    )
    (tmp_path / "seen.json").write_text('{"query": "SELECT a FROM t", "calls": 7}\n{"query": oops}\n[1]\n')
    names = [str(tmp_path / name) for name in ("seen.csv", "seen.json")]
    seen = read_statements(names)
    assert [one.calls for one in seen.statements] == [5, 7]
    assert [note.removeprefix(f"{tmp_path}/") for note in seen.notes] == [
        "seen.csv:3: calls is 'x', and has to be a number; it is left out",
        "seen.csv:5: there are 3 values under 2 columns; it is left out",
        "seen.csv:6: there are 1 values under 2 columns; it is left out",
        "seen.json:2: this is not JSON: Expecting value; it is left out",
        "seen.json:3: [1] is no object; it is left out",
    ]


def test_a_digest_that_hides_its_values_is_left_out() -> None:
    with pytest.raises(Unclear):
        normal_form("SELECT COALESCE (...) FROM t", False, "mysql")


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("", "seen.csv", "seen.csv is empty; accepted are exports"),
        (
            "text,calls\na,1\n",
            "seen.csv",
            "seen.csv:1: there is no column `query` (or digest_text) among: text, calls;",
        ),
        (
            "query,number\na,1\n",
            "seen.csv",
            "seen.csv:1: there is no column `calls` (or count_star, exec_count) among: query, number;",
        ),
        (
            "a;b\n1;2\n",
            "seen.csv",
            "no column `query` (or digest_text) and no column `calls` (or count_star, exec_count) among: a, b",
        ),
        ('query,calls\n"a\nb",x\nSELECT 1,\n', "seen.csv", "seen.csv:2: calls is 'x', and has to be a number"),
        ("query,calls\na,b,c\n", "seen.csv", "seen.csv:2: there are 3 values under 2 columns"),
        ('[{"query": 1,}]', "seen.json", "seen.json:1: this is not JSON"),
        ("[1]", "seen.json", "seen.json:1: 1 is no object"),
        ("query,calls\nCOMMIT,7\n", "seen.csv", "no statement can be a test: no query and no change of rows."),
    ],
)
def test_exports_that_are_none(tmp_path: Path, text: str, name: str, expected: str) -> None:
    assert expected in refusal(tmp_path, text, name)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"nowhere\.csv cannot be read: No such file or directory"):
        read_statements(["nowhere.csv"])
