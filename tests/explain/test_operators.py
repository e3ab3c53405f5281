"""Operators of plans, and how two plans differ in them."""

import pytest

from dbversus.explain.operators import ANY_PLAN, GENERIC, difference, operators

BITMAP = """Limit
  ->  Sort
        Sort Key: day, id
        ->  Bitmap Heap Scan on events e
              Recheck Cond: (account = ?)
              ->  BitmapAnd
                    ->  Bitmap Index Scan on events_account
                    ->  Bitmap Index Scan on events_day"""
INCREMENTAL = """Limit
  ->  Incremental Sort
        Presorted Key: day
        ->  Index Scan using events_day on events e
              Filter: (NOT (hashed SubPlan ?))
              SubPlan ?
                ->  Seq Scan on accounts
JIT:
  Functions: ?"""
NESTED = """r ALL rows=? (Using where; Using temporary; Using filesort)
PRIMARY c ref key=c_r key_len=? rows=?
DEPENDENT SUBQUERY d eq_ref key=PRIMARY"""
OF_NESTED = ["r: ALL (Using temporary; Using filesort)", "c: ref by c_r", "DEPENDENT SUBQUERY d: eq_ref by PRIMARY"]


@pytest.mark.parametrize(
    ("plan", "dbms", "found"),
    [
        (BITMAP, "postgres", ["Limit", "Sort", "Bitmap Heap Scan of events by events_account and events_day", "BitmapAnd"]),
        (INCREMENTAL, "postgres", ["Limit", "Incremental Sort", "Index Scan of events by events_day", "hashed SubPlan",
                                   "Seq Scan of accounts", "JIT"]),
        ("CTE Scan on t\n  CTE t\n    ->  Result", "postgres", ["CTE Scan of t", "Result"]),
        (NESTED, "mariadb", OF_NESTED),
        ("SCAN a\n`--SEARCH b USING INDEX i (k=?)", "sqlite", ["SCAN a", "SEARCH b USING INDEX i (k=?)"]),
    ],
)  # fmt: skip
def test_operators_from_the_top_down(plan: str, dbms: str, found: list[str]) -> None:
    assert list(operators(plan, dbms)) == found


def test_what_both_have_is_no_difference() -> None:
    found = difference(BITMAP, INCREMENTAL, "postgres")
    assert found.gone[0] == "Sort" and found.new[:2] == ("Incremental Sort", "Index Scan of events by events_day")
    assert "Limit" not in (*found.gone, *found.new) and not found.reordered
    assert not difference(BITMAP, BITMAP.replace("account = ?", "account = (?)"), "postgres")


def test_the_same_operators_by_other_keys_are_told_by_their_keys() -> None:
    """As a test's aggregates of distinct values have theirs sorted by one Sort since PostgreSQL 16."""
    base = "GroupAggregate\n  Group Key: site\n  ->  Sort\n        Sort Key: site\n        ->  Seq Scan on visits"
    found = difference(base, base.replace("Sort Key: site", "Sort Key: site, visitor"), "postgres")
    assert (found.gone, found.new) == (("Sort by site",), ("Sort by site, visitor",)) and found.by_keys
    assert found.tells("^Sort") and not found.tells("Aggregate") and not found.tells(ANY_PLAN)
    assert not difference(base, base.replace("visits", "visits v"), "postgres")


def test_the_same_tables_in_another_order_are_another_order_of_joins() -> None:
    found = difference("a ALL\nb ref key=k", "b ref key=k\na ALL", "mysql")
    assert found.reordered and found.gone == ("a: ALL", "b: ref by k")


def test_a_pattern_tells_where_one_side_has_it_more_often() -> None:
    found = difference(BITMAP, INCREMENTAL, "postgres")
    assert found.tells("Bitmap") and found.tells("JIT")
    assert not found.tells("Sort") and not found.tells("Memoize") and not found.tells(ANY_PLAN)


@pytest.mark.parametrize(
    ("plan", "generic"),
    [
        ("Index Scan using pk on t\n  Index Cond: (id = $1)", True),
        ("Index Scan using pk on t\n  Index Cond: (id = ?)", False),
        ("Seq Scan on t\n  Filter: (a > $0)\n  InitPlan 1 (returns $0)\n    ->  Seq Scan on u", False),
    ],
)
def test_a_generic_plan_is_told_from_one_for_the_values(plan: str, generic: bool) -> None:
    assert (GENERIC in operators(plan, "postgres")) is generic


def test_what_went_to_disk_is_an_operator() -> None:
    gone_to_disk = difference("Sort\n  ->  Seq Scan on t", "Sort\n  Spilled Sort\n  ->  Seq Scan on t", "postgres")
    assert gone_to_disk.new == ("Spilled Sort",)
