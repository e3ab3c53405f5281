"""What the kinds of clients of a test (its roles) did, where a test has roles."""

from dbversus.results.records.base import Part


class RoleSlot(Part, frozen=True, kw_only=True):
    """What the clients of one role did in a slot. Response times count from the moment at which an operation was due.

    ops: operations
    statements: statements
    rows: rows returned
    affected: rows changed
    errors: class of error → count
    mean_ns: of response times, as the percentiles
    service_mean_ns: of times from sending on, as the percentiles; roles with arrivals alone
    scheduled: operations that fell due; roles with arrivals alone, as all below
    late: operations that were sent after their moment, since the client was busy
    overdue: operations that were due and not yet sent at the end of the slot; they are sent first in the target's next slot
    finished_ns: of a role of a step that has `operations`: driven time until it had done them
    schedule_ns: and with arrivals: how long their schedule is
    """

    ops: int
    statements: int | None = None
    rows: int | None = None
    affected: int | None = None
    errors: dict[str, int] | None = None
    mean_ns: int | None = None
    p50_ns: int | None = None
    p95_ns: int | None = None
    p99_ns: int | None = None
    max_ns: int | None = None
    service_mean_ns: int | None = None
    service_p50_ns: int | None = None
    service_p95_ns: int | None = None
    service_p99_ns: int | None = None
    service_max_ns: int | None = None
    scheduled: int | None = None
    late: int | None = None
    overdue: int | None = None
    finished_ns: int | None = None
    schedule_ns: int | None = None


class RoleTimes(Part, frozen=True):
    """Times of a role in a block, as HdrHistograms in ns (V2, deflated, base64).

    latency: response times
    service: times from sending on; roles with arrivals alone
    """

    latency: str
    service: str | None = None
