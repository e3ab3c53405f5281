"""The records themselves, and the table of them in the documentation."""

from typing import Any

import msgspec
import pytest

from dbversus.results import records
from dbversus.results.columns import slot_columns
from dbversus.results.records import Failure, HostFigures, Pace, Row, Slot, Slots, row_of
from dbversus.results.schema import SLOT_COLUMNS

from ..journals import header
from ..record_table import PAGE, described, kinds_shown, with_table

REPLY: dict[str, Any] = {
    "id": 4,
    "tag": {"block": 2, "test": "scan", "clients": 1, "group": "g1"},
    "row": 5,
    "order": ["t0"],
    "started_unix_ns": 6,
    "host": {"wall_ns": 7, "foreign_cpu_ns": None},
    "slots": [{"target": "t0", "position": 0, "ops": 8, "elapsed_ns": 9}],
}


def test_the_documentation_has_the_table_of_today() -> None:
    page = PAGE.read_text()
    assert page == with_table(page), "run `python -m tests.record_table`"


@pytest.mark.parametrize("kind", kinds_shown(), ids=lambda kind: kind.__name__)
def test_what_is_described_is_a_field_of_its_own(kind: type[msgspec.Struct]) -> None:
    (base,) = kind.__bases__
    own = {*kind.__struct_encode_fields__} - {*getattr(base, "__struct_encode_fields__", ())}
    summary, fields = described(kind)
    assert summary.endswith(".") and fields.keys() <= own


def test_every_type_is_read_by_its_name() -> None:
    names = [kind.__struct_config__.tag for kind in records.TYPES]
    assert len(set(names)) == len(names) and all(str(name).islower() for name in names)


def test_a_row_of_the_engine_is_a_record() -> None:
    slot = Slot(target="t0", position=0, ops=8, elapsed_ns=9)
    row = Row(2, "scan", group="g1", clients=1, row=5, order=["t0"], started_unix_ns=6, disturbed=False, slots=[slot])
    assert row_of(REPLY, None) == msgspec.structs.replace(row, host_figures=HostFigures(wall_ns=7))
    assert row_of(REPLY, "steal").disturbed and row_of(REPLY, "steal").disturbed_why == "steal"
    with pytest.raises(msgspec.ValidationError, match="Expected `int"):
        row_of(REPLY | {"row": "5"}, None)


def test_a_record_is_read_as_it_was_written() -> None:
    row = row_of(REPLY, "steal")
    assert records.decode(records.encode(row)) == row
    assert records.encode(row).startswith(b'{"type":"row",') and b"null" not in records.encode(row)


def test_words_that_are_no_unicode_are_written_as_well_as_can_be() -> None:
    failure = Failure("t0", "start", "cannot open /data/\udce9t\udce9", final=True)
    read = records.decode(records.encode(failure))
    assert isinstance(read, Failure) and read.message == "cannot open /data/?t?"


def test_every_column_of_slots_is_in_a_record() -> None:
    columns = slot_columns([row_of(REPLY, None)], {"t0": "old"})
    assert list(columns) == list(SLOT_COLUMNS)
    assert (columns["target"][0], columns["errors"][0], columns["ops"][0]) == ("old", 0, 8)
    assert columns["host_wall_ns"][0] == 7 and columns["host_steal_ns"].mask[0]  # type: ignore[attr-defined]


def test_targets_are_told_apart_by_binary_and_config() -> None:
    """Whatever the config is called; not where slowdowns are injected, which is the only difference then."""

    def target(label: str, checksum: str | None, **settings: str) -> dict[str, object]:
        config = {"name": label, "settings": settings}
        return {"name": label, "label": label, "dbms": "postgres", "checksum": checksum, "rendered": config}

    targets = [
        target("a", "9f"),
        target("b", "9f"),
        target("c", "9f", fsync="off"),
        target("d", "00"),
        target("e", None),
    ]
    told_apart = dict(header(targets=targets).told_apart)
    assert list(told_apart) == ["a", "b", "c", "d"]
    assert told_apart["a"] == told_apart["b"] and len(set(told_apart.values())) == 3
    assert header(targets=targets, spec={"inject": {}}).told_apart == []


@pytest.mark.parametrize(
    ("does", "paced", "expected"),
    [
        ({"inserters": "insert", "queries": "query"}, ["inserters"], True),
        ({"inserters": "insert", "deleters": "delete", "queries": "query"}, ["inserters"], False),
        (
            {"inserters": "insert", "queries": "query"},
            ["inserters", "queries"],
            False,
        ),  # no operation is free of the clock
        ({"inserters": "insert", "queries": "query"}, [], False),
        ({"queries": "query", "others": "query"}, ["others"], False),
        ({"": "insert"}, [], False),
    ],
)
def test_writes_come_at_set_rates_where_all_writers_have_arrivals_and_others_have_none(
    does: dict[str, str], paced: list[str], expected: bool
) -> None:
    paces = {role: Pace(10.0, 0.99) for role in paced}
    assert Slots(0, "t", {}, {}, 1, does=does, paces=paces).writes_at_set_rates is expected
