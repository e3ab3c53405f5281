"""Load records of newer and of older journals."""

from typing import Any

from dbversus.results.records import Load, LoadFigures
from dbversus.results.tables.loads import own_loads

LABELS = {"t0": "old", "t1": "new", "t2": "third"}


def load(target: str, elapsed_ns: int, *, earlier: bool = False, **more: Any) -> Load:
    return Load(target, "sbtest1", earlier, figures=LoadFigures(rows=9, elapsed_ns=elapsed_ns), **more)


def shares(*loads: Load) -> list[str | None]:
    return [record.shares for record in own_loads(loads, LABELS.__getitem__)]


def test_an_older_journal_repeats_a_load_and_it_is_told_once() -> None:
    assert shares(load("t0", 5, earlier=False), load("t1", 5, earlier=True)) == [None, "old"]
    assert shares(load("t0", 5, earlier=True), load("t1", 5, earlier=True), load("t2", 6, earlier=True)) == [
        None,
        "old",
        None,
    ]
    (_, found) = own_loads([load("t0", 5, earlier=False), load("t1", 5, earlier=True)], LABELS.__getitem__)
    assert found.figures is None and found.table == "sbtest1"


def test_a_newer_journal_says_itself_whose_data_it_is() -> None:
    when: dict[str, Any] = {"earlier": True, "loaded_at": "2026-07-01T12:00:00+00:00"}
    assert shares(load("t0", 5, **when), Load("t1", "sbtest1", shares="old", **when)) == [None, "old"]


def test_two_loads_of_this_run_are_two() -> None:
    assert shares(load("t0", 5, earlier=False), load("t1", 5, earlier=False)) == [None, None]


def test_the_last_record_of_a_table_counts() -> None:
    assert [
        one.own and one.own.elapsed_ns for one in own_loads([load("t0", 5), load("t0", 7)], LABELS.__getitem__)
    ] == [7]
