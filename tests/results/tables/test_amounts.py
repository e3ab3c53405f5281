"""What files take and rows come to, test after test."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from dbversus.results.records import AnyRecord, DataState, Experiment, Slots, Space, SpaceUse, State, TableFacts
from dbversus.results.tables.amounts import amount_rows

ROW_BYTES = 50.0
LABELS = {"t0": "the base", "t1": "the other"}
STEP = {"ops": 10, "slice_ms": 1000}


def _table(rows: int, *, counted: bool = True, row_bytes: float | None = ROW_BYTES) -> TableFacts:
    return TableFacts(rows, counted, None, None, (), (), None, row_bytes)


@dataclass
class Block:
    """One block of the targets; `plans`, then what roles changed."""

    tests: list[str] = field(default_factory=list)
    records: list[AnyRecord] = field(default_factory=list)
    slots: list[tuple[Any, ...]] = field(default_factory=list)
    roles: list[tuple[Any, ...]] = field(default_factory=list)

    def begins(self, table: TableFacts, group: str | None = None) -> None:
        self.records.append(
            State(0, "loaded", {name: DataState({"t": table}, {}, {}) for name in LABELS}, {}, group=group)
        )

    def test(
        self, name: str, does: dict[str, str], changed: dict[str, int], slot: dict[str, int] | None = None
    ) -> None:
        self.tests.append(name)
        sized = dict.fromkeys(does, ROW_BYTES)
        self.records.append(Slots(0, name, slot or STEP, {}, 1, does=does, row_bytes=sized))
        self.records.append(Space(0, name, {one: SpaceUse(1000, 4000) for one in LABELS}))
        for label in LABELS.values():
            self.slots.append((name, label, 0, "", changed.get("", 0)))
            self.roles += [(name, label, 0, role, rows) for role, rows in changed.items() if role]

    def live(self) -> dict[str, float | None]:
        return {row["test"]: row["live_bytes"] for row in self.rows() if row["target"] == "the other"}

    def rows(self) -> list[dict[str, Any]]:
        header = Experiment(schema=2, targets=[], tests=["load", *self.tests])
        return amount_rows(self.records, header, LABELS, _columns(self.slots), _columns(self.roles))


def _columns(lines: list[tuple[Any, ...]]) -> Any:
    names = ("test", "target", "block", "role", "affected")
    return {name: [line[place] for line in lines] for place, name in enumerate(names)}


def test_rows_are_followed_from_step_to_step() -> None:
    block = Block()
    block.begins(_table(10))
    block.test("fill", {"": "insert"}, {"": 100})
    block.test("index", {"": "index"}, {"": 5})
    block.test("churn", {"in": "insert", "out": "delete", "ask": "query"}, {"in": 40, "out": 30, "ask": 0})
    block.test(
        "read", {"ask": "query"}, {"ask": 0, "vacuum": 0}
    )  # nobody knows what VACUUM does, but it changed no row
    live = [110 * ROW_BYTES, 115 * ROW_BYTES, 125 * ROW_BYTES, 125 * ROW_BYTES]
    assert block.live() == dict(zip(("fill", "index", "churn", "read"), live, strict=True))
    inserted = {row["test"]: (row["inserted_rows"], row["inserted_bytes"]) for row in block.rows()}
    assert inserted == {"fill": (100, 5000.0), "index": (None, None), "churn": (40, 2000.0), "read": (None, None)}
    assert {(row["database_bytes"], row["data_dir_bytes"]) for row in block.rows()} == {(1000, 4000)}


@pytest.mark.parametrize("table", [_table(10, counted=False), _table(10, row_bytes=None)])
def test_what_was_there_before_has_to_be_known(table: TableFacts) -> None:
    block = Block()
    block.begins(table)
    block.test("fill", {"": "insert"}, {"": 100})
    assert block.live() == {"fill": None}


def test_an_empty_table_needs_no_length_of_rows() -> None:
    block = Block()
    block.begins(_table(0, row_bytes=None))
    block.test("fill", {"": "insert"}, {"": 100})
    assert block.live() == {"fill": 100 * ROW_BYTES}


@pytest.mark.parametrize(
    ("does", "slot", "is_known"),
    [
        ({"": "update"}, {"ms": 40, "min_ops": 1}, True),
        ({"": "query"}, {"ms": 40, "min_ops": 1}, True),
        ({"": "insert"}, {"ms": 40, "min_ops": 1}, False),  # its pilot and warm-ups insert too
        ({}, STEP, False),  # statements that do several things
    ],
)
def test_after_what_cannot_be_followed_nothing_is_known(
    does: dict[str, str], slot: dict[str, int], is_known: bool
) -> None:
    block = Block()
    block.begins(_table(10))
    block.test("before", {"": "insert"}, {"": 1})
    block.test("it", does, {"": 7}, slot)
    block.test("after", {"": "insert"}, {"": 1})
    live = block.live()
    assert live["before"] == 11 * ROW_BYTES
    assert [live["it"], live["after"]] == ([11 * ROW_BYTES, 12 * ROW_BYTES] if is_known else [None, None])


def test_a_test_that_was_left_out_of_a_block_leaves_a_gap() -> None:
    block = Block()
    block.begins(_table(0))
    block.test("fill", {"": "insert"}, {"": 100})
    block.test("churn", {"": "insert"}, {"": 10})
    block.slots = [line for line in block.slots if line[0] != "fill"]
    assert block.live() == {"fill": None, "churn": None}


def test_the_base_of_several_groups_did_it_with_each() -> None:
    block = Block()
    for group in ("g0", "g1"):
        block.begins(_table(0), group)
    block.test("fill", {"": "insert"}, {"": 100})
    (base, _) = block.rows()
    assert (base["inserted_rows"], base["live_bytes"]) == (100, 50 * ROW_BYTES)
