"""What roles did: from rows of a journal to columns, and through roles.parquet."""

from pathlib import Path

from dbversus.results.records import Row, Slot
from dbversus.results.records.roles import RoleSlot
from dbversus.results.schema import JOURNAL, ROLE_COLUMNS
from dbversus.results.tables.roles import read_roles, role_columns
from dbversus.results.write import write_columns

CLOSED = RoleSlot(ops=9, errors={"deadlock": 2, "other": 1}, max_ns=70)
OPEN = RoleSlot(ops=5, errors={}, max_ns=80, scheduled=6, late=1, overdue=1)
ROW = Row(
    block=1,
    test="mixed",
    row=3,
    disturbed=False,
    slots=[
        Slot(target="t0", elapsed_ns=50, roles={"readers": CLOSED, "orders": OPEN}),
        Slot(target="t1", elapsed_ns=60, roles={"readers": CLOSED, "orders": OPEN}),
    ],
)
PLAIN = Row(block=1, test="point", row=0, disturbed=False, slots=[Slot(target="t0", ops=1)])


def test_roles_are_columns_and_come_back_from_parquet(tmp_path: Path) -> None:
    columns = role_columns([PLAIN, ROW], {"t0": "old", "t1": "new"})
    assert list(columns) == list(ROLE_COLUMNS)
    (tmp_path / JOURNAL).write_text("a row" * 100)  # of which there could be so many roles
    write_columns(tmp_path / "roles.parquet", columns, ROLE_COLUMNS)
    for found in (columns, read_roles(tmp_path / "roles.parquet")):
        assert list(found["target"]) == ["old", "old", "new", "new"]
        assert list(found["role"]) == ["readers", "orders"] * 2
        assert found["errors"].tolist() == [3, 0, 3, 0]
        assert found["elapsed_ns"].tolist() == [50, 50, 60, 60]
        assert found["overdue"].tolist() == [None, 1, None, 1]


def test_there_is_no_file_where_no_test_has_roles(tmp_path: Path) -> None:
    assert not len(read_roles(tmp_path / "roles.parquet")["role"])
