"""Records of the measurement itself: the answers compared, the slots planned, and the rows."""

from collections.abc import Mapping
from typing import Any

import msgspec

from dbversus.results.records.base import OfGroup, OfTest, Part
from dbversus.results.records.roles import RoleSlot
from dbversus.results.records.usage import Usage


class StatementAnswers(Part, frozen=True, kw_only=True):
    """What a target answered to one of the statements of a check.

    name: of the statement
    rows: rows returned
    affected: rows changed
    checksum: of the values returned
    """

    name: str
    rows: int | None = None
    affected: int | None = None
    checksum: str | None = None


class Answers(Part, frozen=True, kw_only=True):
    """What a target answered to all statements of a check.

    rows: rows returned
    affected: rows changed
    checksum: of the values returned
    statements: the same for each
    """

    rows: int | None = None
    affected: int | None = None
    checksum: str | None = None
    statements: list[StatementAnswers] = []


class Check(OfGroup, frozen=True):
    """The answers of all targets were compared: once per test (and group), and again when a target has come back.

    test: name of the test
    targets: by name of the target
    agree: whether all answered as the base
    differs: names of the targets that did not; their rows of a test that changes no data are not run
    other_than_against: names of the targets that answer otherwise to the test that this one is against; null: none
    """

    test: str
    targets: dict[str, Answers]
    agree: bool
    differs: list[str]
    other_than_against: list[str] | None = None


class Pace(Part, frozen=True):
    """At what rate the operations of a role fall due.

    rate_per_s: operations per second, all its clients together
    sla: the share of this rate that has to be done
    """

    rate_per_s: float
    sla: float


class Slots(OfTest, frozen=True):
    """What a slot of a test is, in all blocks; made once per test (and group).

    slot: `ops` (of a step with `slice_ms`, and `most_ms` where it has rates), or `ms` and `min_ops`, as sent to the engine
    settle: the same for the warm-up before a slot
    rows: rows of a block
    rows_scanned_per_op: rows that an operation reads; null unless the suite tells
    work_per_op: what an operation goes through, by what the suite counts
    paces: name of a role → its pace; only of roles with arrivals
    does: name of a role, empty without roles → `insert`, `delete`, `update`, `query` or `index`; where all it sends does that
    row_bytes: name of a role, as in `does` → bytes of a row that it inserts or deletes (see "Amounts")
    lead_in_s: how long the slowest target is driven before the rows of each block, uncounted
    settle_again: the warm-up of a target that had the last turn, too; null: as any other
    against: name of the test that it is judged against on each target, whose rows were the same; null: none
    """

    slot: dict[str, int]
    settle: dict[str, int]
    rows: int
    rows_scanned_per_op: int | None = None
    work_per_op: dict[str, int] = {}
    paces: dict[str, Pace] = {}
    does: dict[str, str] = {}
    row_bytes: dict[str, float] = {}
    lead_in_s: float = 0
    settle_again: dict[str, int] | None = None
    against: str | None = None

    @property
    def writes_at_set_rates(self) -> bool:
        """Whether those of its roles that change rows have arrivals, beside others that have none."""
        writers = {role for role, does in self.does.items() if does in ("insert", "delete", "update")}
        return bool(writers) and writers <= self.paces.keys() < self.does.keys()


class HostFigures(Part, frozen=True, kw_only=True):
    """What else happened on the host in a row.

    wall_ns: length of the row
    foreign_cpu_ns: CPU time of processes that are none of ours
    steal_ns: CPU time that the hypervisor gave to others
    psi_cpu_us: time in which some process waited for a CPU (pressure stall information)
    psi_io_us: the same for IO
    psi_memory_us: the same for memory
    """

    wall_ns: int | None = None
    foreign_cpu_ns: int | None = None
    steal_ns: int | None = None
    psi_cpu_us: int | None = None
    psi_io_us: int | None = None
    psi_memory_us: int | None = None


class Slot(Usage, frozen=True, kw_only=True):
    """One slot of a row; times per operation are response times.

    target: name of the target
    position: place in the row, from 0
    settle_ops: operations of the warm-up before it; no other figure but these three has what was done in it
    settle_read_bytes: read since the target's last slot ended: after it, and in the warm-up
    settle_write_bytes: the same, written
    elapsed_ns: length of the slot
    ops: operations
    statements: statements
    rows: rows returned
    affected: rows changed
    errors: class of error → count
    late: of older versions: operations of an open loop that were sent too late; now in `roles`
    dropped: of older versions: operations of an open loop that were never sent
    roles: name of a role → what its clients did; only of a test with roles, whose `ops` and times are of those that count
    slices: of a step: turns in which it was done
    cut: of a step: it was ended before all was done, since it had lasted as long as it may
    """

    target: str
    position: int | None = None
    settle_ops: int | None = None
    settle_read_bytes: int | None = None
    settle_write_bytes: int | None = None
    elapsed_ns: int | None = None
    ops: int | None = None
    statements: int | None = None
    rows: int | None = None
    affected: int | None = None
    errors: dict[str, int] | None = None
    mean_ns: int | None = None
    p50_ns: int | None = None
    p95_ns: int | None = None
    p99_ns: int | None = None
    max_ns: int | None = None
    late: int | None = None
    dropped: int | None = None
    roles: dict[str, RoleSlot] | None = None
    slices: int | None = None
    cut: bool | None = None


class Row(OfTest, frozen=True, kw_only=True):
    """Adjacent slots of all targets that are up.

    clients: clients of the test
    row: number of the row in its test and block
    order: names of the targets in the order of their slots
    started_unix_ns: when its first slot began
    disturbed: whether other work took more than the host's limits; the row counts like any other
    disturbed_why: by what, in words
    host_figures: what else happened on the host
    slots: one of each target, in order
    """

    clients: int | None = None
    row: int
    order: list[str] = []
    started_unix_ns: int | None = None
    disturbed: bool
    disturbed_why: str | None = None
    host_figures: HostFigures = HostFigures()
    slots: list[Slot]


def row_of(reply: Mapping[str, Any], disturbed_why: str | None) -> Row:
    """The record of a row that the engine has answered (docs/engine-protocol.md)."""
    ours = {
        "host": None,
        "host_figures": reply["host"],
        "disturbed": disturbed_why is not None,
        "disturbed_why": disturbed_why,
    }
    return msgspec.convert({**reply, **reply["tag"], **ours}, Row)
