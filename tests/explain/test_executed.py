"""What executed plans say, as PostgreSQL 17, MySQL 8.0 and MariaDB 10.11 word them."""

import json

import pytest

from dbversus.explain.executed import (
    RARE,
    Took,
    counts_of,
    counts_that_differ,
    operators_took,
    other_count,
    planning_in_all_ms,
    planning_ms,
    planning_of,
    total_ms,
)
from dbversus.explain.plan_diff import normalise_plan

POSTGRES = """Sort  (cost=5.57..394.32 rows=125 width=125) (actual time=1.20..1.31 rows=104 loops=1)
  Sort Method: quicksort  Memory: 25kB
  ->  Nested Loop  (cost=5.57..394.32 rows=125 width=125) (actual time=0.082..0.774 rows=104 loops=1)
        ->  Bitmap Heap Scan on sbtest1  (cost=5.57..394.32 rows=125 width=125) (actual time=0.082..0.700 rows=104 loops=1)
              Recheck Cond: ((k >= 25000) AND (k <= 25100))
              Buffers: shared hit=106
              ->  Bitmap Index Scan on k_1  (cost=0.00..5.54 rows=125 width=0) (actual time=0.048..0.048 rows=104 loops=1)
        ->  Index Scan using pk on other  (cost=0.1..0.2 rows=1 width=9) (actual time=0.01..0.02 rows=2 loops=50)
              Index Cond: (id = sbtest1.id)
        ->  Seq Scan on never  (cost=0.1..0.2 rows=1 width=9) (never executed)
Settings: jit = 'off'
Planning Time: 0.039 ms
Execution Time: 1.400 ms"""
MYSQL = """sbtest1 range key=k_1 rows=104 (Using index)
--- FORMAT=TREE, executed
-> Aggregate: count(0)  (cost=31.6 rows=1) (actual time=0.0741..0.0742 rows=1 loops=1)
    -> Covering index range scan on sbtest1 using k_1  (cost=21.2 rows=104) (actual time=0.0213..0.0672 rows=104 loops=1)"""
MARIADB = """sbtest1 range key=k_1 rows=104 r_rows=104.00
--- FORMAT=JSON
{ "query_block": { "r_loops": 1, "r_total_time_ms": 0.0581, "table": { "table_name": "sbtest1", "r_total_time_ms": 0.04 } } }"""


CONSTANT = "-> Rows fetched before execution  (cost=0..0 rows=1) (actual time=69e-6..130e-6 rows=1 loops=1)"


@pytest.mark.parametrize(
    ("plan", "ms"),
    [(POSTGRES, 1.4), (MYSQL, 0.0742), (MARIADB, 0.0581), (CONSTANT, 130e-6), ("Seq Scan on a", None)],
)
def test_the_time_of_the_statement(plan: str, ms: float | None) -> None:
    assert total_ms(plan) == ms


def test_planning_is_told_apart() -> None:
    assert planning_ms(POSTGRES) == 0.039
    assert planning_ms(MYSQL) is None


def test_planning_is_of_the_typical_values_of_a_test() -> None:
    base = {"a/one": 0.039, f"a/one{RARE}": 0.25, "a/two": 0.039, "ab/one": 0.25}
    assert planning_of("a", base, {**base, "a/two": 0.25}) == {"a/one": (0.039, 0.039), "a/two": (0.039, 0.25)}
    plans = {"a/one": POSTGRES, f"a/one{RARE}": POSTGRES, "a/two": POSTGRES, "m/one": MYSQL}
    assert planning_in_all_ms("a", plans, {}) == pytest.approx(0.078), "as older results tell it"
    assert planning_in_all_ms("m", plans, {"m/one": 0.01, "m/two": 0.02}) == pytest.approx(0.03)
    assert planning_in_all_ms("m", plans, {"m/two": 0.02}) is None and planning_in_all_ms("z", plans, {}) is None


def test_rows_and_times_of_operators_are_of_all_loops() -> None:
    took = operators_took(POSTGRES, "postgres")
    assert took["Bitmap Heap Scan of sbtest1 by k_1"] == Took(104, 0.7)
    assert took["Index Scan of other by pk"] == Took(100, 1.0)
    assert "Seq Scan of never" not in took
    assert operators_took("SCAN t", "sqlite") == {}


def test_tables_of_mysql_are_found_in_its_tree() -> None:
    assert operators_took(MYSQL, "mysql") == {"sbtest1: range by k_1": Took(104, 0.0672)}
    tree = "-> Nested loop inner join  (actual time=0.04..2.67 rows=30 loops=1)\n" + "\n".join(
        f"    -> {access}  (cost=1 rows=9) (actual time=0.1..0.2 rows=3 loops={loops})"
        for access, loops in (("Table scan on b", 1), ("Index lookup on b using b_a (a=1)", 10))
    )
    joined = f"b ALL rows=9\nb ref key=b_a key_len=4 rows=9\n--- FORMAT=TREE, executed\n{tree}"
    assert operators_took(joined, "mysql") == {"b: ALL": Took(3, 0.2), "b: ref by b_a": Took(30, 2.0)}


def test_tables_of_mariadb_are_found_in_its_json() -> None:
    inner = {"table": {"table_name": "b", "r_loops": 4, "r_rows": 2.5, "r_table_time_ms": 1, "r_other_time_ms": 0.5}}
    not_read = {"table": {"table_name": "c", "r_loops": 0, "r_rows": None}}
    outer = {
        "table": {
            "table_name": "<derived2>",
            "r_loops": 1,
            "r_rows": 4,
            "materialized": {"nested_loop": [inner, not_read]},
        }
    }
    block = {
        "query_optimization": {"r_total_time_ms": 9},
        "query_block": {"r_total_time_ms": 3, "nested_loop": [outer]},
    }
    lines = (
        "PRIMARY <derived2> ALL rows=9 r_rows=4.00\nDERIVED b ref key=b_a rows=9 r_rows=2.50\nDERIVED c const rows=1"
    )
    plan = f"{lines}\n--- FORMAT=JSON\n{json.dumps(block)}"
    assert total_ms(plan) == 3, "without what planning took"
    assert operators_took(plan, "mariadb") == {"<derived2>: ALL": Took(4, None), "DERIVED b: ref by b_a": Took(10, 1.5)}
    assert operators_took(plan[:-9], "mariadb") == {} and total_ms(plan[:-9]) is None


def _sqlite(counts: str) -> str:
    return f"SCAN t\nExecution Time: 12.500 ms\nStatement Status: {counts}\nLoop: SCAN t: 100 rows in 1 loop"


def test_sqlite_tells_what_it_counted() -> None:
    plan = _sqlite("fullscan_steps=99 vm_steps=1203")
    assert total_ms(plan) == 12.5
    assert counts_of(plan) == {"fullscan_steps": 99, "vm_steps": 1203}
    assert normalise_plan(plan) == "SCAN t"


@pytest.mark.parametrize(
    ("base", "mine", "found"),
    [
        ("vm_steps=100", "vm_steps=140", None),
        ("vm_steps=100", "vm_steps=160", ("vm_steps", 100, 160)),
        ("vm_steps=160", "vm_steps=100", ("vm_steps", 160, 100)),
        ("vm_steps=100", "vm_steps=900 sorts=1", ("sorts", 0, 1)),
        ("vm_steps=100 fullscan_steps=9", "vm_steps=900 sorts=1 fullscan_steps=300", ("fullscan_steps", 9, 300)),
        ("fullscan_steps=9", "fullscan_steps=20 autoindex_rows=400", ("autoindex_rows", 0, 400)),
        ("vm_steps=100 memory_bytes=1000", "vm_steps=100 memory_bytes=9000", None),
    ],
)
def test_what_a_statement_does_more_often(base: str, mine: str, found: tuple[str, int, int] | None) -> None:
    assert other_count(_sqlite(base), _sqlite(mine)) == found


def test_nothing_differs_where_a_side_counts_nothing() -> None:
    assert other_count("SCAN t", _sqlite("vm_steps=9")) is None
    counted = {"a/s": _sqlite("vm_steps=1"), "b/s": _sqlite("vm_steps=1"), f"a/s{RARE}": _sqlite("vm_steps=1")}
    mine = {name: _sqlite("vm_steps=9") for name in counted}
    assert counts_that_differ("a", counted, mine) == {"a/s": ("vm_steps", 1, 9)}
