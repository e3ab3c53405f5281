"""What counts as a difference between two states of the same data."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from dbversus.experiment.plan.progress import read_progress
from dbversus.experiment.rig.data.same_data import Difference, changes, owed, unlike_base
from dbversus.results.records import DataState, State, TableFacts

TABLE = TableFacts(
    rows=1_000_000,
    rows_counted=True,
    lowest_id=1,
    highest_id=1_000_000,
    columns=("id integer NOT NULL", "k integer NOT NULL", "c character(120) NOT NULL", "pad character(60) NOT NULL"),
    indexes=("CREATE INDEX k_1 ON public.sbtest1 USING btree (k)",),
    statistics_rows=998_000,
)
STATE = DataState(
    {"sbtest1": TABLE}, {"table.sbtest1": 200_000_000, "log": 5_000, "database": 240_000_000}, {"dirty": 0}
)


def _with(**facts: Any) -> DataState:
    return replace(STATE, tables={"sbtest1": replace(TABLE, **facts)})


def _said(found: Iterable[Difference]) -> list[tuple[str, bool]]:
    return [(one.words, one.grave) for one in found]


def test_the_same_state_differs_in_nothing_also_when_it_was_read_from_the_journal() -> None:
    read = msgspec.json.decode(msgspec.json.encode(STATE), type=DataState)
    assert read == STATE
    assert [*changes(STATE, read, 0, fresh=True), *unlike_base(STATE, read, fresh=True), *owed(STATE)] == []


@pytest.mark.parametrize(
    ("facts", "words", "grave"),
    [
        ({"rows": 999_998}, "sbtest1 has 999,998 rows, block 1 had 1,000,000", True),
        ({"highest_id": 1_000_007}, "sbtest1 has the ids 1 to 1,000,007, block 1 had 1 to 1,000,000", True),
        ({"indexes": ()}, f"sbtest1 has the indexes none; block 1 had {TABLE.indexes[0]}", True),
        ({"statistics_rows": None}, "sbtest1 has no statistics, block 1 had statistics", False),
        ({"statistics_rows": 900_000}, "the statistics of sbtest1 say 900,000 rows, block 1 had 998,000", False),
    ],
)
def test_what_a_restored_target_has_changed_in(facts: dict[str, Any], words: str, grave: bool) -> None:
    assert _said(changes(_with(**facts), STATE, 0, fresh=True)) == [(words, grave)]


def test_another_type_of_a_column_is_grave_even_in_data_that_was_not_restored() -> None:
    columns = ("id bigint NOT NULL", *TABLE.columns[1:])
    ((words, grave),) = _said(changes(_with(columns=columns, rows=7), STATE, 2, fresh=False))
    assert grave and "id bigint" in words and "block 3 had id integer" in words


def test_sizes_may_differ_a_little_and_logs_at_will() -> None:
    def sized(share: float) -> DataState:
        sizes = {name: round(size * share) for name, size in STATE.sizes_bytes.items()}
        return replace(STATE, sizes_bytes=sizes | {"log": 10**9})

    assert _said(changes(sized(1.019), STATE, 0, fresh=True)) == []
    assert _said(changes(sized(1.03), STATE, 0, fresh=True)) == [
        ("database takes 247,200,000 bytes, block 1 had 240,000,000", False),
        ("table.sbtest1 takes 206,000,000 bytes, block 1 had 200,000,000", False),
    ]
    assert _said(changes(sized(1.03), STATE, 0, fresh=False)) == []


def test_targets_of_other_dbms_have_their_own_words_for_the_same_table() -> None:
    other = replace(
        TABLE,
        columns=("id int(11) NOT NULL", "k int(11) NOT NULL", "c char(120) NOT NULL", "pad char(60) NOT NULL"),
        indexes=("PRIMARY (id) UNIQUE", "k_1 (k)"),
        statistics_rows=986_413,
    )
    state = DataState({"sbtest1": other}, {"table.sbtest1": 230_000_000}, {})
    assert _said(unlike_base(state, STATE, fresh=True)) == []
    fewer = replace(state, tables={"sbtest1": replace(other, columns=other.columns[:3], rows=5)})
    assert _said(unlike_base(fewer, STATE, fresh=True)) == [
        ("sbtest1 has the columns id, k, c; the base has id, k, c, pad", True),
        ("sbtest1 has 5 rows, the base has 1,000,000", True),
    ]
    assert [grave for _, grave in _said(unlike_base(fewer, STATE, fresh=False))] == [True, False]


def test_estimates_of_two_servers_are_not_compared() -> None:
    estimated = _with(rows=990_000, rows_counted=False, statistics_rows=990_000)
    assert _said(unlike_base(estimated, STATE, fresh=True)) == []


def test_an_emptied_table_is_told() -> None:
    ((words, grave),) = _said(changes(_with(rows=0, lowest_id=None, highest_id=None), STATE, 0, fresh=True))
    assert (words, grave) == ("sbtest1 has 0 rows, block 1 had 1,000,000", True)


def test_debt_is_told_by_name() -> None:
    assert _said(owed(replace(STATE, debt={"dirty_pages": 1200, "history_list": 0}))) == [
        ("it owes dirty_pages 1,200", False)
    ]


def test_a_resumed_run_compares_with_the_first_state_that_was_journaled() -> None:
    def record(block: int, rows: int, data: str = "loaded") -> State:
        return State(block, data, {"t1": _with(rows=rows)}, {})

    states = read_progress([record(0, 5), record(0, 9, "aged"), record(1, 6), record(0, 7)]).states
    block, state = states["t1", "loaded"]
    assert block == 0 and state.tables["sbtest1"].rows == 5
    assert states["t1", "aged"][1].tables["sbtest1"].rows == 9
