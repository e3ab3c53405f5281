"""Two plans of one statement are told apart, and the settings to try are those that the newer server has."""

import pytest

from dbversus.explain.planner import Kind, Trial, items_of, plan_change, trials

OLD = """Sort  (cost=10.00..11.00 rows=2689 width=8)
  Sort Key: day
  ->  Bitmap Heap Scan on events  (cost=4.00..9.00 rows=2689 width=8)
        ->  Bitmap Index Scan on events_account  (cost=0.00..4.00 rows=2689 width=0)
              Index Cond: (account = 105)"""
NEW = """Incremental Sort  (cost=0.40..11.00 rows=2689 width=8)
  Sort Key: day
  ->  Index Scan using events_day on events  (cost=0.40..9.00 rows=2689 width=8)
        Filter: (account = 105)"""
PLAIN = "Index Scan using {index} on events  (cost=0.40..9.00 rows={rows} width=8)"


def _plain(index: str = "events_day", rows: int = 100) -> str:
    return PLAIN.format(index=index, rows=rows)


def test_equal_plans_with_other_costs_and_values_are_the_same() -> None:
    assert plan_change(OLD, OLD.replace("9.00", "9.70").replace("105", "7"), "postgres").words == "same plan"


def test_new_and_gone_operators_are_named() -> None:
    change = plan_change(OLD, NEW, "postgres")
    assert change.kind is Kind.SHAPE
    assert change.words == (
        "new: Incremental Sort, Index Scan of events by events_day; gone: Sort, Bitmap Heap Scan of events by events_account"
    )


def test_another_index_is_told_from_another_shape() -> None:
    change = plan_change(_plain(), _plain("events_kind"), "postgres")
    assert change.kind is Kind.INDEX
    assert change.words.startswith("other index: Index Scan of events by events_day")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (3500, "35 times more rows expected of Index Scan using events_day on events: 100 → 3,500"),
        (10, "10 times fewer rows expected of Index Scan using events_day on events: 100 → 10"),
    ],
)
def test_rows_estimated_otherwise(rows: int, words: str) -> None:
    change = plan_change(_plain(), _plain(rows=rows), "postgres")
    assert (change.kind, change.words) == (Kind.ESTIMATES, f"same plan; {words}")


def test_estimates_that_differ_a_little_are_the_same_plan() -> None:
    assert plan_change(_plain(), _plain(rows=150), "postgres").kind is Kind.SAME


def test_estimates_of_mysql_are_those_of_the_table() -> None:
    base = 'e ref key=e_day key_len=4 rows=10 (Using where)\n--- FORMAT=JSON\n{"x": " rows=1"}'
    change = plan_change(base, base.replace("rows=10", "rows=900"), "mysql")
    assert change.estimate and (change.estimate.base, change.estimate.mine) == (10, 900)


def _named(found: list[Trial]) -> list[str]:
    return [one.item for one in found]


def test_what_is_new_between_the_versions_is_tried_first_and_statistics_last() -> None:
    mine = {"enable_sort": "on", "enable_memoize": "on", "default_statistics_target": "100", "shared_buffers": "1GB"}
    found = trials("postgres", ("13.1", "17.2"), {}, mine)
    assert _named(found) == ["enable_memoize=off", "enable_sort=off", "default_statistics_target=1000"]
    assert (found[0].new_in, found[1].new_in) == ("14", "")


def test_what_both_versions_have_is_not_called_new() -> None:
    assert trials("postgres", ("14.2", "17.2"), {}, {"enable_memoize": "on"})[0].new_in == ""


def test_values_of_the_other_server_are_tried_where_they_differ() -> None:
    base, mine = {"work_mem": "16MB", "seq_page_cost": "1"}, {"work_mem": "4MB", "seq_page_cost": "1"}
    assert _named(trials("postgres", ("17.1", "17.1"), base, mine)) == ["work_mem=16MB"]


def test_each_switch_of_a_list_is_tried() -> None:
    found = trials("mysql", ("5.7", "8.0"), {}, {"optimizer_switch": "mrr=on,semijoin=off"})
    assert _named(found) == ["optimizer_switch=mrr=off", "optimizer_switch=semijoin=on"]
    assert found[0].sql("mysql") == ["SET SESSION optimizer_switch = 'mrr=off'"]
    assert items_of(found) == ["optimizer_switch=mrr=off,semijoin=on"]


def test_statistics_are_collected_where_they_are_forgotten_again() -> None:
    (found,) = trials("postgres", ("13", "17"), {}, {"default_statistics_target": "100"})
    assert found.sql("postgres") == ["BEGIN", "SET LOCAL default_statistics_target = '1000'", "ANALYZE"]
