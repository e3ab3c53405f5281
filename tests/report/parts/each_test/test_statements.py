"""The SQL of each test and what targets do with it, from the suite and the plans that results hold."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbversus.report.model import StatementPart
from dbversus.report.parts.each_test.statements import LONGEST_LINE, _telling, statements_of_tests
from dbversus.results.stored import Results

SUITE = """
title = "One test"

[[phases]]
name = "all"
tests = ["one"]

[tables.items]
rows = "table_size"
primary_key = ["id"]

[tables.items.columns]
id = { type = "int4", values = { gen = "sequence" } }
a = { type = "int4", values = { gen = "uniform", low = 1, high = 9 } }

[tests.one]
title = "One row"
group = "point"
[[tests.one.statements]]
name = "get"
sql_mysql = "SELECT a FROM items WHERE id = :id"
sql_postgres = "SELECT a FROM items WHERE (id = :id)"
params = { id = { gen = "uniform", low = 1, high = "table_size" } }
"""


def made(folder: Path, plans: Mapping[str, Mapping[str, Any]], suite: str = SUITE) -> Any:
    """What `statements_of_tests` reads of results: targets, the suite's folder, and plans."""
    if suite:
        (folder / "suite").mkdir()
        (folder / "suite/1-own.toml").write_text(suite)
    dbms = {"old": "mysql", "new": "mysql", "pg": "postgres"}
    results = SimpleNamespace(
        directory=folder,
        header=SimpleNamespace(spec={}),
        targets=[SimpleNamespace(label=label, dbms=dbms[label]) for label in plans],
        server_json=lambda target, _: plans[target.label],
    )
    results.stored_tests = vars(Results)["stored_tests"].func(results)
    return results


def asked(results: Any, case: str = "one") -> tuple[StatementPart, ...]:
    return statements_of_tests(results)(case)


def test_sql_of_each_dbms_and_one_plan_for_all_that_have_it(tmp_path: Path) -> None:
    const = "items const key=PRIMARY\n--- FORMAT=JSON\n{}"
    results = made(
        tmp_path, {"old": {"one/get": const}, "new": {"one/get": const}, "pg": {"one": {"get": "Index Scan"}}}
    )
    [found] = asked(results)
    assert found.sql == {
        "MySQL": "SELECT a FROM items WHERE id = :id",
        "PostgreSQL": "SELECT a FROM items WHERE (id = :id)",
    }
    assert found.plans == ((("old", "new"), "items const key=PRIMARY"), (("pg",), "Index Scan"))
    assert asked(results, "one@4") == (found,)


def test_one_text_for_all_is_said_once(tmp_path: Path) -> None:
    [found] = asked(made(tmp_path, {"old": {}, "new": {}}))
    assert found.sql == {"": "SELECT a FROM items WHERE id = :id"} and found.plans == ()


def test_lists_of_values_are_cut(tmp_path: Path) -> None:
    plan = "Filter: id in (" + ",".join(map(str, range(1000)))
    [found] = asked(made(tmp_path, {"old": {"one/get": plan}}))
    [(_, text)] = found.plans
    assert len(text) == LONGEST_LINE + 1 and text.endswith("…")


@pytest.mark.parametrize("suite", ["", "title = 3"])
def test_without_a_suite_that_can_be_read_a_report_has_no_sql(tmp_path: Path, suite: str) -> None:
    assert asked(made(tmp_path, {"old": {}}, suite)) == ()


def test_a_suite_outside_the_folder_or_that_is_no_file_is_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text(SUITE)
    for name, make in (("link", lambda path: path.symlink_to(outside)), ("pipe", os.mkfifo)):
        (tmp_path / name / "suite").mkdir(parents=True)
        make(tmp_path / name / "suite/1-own.toml")
        assert asked(made(tmp_path / name, {"old": {}}, suite="")) == ()


def test_plans_that_ran_are_shown_where_they_differ_in_shape() -> None:
    asked = {"a": {"t/s": "Seq Scan on t"}, "b": {"t/s": "Seq Scan on t"}}
    ran = {
        "a": {"t/s": "Seq Scan on t  (actual time=0.1..0.2 rows=3 loops=1)"},
        "b": {"t/s": "Index Scan using i on t  (actual time=0.1..0.2 rows=3 loops=1)"},
    }
    assert _telling(asked, ran, "t/s") == ran
    alike = {"a": ran["a"], "b": {"t/s": "Seq Scan on t  (actual time=0.1..9.9 rows=3 loops=1)"}}
    assert _telling(asked, alike, "t/s") == asked
    assert _telling(asked, {"a": ran["a"], "b": {}}, "t/s") == asked
