"""What every DBMS module answers, so that an experiment can be written once and run on each of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dbversus.builds.model import Build
from dbversus.dbms.sql.table import Table
from dbversus.servers.data.contents import TableState
from dbversus.servers.log_event import LogEvent
from dbversus.servers.objects import Moment, ObjectFigures

DATABASE = "dbversus"
"""What a server's one database is called, unless scripts of the suite have a name for it."""
Query = Callable[[str], list[list[str | None]]]
"""Runs one statement and returns its rows as texts."""


@dataclass(frozen=True)
class ServerConfig:
    """Effective configuration of a target: files by name plus inline settings, rendered for this host.

    `settings` go to the server's config file (sqlite: PRAGMAs); `environment` to its process (e.g. LD_PRELOAD);
    `init_options` to the creation of the data directory (e.g. checksums). A snapshot is keyed by all of them except what
    is known to act at run time alone (servers/config/run_time.py).
    `chosen` names the settings and options that the target itself chose, unlike those of the base config. `ddl` changes how
    tables and indexes are made. `places`: where each line stands, by name (`ddl.index` for one of `ddl`).
    """

    name: str
    settings: Mapping[str, str]
    environment: Mapping[str, str] = field(default_factory=dict)
    init_options: Mapping[str, str] = field(default_factory=dict)
    chosen: frozenset[str] = frozenset()
    ddl: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Placement:
    """Where a server may run: CPUs (empty: anywhere) and its cgroup directories (None: the host gives none)."""

    cpus: tuple[int, ...] = ()
    cgroup: "Cgroup | None" = None


class Cgroup(Protocol):
    """A server's own control group, v1 or v2. `memory`: its directory that can limit memory (None: it cannot)."""

    @property
    def memory(self) -> Path | None: ...
    def add(self, pid: int) -> None: ...
    def engine_account(self) -> dict[str, str]: ...
    def engine_disk(self) -> dict[str, str] | None: ...
    def engine_freeze(self) -> dict[str, str]: ...
    def directories(self) -> list[str]: ...
    def remove(self) -> None: ...


@dataclass(frozen=True)
class Execution:
    """A statement to execute for its plan, in `limit_s` at most: `sql` with literals.

    `numbered`: with $1, $2, … in place of `values`, where clients prepare it; else empty.
    """

    sql: str
    limit_s: float
    numbered: str = ""
    values: Sequence[str] = ()


@dataclass(frozen=True)
class Executed:
    """The plan, else why there is none, in the server's words. `planning_ms`: what planning takes each time; None: not told."""

    plan: str = ""
    refused: str = ""
    planning_ms: float | None = None


class Server(Protocol):
    """One server on one data directory. All methods raise RunError with the server's own words when it refuses."""

    dbms: str
    build: Build
    config: ServerConfig
    data_dir: Path
    # its one database; changed before `initialise`, if at all
    database_name: str
    # what this build or host could not give, for the report
    notes: list[str]
    # by a clock of its own, the server takes up what it has put off after so many seconds at most
    deferred_work_s: float

    def check(self) -> None:
        """Before anything is created: RunError when the build cannot run here, UsageError for a config it refuses."""

    def initialise(self) -> None:
        """Create an empty data directory with a database named `database_name` and a user named `dbversus`."""

    def start(self, placement: Placement) -> None:
        """Start on a private Unix socket and wait until it answers; raises with the log tail when it does not."""

    def stop(self) -> None:
        """Stop cleanly; kill when that does not work. Harmless on a server that is not running."""

    def kill(self) -> None:
        """SIGKILL the whole process tree."""

    def thaw(self) -> None:
        """Wakes the server if it is frozen; for when the engine that froze it is gone."""

    def is_running(self) -> bool: ...

    @property
    def root_pid(self) -> int | None:
        """The process whose tree is the server; None for an embedded DBMS."""

    def settle(self, tables: Sequence[str]) -> dict[str, float]:
        """Pay all debt (vacuum, checkpoint, flush); returns what was done, with seconds."""

    def vacuum(self, tables: Sequence[str]) -> dict[str, float]:
        """Make room of dead rows reusable where that is a statement of the DBMS, and nothing else; returns seconds, empty
        where nothing was done."""

    def warm(self, tables: Sequence[str]) -> None:
        """Bring tables and indexes into memory; with no tables, only do what a start or tests have left to be done."""

    def debt(self) -> dict[str, int]:
        """Unpaid background work by name; all zero means settled."""

    def settings(self) -> dict[str, str]:
        """All effective settings."""

    def plan(self, sql: str, session_sql: Sequence[str] = ()) -> str:
        """The plan of one statement with literal parameters, as the server words it once `session_sql` is executed."""

    def executed_plans(self, statements: Sequence[Execution], session_sql: Sequence[str]) -> list[Executed]:
        """As `plan`, of statements as they are executed one after another once `session_sql` is, with what each operator took
        and gave as far as the server tells that. What they change is rolled back."""

    def await_counts(self) -> None:
        """Returns once `counters` and `objects` have what clients that are gone were served."""

    def counters(self) -> dict[str, float]:
        """Monotonic server counters by flat name."""

    def objects(self, moment: Moment) -> ObjectFigures:
        """Figures of tables, indexes, files and the like (servers/objects.py has the moments)."""

    def sizes(self) -> dict[str, int]:
        """Bytes by object: `data_dir`, `log`, `database`, `table.<name>`, `index.<name>`."""

    def space(self) -> dict[str, int]:
        """What its files take on disk: `database_bytes` (tables and indexes), `data_dir_bytes` (all of them)."""

    def state(self, tables: Sequence[Table], *, counted: bool) -> dict[str, TableState]:
        """What is in the tables, by name; `counted`: rows are counted, else their number is that of the statistics."""

    def own_tables(self) -> list[Table]:
        """All tables in the database, whoever made them, with the first column of their primary key as its only one."""

    def status_text(self) -> str:
        """The storage engine's own report on its state, to be stored; "" where there is none."""

    def log_tail(self, lines: int = 40) -> str: ...

    def log_end(self) -> int:
        """Where its log ends by now, in bytes; 0 for a DBMS without a log."""

    def log_since(self, begin: int) -> str:
        """What it has logged from `begin` on."""

    def events_in(self, log: str) -> list[LogEvent]:
        """What the server did of its own accord, as this part of its log tells it; none where logs tell no such thing."""

    def config_text(self) -> str:
        """The config file as rendered."""

    def engine_target(self, name: str, placement: Placement) -> dict[str, Any]:
        """The engine's `target` command for this running server (docs/engine-protocol.md), without `cmd`."""

    def administer_with(self, query: Query) -> None:
        """Later statements of ours go through `query`: where client and server are one, the measured library runs them.

        Nothing for a server with connections of its own.
        """

    def table_sql(self, table: Table) -> tuple[list[str], list[str]]:
        """Statements that create a table, and those to run after its rows."""
