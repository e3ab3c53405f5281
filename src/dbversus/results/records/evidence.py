"""Records of what was collected around the rows of a test."""

from dbversus.results.records.base import OfTest, Part
from dbversus.results.records.roles import RoleTimes
from dbversus.results.records.usage import ServerUsage


class Latency(OfTest, frozen=True):
    """Response times of a test in a block.

    hdr: target → HdrHistogram in ns (V2, deflated, base64)
    error_examples: target → class of error → one message of the server
    roles: target → name of a role → its times; only of a test with roles, of which `hdr` has those that count
    """

    hdr: dict[str, str]
    error_examples: dict[str, dict[str, str]] | None = None
    roles: dict[str, dict[str, RoleTimes]] | None = None


class RoleSeconds(Part, frozen=True, kw_only=True):
    """What the clients of one role did in the seconds of a test, one value of each second.

    ops: operations that ended in it
    slowest_ns: longest response time of those that ended in it
    """

    ops: list[int] = []
    slowest_ns: list[int] = []


class Seconds(Part, frozen=True, kw_only=True):
    """Seconds of the time in which a target was driven, in order: one value of each in every list.

    second: its number, from 0
    elapsed_ns: its length; the last one of a test is shorter
    pieces: when the target was driven in it: moments since 1970 and lengths, in ns; absent in older results
    ops: operations that ended in it
    rows: rows returned
    affected: rows changed
    errors: events that failed
    slowest_ns: longest response time of those that ended in it
    server_cpu_ns: CPU time of the server
    server_background_cpu_ns: of this, of threads or processes that serve no connection of ours; absent in older results
    server_read_bytes: read from storage
    server_write_bytes: written to storage
    roles: name of a role → the same of its clients; only of a test with roles
    """

    second: list[int] = []
    elapsed_ns: list[int] = []
    ops: list[int] = []
    rows: list[int] = []
    affected: list[int] = []
    errors: list[int] = []
    slowest_ns: list[int] = []
    server_cpu_ns: list[int | None] = []
    server_background_cpu_ns: list[int | None] = []
    server_read_bytes: list[int | None] = []
    server_write_bytes: list[int | None] = []
    pieces: list[list[tuple[int, int]]] = []
    roles: dict[str, RoleSeconds] = {}


class Series(OfTest, frozen=True):
    """What happened second by second in a test whose slots, or slices, last a second or more.

    targets: by name of the target
    """

    targets: dict[str, Seconds]


class BackgroundWork(Part, frozen=True):
    """Background work of a server.

    ops: operations of the rows in which it was done, warm-ups included
    cpu_ns: kind of work → CPU time
    """

    ops: int
    cpu_ns: dict[str, int]


class Background(OfTest, frozen=True):
    """CPU time of background work over some rows of a test; several records of one block add up.

    targets: by name of the target
    """

    targets: dict[str, BackgroundWork]


class DrainFigures(ServerUsage, frozen=True, kw_only=True):
    """What a server did after a test until it was idle.

    ops: operations that left something to do
    elapsed_ns: how long it was waited for
    idle: whether it was idle in the end
    background: kind of work → CPU time in ns
    """

    ops: int
    elapsed_ns: int | None = None
    idle: bool | None = None
    background: dict[str, int] | None = None


class Drain(OfTest, frozen=True):
    """What each server did after a test that changes data.

    targets: by name of the target
    """

    targets: dict[str, DrainFigures]


class InjectedWork(Part, frozen=True, kw_only=True):
    """What was added to a server on purpose (see "Injected slowdowns").

    cpu_share: share of CPU time that was asked for
    io_share: share of bytes read and written that was asked for
    cpu_ms: the CPU share is added in so many ms of every `cpu_every_ms` of a thread's work; absent: in all of it
    ops: operations of the rows and of warm-ups
    reads: successful reads from sockets: one or two per request
    work_ns: CPU time of threads between two of their reads; background threads read no sockets
    burned_ns: CPU time that was added
    io_bytes_seen: read and written at offsets of files, through the page cache or not
    io_bytes_added: read past the page cache in addition
    io_reads_added: calls that took
    """

    cpu_share: float
    io_share: float
    cpu_ms: float | None = None
    cpu_every_ms: float | None = None
    ops: int
    reads: int | None = None
    work_ns: int | None = None
    burned_ns: int | None = None
    io_bytes_seen: int | None = None
    io_bytes_added: int | None = None
    io_reads_added: int | None = None


class Injected(OfTest, frozen=True):
    """Known slowdowns, over the rows of a test.

    targets: by name of the target
    """

    targets: dict[str, InjectedWork]


class Counters(OfTest, frozen=True):
    """What the servers' own counters rose by over a test (see "Counters").

    delta: target → counter → rise; those that moved on some target
    spanned_ops: target → all operations between the two readings; absent in older results
    counted_ops: in older results: target → operations of slots alone
    """

    delta: dict[str, dict[str, float]]
    spanned_ops: dict[str, int] | None = None
    counted_ops: dict[str, int] | None = None


class Objects(OfTest, frozen=True, kw_only=True):
    """What servers say of their tables, indexes, files and the like (see "Objects"): a record with `rise` and one with `at_end`.

    rise: target → kind of object → object → figure → what it rose by over the test; without those that did not
    spanned_ops: target → all operations between the two readings
    at_end: target → kind of object → object → figure → what there was after the test and its drain; 0 is left out
    lacking: target → what could not be asked → why
    """

    rise: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    spanned_ops: dict[str, int] = {}
    at_end: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    lacking: dict[str, dict[str, str]] = {}


class LogEvent(Part, frozen=True):
    """Something that a server did of its own accord, as its log tells it.

    what: `checkpoint`, `autovacuum`, `autoanalyze` or `crash`
    began_unix_ns: when it began; null: not in the log
    ended_unix_ns: when it ended; null: not in the log
    words: what the log says of it, in short
    """

    what: str
    began_unix_ns: int | None
    ended_unix_ns: int | None
    words: str


class Logged(Part, frozen=True):
    """What a server wrote to its log.

    lines: how many
    examples: the first of each kind, without times; lines that differ in numbers alone are of one kind
    events: what they tell of work with a moment
    """

    lines: int
    examples: list[str]
    events: list[LogEvent] = []


class Log(OfTest, frozen=True):
    """What servers wrote to their logs over a test, its drain included; those that wrote something.

    targets: by name of the target
    """

    targets: dict[str, Logged]


class SpaceUse(Part, frozen=True):
    """What files of a target take on disk.

    database_bytes: tables and indexes
    data_dir_bytes: the whole data directory, logs too
    """

    database_bytes: int
    data_dir_bytes: int


class Space(OfTest, frozen=True):
    """What files take at the end of a test that changes data, its drain included.

    targets: by name of the target
    """

    targets: dict[str, SpaceUse]


class MemoryUse(Part, frozen=True):
    """Memory of a server's processes.

    processes: how many
    pss_bytes: pages that several processes share count once
    rss_bytes: they count in each
    peak_rss_bytes: of the process that had most since the test began
    """

    processes: int
    pss_bytes: int | None
    rss_bytes: int | None
    peak_rss_bytes: int | None


class Memory(OfTest, frozen=True):
    """Memory of the servers at the end of a test, clients still connected. An embedded DBMS has none of its own.

    targets: by name of the target
    """

    targets: dict[str, MemoryUse]
