"""Scripts of pgbench become suites that load, and what has no counterpart is refused with file and line."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.suites import definition, load_suite
from dbversus.suites.send.define import Json
from dbversus.suites.writing.missing import Written
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
        "next": {"gen": "ref", "of": "id", "add": 1},
        "id_2": {"gen": "uniform", "low": 1, "high": 9},
        "n": {"gen": "constant", "value": -3},
    }
    assert made[4]["params"] == {"far": {"gen": "ref", "of": "id", "add": 50}}


def test_distributions_are_those_of_pgbench(tmp_path: Path) -> None:
    script = "\\set a random_gaussian(1, 9, 2.5)\n\\set b random_exponential(1, 9, 3)\nSELECT :a, :b;\n"
    assert statements(tmp_path, script)[0]["params"] == {
        "a": {"gen": "gaussian", "low": 1, "high": 9, "parameter": 2.5},
        "b": {"gen": "exponential", "low": 1, "high": 9, "parameter": 3.0},
    }


def test_a_value_first_used_through_another_is_drawn_with_it(tmp_path: Path) -> None:
    made = statements(tmp_path, "\\set a random(1, 5)\n\\set b :a + 2\nSELECT :b;\nSELECT :a;\n")
    assert made[0]["params"] == {"a": {"gen": "uniform", "low": 1, "high": 5}, "b": {"gen": "ref", "of": "a", "add": 2}}
    assert made[1]["params"] == {"a": {"gen": "ref", "of": "a"}}


def test_tables_that_are_not_pgbenchs_are_left_to_the_user(tmp_path: Path) -> None:
    made = written(tmp_path, "SELECT * FROM shop.orders JOIN items USING (id);\n")
    assert made.left == [
        "say what the tables are like and what they hold, [tables.NAME] in docs/suites/tables.md: orders, items"
    ]
    assert "Still to be done: say what the tables are like" in made.text
    assert "tables" not in tomllib.loads(made.text)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("SELECT 1;\n\\sleep 1 ms\n", "script.sql:2: \\sleep has no counterpart in a suite"),
        ("\\if 1\nSELECT 1;\n\\endif\n", "script.sql:1: \\if has no counterpart"),
        ("\nSELECT 1 AS a \\gset\n", "script.sql:2: \\gset has no counterpart"),
        ("SELECT 1 \\; SELECT 2;\n", "script.sql:1: \\; has no counterpart"),
        ("\\set a\n", "script.sql:1: \\set needs a name and an expression"),
        ("\\set a random(1, 2\n", 'script.sql:1: "random(1, 2" is not understood'),
        ("\\set a random(1)\n", "script.sql:1: random takes 2 values, and is given 1."),
        (
            "\\set a random(1, :b)\n",
            "script.sql:1: there is no variable :b; a \\set before it or -D b=… sets it. Set: scale.",
        ),
        ("\\set a random(1, 9)\n\\set b random(1, :a)\n", 'script.sql:2: "random(1, :a)" has a bound that is drawn'),
        ("\\set a random(1, 9)\n\\set b :a * 2\n", 'script.sql:2: ":a * 2" computes with a value that is drawn'),
        ("\\set a random_zipfian(1, 9, 1)\n", "script.sql:1: random_zipfian is given 1, which pgbench refuses too."),
        (
            "\\set a random_gaussian(1, 9, 1.9)\n",
            "script.sql:1: random_gaussian is given 1.9, which pgbench refuses too.",
        ),
        ("\\set a permute(1, 9)\n", 'script.sql:1: "permute(1, 9)" calls permute(), which has no counterpart'),
        ("\\set a 1 / 0\n", 'script.sql:1: "1 / 0" divides by zero.'),
        ("\\set a 0.5\n", "script.sql:1: a is 0.5; a suite takes integers."),
        ("SELECT 1,\n :nobody;\n", "script.sql:1: :nobody is not set"),
        ("SELECT :client_id;\n", "script.sql:1: :client_id is another for each client"),
        ("\\set a 1\nSELECT 'x :a';\n", "script.sql:2: :a stands between quotes"),
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
