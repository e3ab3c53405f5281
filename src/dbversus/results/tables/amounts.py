"""Amounts of data after each test, in each block: what files take, and what rows were inserted and are still there.

Rows are counted by the clients (rows that their statements changed), not by servers, which would have to read them all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbversus.results.columns import Columns
from dbversus.results.records import AnyRecord, DataState, Experiment, Slots, Space, State, of_type
from dbversus.results.tables.table import ResultTable

_SIGNS = {"insert": 1, "index": 1, "delete": -1}
"""What roles that change the number of rows do to it: an index build may insert some rows first."""
_KEEPS = frozenset({"query", "update"})

Place = tuple[str, str, int]
"""Test, label of the target, block."""
Affected = Mapping[Place, Mapping[str, int]]
"""Rows changed by each role; "" in a test without roles."""


def amount_rows(
    records: Sequence[AnyRecord], header: Experiment, labels: Mapping[str, str], slots: Columns, roles: Columns
) -> list[dict[str, Any]]:
    """Rows of AMOUNTS.columns. Files of a base that is up with several groups take the mean of these.

    `live_bytes` is None where rows cannot be followed: before such a test somebody did more than clients count (pilots,
    warm-ups), or statements that do several things, or rows had no known length.
    """
    plans = {record.test: record for record in of_type(records, Slots)}
    follower = _Follower(header, plans, _states(records, labels), _affected(plans, slots, roles))
    found = []
    for place, uses in _spaces(records, labels).items():
        test, label, block = place
        inserted_rows, inserted_bytes = follower.inserted(place)
        found.append(
            {
                "test": test,
                "target": label,
                "block": block,
                "database_bytes": round(sum(use.database_bytes for use in uses) / len(uses)),
                "data_dir_bytes": round(sum(use.data_dir_bytes for use in uses) / len(uses)),
                "inserted_rows": inserted_rows,
                "inserted_bytes": inserted_bytes,
                "live_bytes": follower.live_bytes(place),
            }
        )
    return found


def _spaces(records: Iterable[AnyRecord], labels: Mapping[str, str]) -> dict[Place, list[Any]]:
    """A test that was resumed after it had ended was looked at again: the last record of each group counts."""
    last = {(record.block, record.test, record.tag): record for record in of_type(records, Space)}
    found: dict[Place, list[Any]] = {}
    for record in last.values():
        for name, use in record.targets.items():
            found.setdefault((record.test, labels[name], record.block), []).append(use)
    return found


def _states(records: Iterable[AnyRecord], labels: Mapping[str, str]) -> dict[tuple[str, str, int], list[DataState]]:
    """Data, target label, block → what was there when it began, in each group."""
    last = {(record.block, record.data, record.tag): record for record in of_type(records, State)}
    found: dict[tuple[str, str, int], list[DataState]] = {}
    for record in last.values():
        for name, state in record.targets.items():
            found.setdefault((record.data, labels[name], record.block), []).append(state)
    return found


def _affected(plans: Mapping[str, Slots], slots: Columns, roles: Columns) -> dict[Place, dict[str, int]]:
    """Of all tests in which rows may come or go; a role that only reads has 0."""
    found: dict[Place, dict[str, int]] = {}
    with_roles = set(roles["test"])
    for columns, tests in ((slots, plans.keys() - with_roles), (roles, plans.keys() & with_roles)):
        own = columns.get("role", [""] * len(columns["test"]))
        for test, label, block, role, rows in zip(
            columns["test"], columns["target"], columns["block"], own, columns["affected"], strict=True
        ):
            if test in tests:
                of_place = found.setdefault((test, label, int(block)), {})
                of_place[role] = of_place.get(role, 0) + int(rows or 0)
    return found


@dataclass(frozen=True)
class _Follower:
    """Follows the rows of a block through its tests."""

    header: Experiment
    plans: Mapping[str, Slots]
    states: Mapping[tuple[str, str, int], list[DataState]]
    affected: Affected

    def inserted(self, place: Place) -> tuple[int | None, float | None]:
        """Rows, and their bytes, in slots and slices of the test, in all groups; None: not known, or it inserts none."""
        plan, counts = self.plans.get(place[0]), self.affected.get(place)
        if plan is None or counts is None:
            return None, None
        rows = {role: counts[role] for role, does in plan.does.items() if does == "insert" and role in counts}
        if not rows:
            return None, None
        known = all(role in plan.row_bytes for role in rows)
        size = sum(count * plan.row_bytes[role] for role, count in rows.items()) if known else None
        return sum(rows.values()), size

    def live_bytes(self, place: Place) -> float | None:
        """Bytes of the rows that are there after the test."""
        test, label, block = place
        states = self.states.get((self._data(test), label, block))
        total = _bytes_at_start(states[0]) if states else None
        for before in self._tests_until(test):
            changed = self._changed_bytes((before, label, block))
            if total is None or changed is None:
                return None
            total += changed
        return total

    def _changed_bytes(self, place: Place) -> float | None:
        plan, counts = self.plans.get(place[0]), self.affected.get(place)
        if plan is None or counts is None:
            return None
        counts = {role: rows for role, rows in counts.items() if rows}
        if not counts.keys() <= plan.does.keys():
            return None
        changing = {role: _SIGNS[does] for role, does in plan.does.items() if does in _SIGNS and role in counts}
        if changing and ("slice_ms" not in plan.slot or not changing.keys() <= plan.row_bytes.keys()):
            return None
        passes = self._passes(place)
        return sum(sign * counts[role] / passes * plan.row_bytes[role] for role, sign in changing.items())

    def _passes(self, place: Place) -> int:
        """How often a target did the test in the block: the base once with each group."""
        test, label, block = place
        return len(self.states.get((self._data(test), label, block), ())) or 1

    def _data(self, test: str) -> str:
        """As `state` records name it."""
        aged = "aged" if test in (self.header.aged or ()) else "loaded"
        return f"{aged}@{test.rpartition('@')[2]}" if self.header.table_sizes else aged

    def _tests_until(self, test: str) -> list[str]:
        """Those on the same data before it, and itself."""
        until: list[str] = []
        for other in self._of_same_size(test):
            if until and self._data(until[-1]) != self._data(other):
                until.clear()
            until.append(other)
            if other == test:
                break
        return until

    def _of_same_size(self, test: str) -> list[str]:
        suffix = f"@{test.rpartition('@')[2]}" if self.header.table_sizes else ""
        return [other for other in self.header.tests if other.endswith(suffix) and other in self.plans]


def _bytes_at_start(state: DataState) -> float | None:
    total = 0.0
    for table in state.tables.values():
        if not table.rows_counted or table.rows is None or (table.rows and table.row_bytes is None):
            return None
        total += table.rows * (table.row_bytes or 0.0)
    return total


# one row per target, block and test that changes data: what files take at its end, rows inserted in it and
# their bytes, and bytes of the rows that are there then
AMOUNTS = ResultTable(
    "amounts",
    {
        "test": "VARCHAR",
        "target": "VARCHAR",
        "block": "INTEGER",
        "database_bytes": "BIGINT",
        "data_dir_bytes": "BIGINT",
        "inserted_rows": "BIGINT",
        "inserted_bytes": "DOUBLE",
        "live_bytes": "DOUBLE",
    },
    lambda of: amount_rows(of.records, of.header, of.labels, of.slots, of.roles),
)
