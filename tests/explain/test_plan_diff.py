import pytest

from dbversus.dbms.flavour import NOT_EXPLAINED
from dbversus.explain.plan_diff import differing_plans, normalise_plan

INDEX_SCAN = """Index Scan using k_1 on sbtest1  (cost=0.42..8.44 rows=1 width=121)
  Index Cond: (k = {})
"""
SEQ_SCAN = "Seq Scan on sbtest1  (cost=0.00..2725.00 rows=1 width=121)\n  Filter: (k = 5)"


def test_estimates_and_literals_make_no_difference() -> None:
    plans = [{"t/s": INDEX_SCAN.format(5)}, {"t/s": INDEX_SCAN.format(77).replace("8.44", "9.1")}]
    assert differing_plans(plans, ["postgres", "postgres"]) == []


def test_another_shape_is_a_difference() -> None:
    [found] = differing_plans([{"t/s": INDEX_SCAN.format(5)}, {"t/s": SEQ_SCAN}], ["postgres", "postgres"])
    assert found.statement == "t/s"
    assert found.plans[1] == "Seq Scan on sbtest1\n  Filter: (k = ?)"


def test_groups_may_be_nested() -> None:
    plans = [{"t": {"s": "SCAN a"}}, {"t": {"s": "SEARCH a USING INDEX i (k=?)"}}]
    [found] = differing_plans(plans, ["sqlite", "sqlite"])
    assert found.statement == "t / s"


def test_missing_plans_and_other_dbms_are_no_difference() -> None:
    assert differing_plans([{"t/s": "SCAN a"}, {}], ["sqlite", "sqlite"]) == []
    assert differing_plans([{"t/s": "SCAN a"}, {"t/s": SEQ_SCAN}], ["sqlite", "postgres"]) == []
    assert differing_plans([{"t/s": NOT_EXPLAINED}, {"t/s": "sbtest1 range key=PRIMARY"}], ["mysql", "mysql"]) == []


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("SCAN TABLE sbtest1 (~100 rows)", "SCAN sbtest1"),
        ("SEARCH sbtest1 USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH sbtest1 USING INTEGER PRIMARY KEY (rowid=?)"),
        ("Index Cond: (id = ANY ('{1,2,3}'::integer[]))", "Index Cond: (id = ANY (?::integer[]))"),
        ("Filter: (id = ANY (ARRAY[1, 2, 3]))", "Filter: (id = ANY (ARRAY[?]))"),
        ("Sort (actual time=0.1..0.2 rows=3 loops=1)\nPlanning Time: 0.1 ms", "Sort"),
    ],
)
def test_normalised(text: str, shape: str) -> None:
    assert normalise_plan(text) == shape


def test_only_plans_of_the_dbms_in_which_they_differ_are_shown() -> None:
    plans = [{"t/s": INDEX_SCAN.format(5)}, {"t/s": "SCAN a"}, {"t/s": SEQ_SCAN}, {"t/s": "SCAN a"}]
    [found] = differing_plans(plans, ["postgres", "sqlite", "postgres", "sqlite"])
    assert [plan is None for plan in found.plans] == [False, True, False, True]


def test_a_second_format_of_the_same_plan_is_left_out() -> None:
    old = 'sbtest1 range key=k_1 key_len=4 rows=60 (Using index)\n--- FORMAT=JSON\n{\n  "query_block": {}\n}'
    new = "sbtest1 range key=k_1 key_len=4 rows=58 (Using index)\n--- FORMAT=TREE\n-> Covering index range scan"
    assert normalise_plan(old) == normalise_plan(new) == "sbtest1 range key=k_1 key_len=? rows=? (Using index)"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(No tables used)", "sbtest1 ALL\n--- FORMAT=JSON\n{}"),
        ("a range key=PRIMARY rows=9 (Using where)", "b ALL\na range key=PRIMARY rows=7 (Using where)"),
    ],
)
def test_an_insert_is_explained_alike_by_all_versions_of_mysql(old: str, new: str) -> None:
    assert differing_plans([{"t/s": old}, {"t/s": new}], ["mysql", "mysql"]) == []
    scanned = new.replace("ALL", "ALL rows=5", 1)
    assert differing_plans([{"t/s": old}, {"t/s": scanned}], ["mysql", "mysql"])


def test_a_union_of_sqlite_with_and_without_duplicates_are_two_plans() -> None:
    shapes = [
        f"COMPOUND QUERY\n  |--LEFT-MOST SUBQUERY\n{line}" for line in ("  `--UNION ALL", "  `--UNION", "UNION ALL")
    ]
    assert [normalise_plan(shape).splitlines()[-1].strip(" `-") for shape in shapes] == [
        "UNION ALL",
        "UNION",
        "UNION ALL",
    ]


def test_that_a_plan_is_compiled_is_part_of_its_shape() -> None:
    assert normalise_plan("Seq Scan on a\nJIT:\n  Functions: 25") == "Seq Scan on a\nJIT:\n  Functions: ?"


def executed(scan: str, ms: float) -> str:
    actual = f" (actual time=0.01..{ms} rows=9 loops=1)"
    return f"{scan.partition(chr(10))[0]}{actual}\n  Buffers: shared hit=3\nPlanning Time: {ms} ms\nExecution Time: {ms} ms"


def test_plans_that_ran_come_before_those_that_were_asked_for() -> None:
    asked = [{"t/s": INDEX_SCAN.format(5)}] * 2
    ran = [{"t/s": executed(INDEX_SCAN, 0.1)}, {"t/s": executed(SEQ_SCAN, 9.0)}]
    [found] = differing_plans(asked, ["postgres"] * 2, ran)
    assert found.plans == ("Index Scan using k_1 on sbtest1", "Seq Scan on sbtest1")
    assert found.executed == (ran[0]["t/s"], ran[1]["t/s"])
    assert differing_plans([asked[0], {"t/s": SEQ_SCAN}], ["postgres"] * 2, [ran[0], ran[0]]) == []


def test_where_one_target_was_not_executed_those_that_were_asked_for_are_compared() -> None:
    asked = [{"t/s": INDEX_SCAN.format(5)}, {"t/s": SEQ_SCAN}]
    [found] = differing_plans(asked, ["postgres"] * 2, [{"t/s": executed(INDEX_SCAN, 0.1)}, {}])
    assert found.plans[1] == "Seq Scan on sbtest1\n  Filter: (k = ?)" and found.executed == ()


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("Sort Method: quicksort  Memory: 25kB", "Sort Method: top-N heapsort  Memory: 31kB", False),
        ("Sort Method: quicksort  Memory: 25kB", "Sort Method: external merge  Disk: 2208kB", True),
        ("Sort Method: external merge  Disk: 1kB", "Sort Method: external merge  Disk: 2208kB", False),
        ("Buckets: 1024  Batches: 1  Memory Usage: 9kB", "Buckets: 2048  Batches: 1  Memory Usage: 8kB", False),
        ("Buckets: 1024  Batches: 1  Memory Usage: 9kB", "Buckets: 2048  Batches: 16  Memory Usage: 8kB", True),
        ("Heap Fetches: 0", "Heap Fetches: 7", False),
        ("Rows Removed by Filter: 9", "Rows Removed by Filter: 3", False),
        ("JIT:", "", True),
    ],
)
def test_of_an_executed_plan_what_went_to_disk_is_a_difference_and_figures_are_none(
    one: str, other: str, differ: bool
) -> None:
    plans = [{"t/s": f"Sort (actual time=0.1..0.2 rows=3 loops=1)\n  {line}"} for line in (one, other)]
    assert bool(differing_plans(plans, ["postgres"] * 2)) is differ
