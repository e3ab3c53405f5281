"""Scripts of pgbench become suites that load, and what has no counterpart is refused with file and line."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.suites import definition, load_suite
from dbversus.suites.expression import settle
from dbversus.suites.send.define import Json
from dbversus.suites.writing.missing import Written
from dbversus.suites.writing.pgbench.columns import columns_of
from dbversus.suites.writing.pgbench.suite import Script, find_scripts, write_suite

TABLE = '[tables.t]\ncolumns = { id = { type = "int4", values = { gen = "sequence" } } }\n'


def written(tmp_path: Path, script: str, **defines: int) -> Written:
    path = tmp_path / "script.sql"
    path.write_text(script)
    return write_suite(find_scripts([str(path)]), 1, defines)


def statements(tmp_path: Path, script: str, scale: int = 1, **defines: int) -> list[Json]:
    """What the engine is told of the one test of `script`."""
    path = tmp_path / "suite.toml"
    path.write_text(written(tmp_path, script, **defines).text + TABLE)
    made: list[Json] = definition(load_suite(path).tests["script"], "postgres", 10)["statements"]
    return made


def refusal(tmp_path: Path, script: str) -> str:
    with pytest.raises(UsageError) as error:
        written(tmp_path, script)
    return str(error.value).removeprefix(f"{tmp_path}/")


def builtin(tmp_path: Path, *names: str, scale: int = 1) -> Any:
    path = tmp_path / "builtin.toml"
    path.write_text(write_suite(find_scripts(names), scale, {}).text)
    return load_suite(path)


def test_tpcb_is_one_transaction_whose_values_are_drawn_once(tmp_path: Path) -> None:
    suite = builtin(tmp_path, "tpcb-like", scale=3)
    test = definition(suite.tests["tpcb-like"], "mysql", 10)
    assert test["transaction"]
    made = test["statements"]
    assert [one["name"] for one in made] == [
        "update-accounts",
        "select-accounts",
        "update-tellers",
        "update-branches",
        "insert-history",
    ]
    assert made[0]["params"]["aid"] == {"gen": "uniform", "low": 1, "high": 300_000}
    assert made[3]["params"]["bid"] == {"gen": "uniform", "low": 1, "high": 3}
    assert set(map(str, made[4]["params"].values())) == {
        str({"gen": "ref", "of": name}) for name in ("tid", "bid", "aid", "delta")
    }
    rows = {table.made_like.name: table.rows for table in suite.tables}
    assert rows["pgbench_accounts"] == "100000 * scale" and rows["pgbench_history"] == 0


def test_scripts_are_tests_and_with_weights_a_mix(tmp_path: Path) -> None:
    assert builtin(tmp_path, "tpcb-like", "select-only").sequence == ["load", "tpcb-like", "select-only"]
    suite = builtin(tmp_path, "tpcb-like", "select-only@9")
    assert suite.sequence == ["load", "mix"]
    parts = [one["part"] for one in definition(suite.tests["mix"], "postgres", 10)["statements"] if "part" in one]
    assert [(one["name"], one["weight"], one["transaction"]) for one in parts] == [
        ("tpcb-like", 1, True),
        ("select-only", 9, False),
    ]


def test_the_same_script_twice_is_two_tests(tmp_path: Path) -> None:
    assert builtin(tmp_path, "select-only", "select-only").sequence == ["load", "select-only", "select-only-2"]


SCRIPT = """\
-- a comment; with a semicolon
\\set n 7 / 2 * -1
\\set Id random_zipfian(1, :rows, 1.5)
\\set next :Id + 1
\\set far :Id \\
  + :rows
SELECT ';', a::int FROM t WHERE id = :Id AND (SELECT 1; ) /* :nobody */;
\\set Id random(1, 9)
BEGIN; UPDATE t SET id = :next
  WHERE id IN (:Id, :n); COMMIT;
DELETE FROM t WHERE id = :far
"""


def test_a_script_of_many_things(tmp_path: Path) -> None:
    made = statements(tmp_path, SCRIPT, rows=50)
    assert [one["name"] for one in made] == ["select-t", "begin", "update-t", "commit", "delete-t"]
    assert made[0]["sql"] == "SELECT ';', a::int FROM t WHERE id = :id AND (SELECT 1; ) /* :nobody */"
    assert made[0]["params"] == {"id": {"gen": "zipfian", "low": 1, "high": 50, "exponent": 1.5}}
    assert made[1]["mode"] == made[3]["mode"] == "text"
    assert made[2]["sql"] == "UPDATE t SET id = :next\n  WHERE id IN (:id_2, :n)"
    assert made[2]["params"] == {
        "next": {"gen": "row", "expr": ["+", "id", 1]},
        "id_2": {"gen": "uniform", "low": 1, "high": 9},
        "n": {"gen": "constant", "value": -3},
    }
    assert made[4]["params"] == {"far": {"gen": "row", "expr": ["+", "id", 50]}}


def test_distributions_are_those_of_pgbench(tmp_path: Path) -> None:
    script = "\\set a random_gaussian(1, 9, 2.5)\n\\set b random_exponential(1, 9, 3)\nSELECT :a, :b;\n"
    assert statements(tmp_path, script)[0]["params"] == {
        "a": {"gen": "gaussian", "low": 1, "high": 9, "parameter": 2.5},
        "b": {"gen": "exponential", "low": 1, "high": 9, "parameter": 3.0},
    }


def test_a_value_first_used_through_another_is_drawn_with_it(tmp_path: Path) -> None:
    made = statements(tmp_path, "\\set a random(1, 5)\n\\set b :a + 2\nSELECT :b;\nSELECT :a;\n")
    assert made[0]["params"] == {
        "a": {"gen": "uniform", "low": 1, "high": 5},
        "b": {"gen": "row", "expr": ["+", "a", 2]},
    }
    assert made[1]["params"] == {"a": {"gen": "ref", "of": "a"}}


def test_tables_that_are_not_pgbenchs_are_left_to_the_user(tmp_path: Path) -> None:
    made = written(tmp_path, "SELECT * FROM shop.orders JOIN items USING (id);\n")
    assert made.left == [
        "say what the tables are like and what they hold, by [tables.NAME] or your own schema and files, as in "
        "docs/suites/tables.md: orders, items"
    ]
    assert "Still to be done: say what the tables are like" in made.text
    assert "tables" not in tomllib.loads(made.text)


def test_what_is_no_variable_is_left(tmp_path: Path) -> None:
    script = "\\set id random(1, 1000)\nSELECT vals[1:2], a[:2], a[lo:hi], x::int[1] FROM readings WHERE id = :id;\n"
    [made] = statements(tmp_path, script)
    assert made["sql"] == "SELECT vals[1:2], a[:2], a[lo: hi], x::int[1] FROM readings WHERE id = :id"
    assert made["params"] == {"id": {"gen": "uniform", "low": 1, "high": 1000}}
    [made] = statements(tmp_path, "\\set n random(1, 9)\nSELECT vals[1: :n] FROM readings;\n")
    assert made["sql"] == "SELECT vals[1: :n] FROM readings" and list(made["params"]) == ["n"]


def test_setrandom_of_old_versions_is_random(tmp_path: Path) -> None:
    script = """\
\\set naccounts 100000 * :scale
\\setrandom aid 1 :naccounts
\\setrandom delta -5000 5000 uniform
\\setrandom hot 1 100 exponential 3
\\setrandom middle 1 100 gaussian 2.5
SELECT :aid, :delta, :hot, :middle;
"""
    assert statements(tmp_path, script)[0]["params"] == {
        "aid": {"gen": "uniform", "low": 1, "high": 100_000},
        "delta": {"gen": "uniform", "low": -5000, "high": 5000},
        "hot": {"gen": "exponential", "low": 1, "high": 100, "parameter": 3.0},
        "middle": {"gen": "gaussian", "low": 1, "high": 100, "parameter": 2.5},
    }


BRANCHES = """\
\\set b random(1, :scale)
\\set aid random(1, 100000) + 100000 * (:b - 1)
\\set delta random(-50, 50) / 7
\\set kind case when :delta < 0 then 1 else 2 end
\\set share double(:aid) / 3
\\set size random(:b, :b + 9)
\\set n greatest(3, 1 + 1) * 2 << 1
UPDATE t SET a = :delta, kind = :kind, share = :share LIMIT :size + :n WHERE id = :aid;
"""


def values_of(made: Json, **given: float) -> dict[str, float]:
    """What the parameters of a statement are, with these values for what is drawn."""
    known: dict[str, float] = {}
    for name, generator in made["params"].items():
        match generator["gen"]:
            case "row":
                known[name] = settle(generator["expr"], known)
            case "constant":
                known[name] = generator["value"]
            case _:
                known[name] = given[name]
    return known


def test_arithmetic_is_that_of_pgbench(tmp_path: Path) -> None:
    [made] = statements(tmp_path, BRANCHES)
    values = values_of(made, b=3, aid_drawn=17, delta_drawn=-40, size_share=0.55)
    named = {name: value for name, value in values.items() if f":{name}" in made["sql"]}
    assert named == {"aid": 200_017, "delta": -5, "kind": 1, "share": 200_017 / 3, "size": 8, "n": 12}
    assert made["params"]["share"]["type"] == "float8"
    assert values_of(made, b=1, aid_drawn=1, delta_drawn=48, size_share=0)["delta"] == 6


def test_remainders_have_the_sign_of_what_is_divided(tmp_path: Path) -> None:
    [made] = statements(tmp_path, "\\set a random(-9, 9)\n\\set b :a % 4\n\\set c mod(:a, -4)\nSELECT :b, :c;\n")
    for a, rest in ((7, 3), (-7, -3), (-8, 0)):
        assert (values := values_of(made, a=a))["b"] == rest and values["c"] == rest


def test_conditions_that_are_known_choose_what_is_written(tmp_path: Path) -> None:
    script = """\
\\if :scale >= 10 and not :wide
SELECT 1;
\\elif :wide = 2
\\set x random(1, 5)
\\if :wide > 0 or :scale is null
SELECT :x FROM two;
\\endif
\\else
SELECT 3;
\\endif
"""
    assert [one["name"] for one in statements(tmp_path, script, wide=2)] == ["select-two"]
    assert [one["sql"] for one in statements(tmp_path, script, wide=0)] == ["SELECT 3"]


NEW_ORDER = """\
\\set d_id random(1, 10)
\\set by_name random(1, 100)
BEGIN;
SELECT d_tax, d.d_next_o_id AS o_id, d_name
  FROM district d WHERE d_w_id = :client_id + 1 AND d_id = :d_id FOR UPDATE \\gset
\\set next :o_id + 1
UPDATE district SET d_next_o_id = :next WHERE d_id = :d_id;
\\if :by_name <= 60
  SELECT 'BAR' AS last \\gset drawn_
  SELECT c_id FROM customer WHERE c_last = ':drawn_last' LIMIT 1 \\gset
\\else
  SELECT max(c_id) AS c_id FROM customer \\gset
\\endif
\\set lines 5
\\if :o_id % 100 = 0 and :scale > 0
  \\set lines random(1, 3)
\\endif
INSERT INTO orders VALUES (:o_id, :c_id, :lines, :d_tax);
END;
"""


def test_what_a_statement_has_read_is_kept_and_used(tmp_path: Path) -> None:
    made = {one["name"]: one for one in statements(tmp_path, NEW_ORDER)}
    district = made["select-district"]
    assert district["keep"] == ["d_tax", "o_id"]
    assert district["params"]["client_id"] == {"gen": "client"}
    assert made["update-district"]["params"]["next"] == {"gen": "row", "expr": ["+", "o_id", 1]}
    first, second = made["select-customer"], made["select-customer-2"]
    assert (first["keep"], second["keep"]) == (["c_id"], ["c_id"])
    assert (first["when"], second["when"]) == (["<=", "by_name", 60], ["not", ["<=", "by_name", 60]])
    assert first["params"]["drawn_last"] == {"gen": "ref", "of": "drawn_last"}
    insert = made["insert-orders"]["params"]
    assert insert["c_id"] == {"gen": "ref", "of": "c_id"}
    assert (chosen := insert["lines_3"]["expr"])[0] == "if" and chosen[2:] == ["lines_2", 5]
    assert insert["lines_2"] == {"gen": "uniform", "low": 1, "high": 3}


def test_what_is_read_again_does_not_change_what_was_worked_out_before(tmp_path: Path) -> None:
    script = "SELECT a FROM t \\gset\n\\set b :a + 1\nSELECT a FROM t WHERE id = 2 \\gset\nSELECT :a, :b;\n"
    first, second, last = statements(tmp_path, script)
    assert (first["keep"], second["keep"]) == (["a"], ["a_2"])
    assert last["params"] == {"a_2": {"gen": "ref", "of": "a_2"}, "b": {"gen": "row", "expr": ["+", "a", 1]}}


def test_scripts_may_be_written_in_other_ways(tmp_path: Path) -> None:
    script = "\ufeff\\SET a random(1, 9)\r\nSELECT b FROM t;\r\n\\gset\r\n\\If :a > 3\r\nSELECT :b;\r\n\\endif\r\n"
    first, last = statements(tmp_path, script)
    assert first["keep"] == ["b"] and last["when"] == [">", "a", 3]


def test_branches_of_one_choice_exclude_each_other(tmp_path: Path) -> None:
    script = """\
\\set x random(1, 100)
\\if :x <= 45
SELECT 1;
\\elif :x <= 88
SELECT 2;
\\else
\\if :x % 2
SELECT 3;
\\endif
\\endif
"""
    made = statements(tmp_path, script)
    for x, expected in (
        (1, [1, 0, 0]),
        (45, [1, 0, 0]),
        (46, [0, 1, 0]),
        (88, [0, 1, 0]),
        (89, [0, 0, 1]),
        (90, [0, 0, 0]),
    ):
        assert [bool(settle(one["when"], {"x": x})) for one in made] == list(map(bool, expected)), x


def test_what_nobody_uses_is_not_kept(tmp_path: Path) -> None:
    assert "keep" not in statements(tmp_path, "SELECT a, b FROM t \\gset\nSELECT 1;\n")[0]


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ('SELECT a, w.b AS C, max(x), count(*) n, t."D"::int FROM t', ["a", "c", "max", "n", "D"]),
        ("SELECT case when 1 then 2 end, (SELECT x FROM u) AS q, f(a, b)::numeric(10,2), 5", ["case", "q", "f", ""]),
        ("UPDATE t SET a = (SELECT b FROM u) WHERE c = 1 RETURNING d + 1 AS e, t.f", ["e", "f"]),
        ("INSERT INTO t SELECT a, b FROM u RETURNING id", ["id"]),
        ("WITH q AS (SELECT z FROM u) SELECT DISTINCT ON (a, b) a, v[1:2] AS s -- , no\n FROM q", ["a", "s"]),
        ("SELECT a FROM t UNION ALL SELECT b FROM u LIMIT 1", ["a"]),
        ("SELECT extract(epoch FROM now()), coalesce(a, b) FROM t", ["extract", "coalesce"]),
        ("SELECT t.*, a FROM t", None),
    ],
)
def test_columns_have_the_names_that_postgres_gives_them(sql: str, names: list[str] | None) -> None:
    assert columns_of(sql) == names


def test_texts_with_variables_are_parameters(tmp_path: Path) -> None:
    script = "\\set a random(1, 5)\n\\set b :a + 1\nSELECT ':a', 'it''s :a of :b', '12:30' -- ':a'\n;\n"
    [made] = statements(tmp_path, script)
    assert made["sql"] == "SELECT :a, :text, '12:30' -- ':a'"
    assert made["params"]["text"] == {"gen": "text", "template": "it's {a} of {b}"}


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (
            "SELECT 1;\n\\sleep 1 ms\n",
            "script.sql:2: \\sleep has no counterpart in a suite: a test's clients do not wait",
        ),
        ("\\shell date\nSELECT 1;\n", "script.sql:1: \\shell has no counterpart"),
        ("\\setshell a echo 1\nSELECT :a;\n", "script.sql:1: \\setshell has no counterpart in a suite: "),
        ("\\startpipeline\nSELECT 1;\n\\endpipeline\n", "script.sql:1: \\startpipeline has no counterpart"),
        (
            "SELECT 1 \\; SELECT 2;\n",
            "script.sql:1: \\; has no counterpart in a suite: a client sends one statement at",
        ),
        ("SELECT 1 \\;SELECT 2;\n", "script.sql:1: \\; has no counterpart"),
        ("SELECT 1 AS a \\aset\n", "script.sql:1: \\aset has no counterpart in a suite: "),
        ("\\gset\n", "script.sql:1: \\gset keeps the row of the statement before it, and there is none."),
        ("SELECT * FROM t \\gset\nSELECT :a;\n", "script.sql:2: :a is not set; the columns of * are not known"),
        ("\\echo hello\n", "script.sql:1: pgbench has no \\echo. Accepted: SQL statements, \\set, \\setrandom"),
        ("\\sett a 1\n", "script.sql:1: pgbench has no \\sett. Did you mean 'set'"),
        ("\\setrandom a 1\n", "script.sql:1: \\setrandom needs a name, the least and the greatest value"),
        ("\\if 1\nSELECT 1;\n", "script.sql:1: this \\if has no \\endif."),
        ("SELECT 1;\n\\endif\n", "script.sql:2: \\endif has no \\if before it."),
        ("\\if 1\n\\else\n\\elif 1\n\\endif\n", "script.sql:3: \\elif comes after the \\else of its \\if."),
        ("\\if\n\\endif\n", "script.sql:1: \\if needs an expression."),
        ("\\set a\n", "script.sql:1: \\set needs a name and an expression"),
        ("\\set a random(1, 2\n", 'script.sql:1: "random(1, 2" is not understood'),
        ("\\set a random(1)\n", "script.sql:1: random takes 2 values, and is given 1."),
        ("\\set a random(9, 1)\n", 'script.sql:1: "random(9, 1)" draws from 9 to 1: the range is empty.'),
        (
            "\\set a random(1, :b)\n",
            "script.sql:1: there is no variable :b; a \\set before it or -D b=… sets it. Set: client_id, scale.",
        ),
        ("\\set a random(1, 9)\n\\set b random_zipfian(1, :a, 2)\n", "is accepted with random() alone."),
        ("\\set a random(1, 9)\n\\set b 9 / :a\n", 'script.sql:2: "9 / :a" divides by what is known only when it runs'),
        ("\\set a random(1, 9)\n\\set b :a & 3\n", 'script.sql:2: ":a & 3" uses & of what is known only when it runs'),
        ("\\set a random_zipfian(1, 9, 1)\n", "script.sql:1: random_zipfian is given 1, which pgbench refuses too."),
        (
            "\\set a random_gaussian(1, 9, 1.9)\n",
            "script.sql:1: random_gaussian is given 1.9, which pgbench refuses too.",
        ),
        ("\\set a permute(1, 9)\n", 'script.sql:1: "permute(1, 9)" calls permute(), which has no counterpart'),
        ("\\set a hash(1)\n", "the same rows are drawn as often, side by side instead of scattered"),
        ("\\set a 1 / 0\n", 'script.sql:1: "1 / 0" divides by zero.'),
        ("\\set a sqrt(-1)\n", 'script.sql:1: "sqrt(-1)" has no value.'),
        ("\\set a :{?b}\n", "script.sql:1: `:{?name}` is psql's, and pgbench refuses it here too"),
        ("SELECT :{?b};\n", "script.sql:1: `:{?name}` is psql's, and FALSE to pgbench"),
        ("SELECT :'b';\n", "script.sql:1: :'b' is psql's, and no variable to pgbench; :b is accepted."),
        ("SELECT 1,\n :nobody;\n", "script.sql:1: :nobody is not set"),
        ("SELECT :random_seed;\n", "script.sql:1: :random_seed is another for each run of pgbench; -D random_seed=…"),
        ("\\set a 1\nSELECT interval ':a days';\n", "script.sql:2: :a stands between quotes"),
        ("\\set a 1\nSELECT 'x#:a';\n", "script.sql:2: :a is part of a text"),
        (
            "\\set a 1\nSELECT v[1:a], v[1:a] FROM t WHERE v[2:a];\n",
            "script.sql:2: pgbench puts the value of :a in place",
        ),
        ("-- nothing\n", "script.sql has no statement; a script of pgbench is accepted."),
    ],
)
def test_what_has_no_counterpart_is_refused(tmp_path: Path, script: str, expected: str) -> None:
    assert expected in refusal(tmp_path, script)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("tpcb-like@0", "tpcb-like@0: the weight is 0; 1 or more is accepted."),
        ("tpcb-like@-1", "the weight is -1"),
        ("tpcb-lik", "tpcb-lik cannot be read: No such file or directory. Did you mean 'tpcb-like'?"),
    ],
)
def test_scripts_that_are_not_there(named: str, expected: str) -> None:
    with pytest.raises(UsageError) as error:
        find_scripts([named])
    assert expected in str(error.value)


def test_a_scale_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="The scale is 0"):
        write_suite(find_scripts(["select-only"]), 0, {})


def test_words_of_comments_are_no_tables_and_names_are_numbered_through() -> None:
    script = (
        "-- rows that came from the importer join later\n\\set x 1\n\\set x :x + 1\n\\set x :x + 1\n"
        "SELECT v /* taken from cache */ FROM readings\n -- only from the newest\n WHERE id = :x;\n"
        "INSERT INTO public.log_entries VALUES (:x);"
    )
    made = write_suite([Script("a.sql", script, "a", None)], 1, {})
    assert made.left[0].endswith(": readings, log_entries")
