from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites.assembly.judged_load import LoadPlan, load_plan, load_words, with_judged_load
from dbversus.suites.load import load_suite
from dbversus.suites.model import EMPTY, LOAD, LOADED, Suite

SHOP = """\
title = "Shop"

[tables.orders]
rows = "table_size"
copies = 2
columns.id = { type = "int4", values = { gen = "sequence" } }

[tables.shops]
rows = 3
columns.id = { type = "int4", values = { gen = "sequence" } }

[tests.read]
title = "t"
group = "point"
statements = [{ name = "read", sql = "SELECT 1" }]

[[phases]]
name = "p"
tests = ["read"]
"""
OF_A_SCRIPT = '[setup]\nsql = ["made.sql"]\n'
OF_A_FILE = """\
[data.rows]
file = "rows.csv"
[tables.filed]
data = "rows"
columns.id = { type = "int4" }
"""


def _suite(folder: Path, text: str = SHOP) -> Suite:
    (folder / "shop.toml").write_text(text)
    (folder / "made.sql").write_text("SELECT 1;")
    (folder / "rows.csv").write_text("id\n1\n2\n")
    return load_suite(folder / "shop.toml")


def _plan(suite: Suite, table_size: int, tables: int = 1) -> LoadPlan:
    return load_plan(with_judged_load(suite, table_size, tables).tests[LOAD], table_size, tables)


def test_the_load_is_the_first_test_on_tables_without_rows() -> None:
    suite = with_judged_load(load_suite("sysbench"), 1000, 1)
    assert suite.sequence[:2] == [LOAD, "point-query.pre"] and suite.sequence.count(LOAD) == 1
    assert [data for data, _ in suite.stretches][:2] == [EMPTY, LOADED]
    assert suite.needs_rows and not with_judged_load(load_suite("sysbench").select("load"), 1000, 1).needs_rows
    assert suite.tests[LOAD].has_one_client and suite.group_titles[LOAD] == "load"


@pytest.mark.parametrize(
    ("table_size", "tables", "rounds", "rows"),
    [(500_000, 1, 500, 1000), (50_000, 4, 50, 1000), (700, 1, 1, 700), (1500, 1, 2, 750)],
)
def test_all_rows_are_inserted_a_thousand_at_a_time(table_size: int, tables: int, rounds: int, rows: int) -> None:
    plan = _plan(load_suite("sysbench"), table_size, tables)
    assert (plan.rounds, plan.rows, plan.rows_in_all) == (rounds, {"sbtest": rows}, table_size * tables)


def test_of_large_tables_a_share_is_inserted_and_the_plan_says_so() -> None:
    suite = with_judged_load(load_suite("sysbench"), 2_000_000, 2)
    assert _plan(load_suite("sysbench"), 2_000_000, 2).rows_in_all == 500_000
    words = "500,000 of 4,000,000 rows, 1,000 to an INSERT, then indexes"
    assert load_words(suite.tests[LOAD], 2_000_000, 2) == words


def test_tables_of_a_few_rows_are_left_out(tmp_path: Path) -> None:
    assert _plan(_suite(tmp_path), 8000) == LoadPlan(8, {"orders": 1000}, {"orders": 2})
    assert _plan(_suite(tmp_path), 2).rows == {"orders": 2, "shops": 3}  # a single round has room for them


@pytest.mark.parametrize(
    ("more", "expected"),
    [(OF_A_SCRIPT, r"suite shop has scripts"), (OF_A_FILE, r"rows of table filed of suite shop come from a file")],
)
def test_rows_that_the_suite_does_not_generate_are_refused(tmp_path: Path, more: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        with_judged_load(_suite(tmp_path, SHOP + more), 1000, 1)


def test_tables_that_begin_empty_are_refused() -> None:
    with pytest.raises(UsageError, match=r"those of suite insert begin empty: its own tests fill them"):
        with_judged_load(load_suite("insert"), 1000, 1)
