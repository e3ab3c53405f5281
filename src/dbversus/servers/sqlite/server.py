"""SQLite: a database file, and PRAGMAs that every connection sets. The engine's client thread is the server."""

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dbversus.builds.model import Build
from dbversus.dbms.sql.ddl import Ddl
from dbversus.dbms.sql.table import Table
from dbversus.dbms.sqlite import SQLITE
from dbversus.errors import RunError, UsageError
from dbversus.host.user import server_user
from dbversus.names import did_you_mean_inline
from dbversus.servers.base import DATABASE, Executed, Execution, Placement, Query, ServerConfig
from dbversus.servers.data.contents import TableState
from dbversus.servers.data.disk_use import used_bytes
from dbversus.servers.embedded import WithoutProcess
from dbversus.servers.objects import Moment, ObjectFigures, object_figures
from dbversus.servers.process.timing import timed
from dbversus.servers.sqlite import ddl
from dbversus.servers.sqlite.contents import own_tables, table_state
from dbversus.servers.sqlite.query import BUNDLED, counted, engine_query, prepare_times_ms

_PREPARED_TIMES = 50
_AFTER_A_FAILURE = "a statement before it failed"
_SHARED_CACHE = "compile.ENABLE_MEMORY_MANAGEMENT"
# words that a PRAGMA takes, and the number that it gives back for them
_WORDS = {
    "synchronous": {"off": "0", "normal": "1", "full": "2", "extra": "3"},
    "temp_store": {"default": "0", "file": "1", "memory": "2"},
    "auto_vacuum": {"none": "0", "full": "1", "incremental": "2"},
}
_SWITCH = {"off": "0", "no": "0", "false": "0", "on": "1", "yes": "1", "true": "1"}
_SHOWN = (
    "application_id",
    "auto_vacuum",
    "automatic_index",
    "busy_timeout",
    "cache_size",
    "cache_spill",
    "cell_size_check",
    "checkpoint_fullfsync",
    "encoding",
    "foreign_keys",
    "fullfsync",
    "journal_mode",
    "journal_size_limit",
    "locking_mode",
    "mmap_size",
    "page_size",
    "read_uncommitted",
    "recursive_triggers",
    "reverse_unordered_selects",
    "secure_delete",
    "synchronous",
    "temp_store",
    "threads",
    "wal_autocheckpoint",
)


class SqliteServer(WithoutProcess):
    """A database in `work_dir/data/db.sqlite`, a directory of the servers' user, with whose rights the library works.

    `query` runs a statement with the measured library, with the session's PRAGMAs set (the engine's `query` command);
    without it an engine of its own does.
    """

    dbms = "sqlite"
    deferred_work_s = 0.0

    def __init__(self, build: Build, config: ServerConfig, work_dir: Path, query: Query | None = None):
        self.build = build
        self.config = config
        self.work_dir = work_dir.absolute()
        self.data_dir = self.work_dir / "data"
        self.query = query
        self.database_name = DATABASE
        self.notes: list[str] = []
        self._running = False

    @property
    def database(self) -> Path:
        return self.data_dir / "db.sqlite"

    @property
    def library(self) -> str:
        """As the engine names it: `bundled`, or the path of a shared library."""
        return BUNDLED if self.build.provider == BUNDLED else str(self.build.prefix)

    @property
    def session_sql(self) -> list[str]:
        return [f"PRAGMA {name} = {value}" for name, value in self.config.settings.items()]

    def check(self) -> None:
        """Raises UsageError for PRAGMAs and values that this library does not take: SQLite itself passes over them in silence.

        RunError where the servers' user cannot reach the database, or the library cannot be loaded.
        """
        server_user().check_reach(self.data_dir, "the data directory")
        for name, value in {**self.config.settings, **self.config.init_options}.items():
            if not re.fullmatch(r"\w+", name) or not re.fullmatch(r"-?\w+", value):
                raise UsageError(f"'{name}={value}' is not a PRAGMA; write a name and one word or number.")
        accepted = SQLITE.settings.at_creation
        for name in self.config.init_options:
            if name not in accepted:
                raise UsageError(f"init option '{name}' is unknown for sqlite; accepted: {', '.join(accepted)}.")
        known = {row[0] or "" for row in self._in_memory("PRAGMA pragma_list")}
        unknown = [name for name in self.config.settings if known and name not in known]
        if unknown:
            raise UsageError(f"{self.build.name} has no PRAGMA '{unknown[0]}'{did_you_mean_inline(unknown[0], known)}.")
        self._check_creation()
        with tempfile.TemporaryDirectory(prefix="check-", dir=self.work_dir) as folder:
            server_user().give(Path(folder))
            if words := self._not_taken(self._administer(Path(folder) / self.database.name, self.session_sql)):
                raise UsageError(words)

    def _check_creation(self) -> None:
        """A database in memory shows whether a value would be taken: for one that is not, SQLite says nothing."""
        for name, value in self.config.init_options.items():
            query = self._administer(Path(":memory:"), [f"PRAGMA {name} = {value}"])
            try:
                found = str(query(f"PRAGMA {name}")[0][0])
            except RunError as error:
                raise UsageError(f"{self.build.name} does not take PRAGMA {name} = {value}: {error}") from error
            if not _same(name, value, found):
                raise UsageError(f"{self.build.name} does not take PRAGMA {name} = {value}: it stays at {found}.")

    def _in_memory(self, statement: str) -> list[list[str | None]]:
        return self._administer(Path(":memory:"), [])(statement)

    def _administer(self, database: Path, session_sql: Sequence[str]) -> Query:
        return engine_query(self.library, database, session_sql)

    def _query(self, statement: str) -> list[list[str | None]]:
        query = self.query or self._administer(self.database, self.session_sql)
        return query(statement)

    def initialise(self) -> None:
        self.check()
        server_user().make_dir(self.data_dir)
        first = [f"PRAGMA {name} = {value}" for name, value in self.config.init_options.items()]
        if "encoding" in self.config.init_options:
            first += ["CREATE TABLE made (x)", "DROP TABLE made"]  # a database takes it with its first table
        # VACUUM writes the file's header, with the page size in it
        self._administer(self.database, first)("VACUUM")

    def start(self, placement: Placement) -> None:
        """Turns the file to the wanted journal mode before clients connect, and sees that every PRAGMA took effect."""
        if not self.database.is_file():
            raise RunError(f"{self.build.name}: there is no database {self.database}; initialise or restore it first.")
        query = self._administer(self.database, self.session_sql)
        if words := self._not_taken(query):
            raise RunError(words)
        self._running = True

    def _not_taken(self, query: Query) -> str:
        """What became of a PRAGMA that has another value than it was given; empty when there is none."""
        for name, value in self.config.settings.items():
            rows = query(f"PRAGMA {name}")
            if rows and not _same(name, value, str(rows[0][0])):
                return f"{self.build.name} does not take PRAGMA {name} = {value}: it stays at {rows[0][0]}."
        return ""

    def settle(self, tables: Sequence[str]) -> dict[str, float]:
        spent = {"analyze_s": timed(lambda: [self._query(f'ANALYZE "{table}"') for table in tables])}
        spent["checkpoint_s"] = timed(lambda: self._query("PRAGMA wal_checkpoint(TRUNCATE)"))
        spent["sync_s"] = timed(self._sync)
        return spent | {f"remains.{name}": float(count) for name, count in self.debt().items() if count}

    def _sync(self) -> None:
        with server_user().rights():
            fd = os.open(self.database, os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def vacuum(self, tables: Sequence[str]) -> dict[str, float]:
        return {}

    def warm(self, tables: Sequence[str]) -> None:
        """Reads the file, so that it is in the operating system's cache; a connection's own cache fills as it works."""
        if not tables:
            return
        with server_user().rights(), self.database.open("rb") as file:
            while file.read(2**20):
                pass

    def debt(self) -> dict[str, int]:
        """`wal_bytes`: written to the log and not yet to the database."""
        return {"wal_bytes": self._size_of("-wal")}

    def _size_of(self, suffix: str) -> int:
        path = self.database.with_name(self.database.name + suffix)
        return path.stat().st_size if path.exists() else 0

    def settings(self) -> dict[str, str]:
        """The library's version, PRAGMAs as a client's connection has them, and how the library was compiled."""
        found = {"version": str(self._query("SELECT sqlite_version()")[0][0])}
        for name in dict.fromkeys([*_SHOWN, *self.config.settings]):
            if rows := self._query(f"PRAGMA {name}"):
                found[name] = str(rows[0][0])
        for row in self._query("PRAGMA compile_options"):
            name, _, value = str(row[0]).partition("=")
            found[f"compile.{name}"] = value or "on"
        if _SHARED_CACHE in found:
            self.notes.append(
                "this library was compiled with ENABLE_MEMORY_MANAGEMENT: all its connections in a process share one page cache, "
                "so two targets with it take each other's pages"
            )
        return found

    def plan(self, sql: str, session_sql: Sequence[str] = ()) -> str:
        query = self._administer(self.database, [*self.session_sql, *session_sql]) if session_sql else self._query
        depths: dict[str | None, int] = {}
        lines = []
        for number, parent, _, detail in query(f"EXPLAIN QUERY PLAN {sql}"):
            depths[number] = depths.get(parent, -1) + 1
            lines.append("  " * depths[number] + str(detail))
        return "\n".join(lines)

    def executed_plans(self, statements: Sequence[Execution], session_sql: Sequence[str]) -> list[Executed]:
        """With what the library counts of a statement, and of each loop where it was compiled for that.

        It plans a statement as `plan` says; what is prepared is planned once, so that no operation takes the time for it. What
        follows one that fails is not executed.
        """
        if not statements:
            return []
        session = [*self.session_sql, *session_sql]
        limit_s = statements[0].limit_s
        done = counted(self.library, self.database, session, [one.sql for one in statements], limit_s)
        plans = [self._executed(one, figures, session_sql) for one, figures in zip(statements, done, strict=False)]
        return [*plans, *(Executed(refused=_AFTER_A_FAILURE) for _ in statements[len(plans) :])]

    def _executed(self, statement: Execution, figures: Mapping[str, Any], session_sql: Sequence[str]) -> Executed:
        if "error" in figures:
            return Executed(refused=str(figures["error"]))
        plan = executed_plan(self.plan(statement.sql, session_sql), figures)
        if statement.numbered:
            return Executed(plan)
        session = [*self.session_sql, *session_sql]
        _, *times_ms = prepare_times_ms(self.library, self.database, session, statement.sql, _PREPARED_TIMES)
        return Executed(plan, planning_ms=min(times_ms))

    def counters(self) -> dict[str, float]:
        """None: the library counts per connection, and those are the clients'."""
        return {}

    def objects(self, moment: Moment) -> ObjectFigures:
        return object_figures("sqlite", moment, self.dbms, self.build.version, self._query)

    def sizes(self) -> dict[str, int]:
        found = {"data_dir": used_bytes(self.data_dir), "log": self._size_of("-wal"), "database": self._size_of("")}
        try:
            kinds = {str(name): str(kind) for name, kind in self._query("SELECT name, type FROM sqlite_master")}
            for name, size in self._query("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
                found[f"{kinds.get(str(name), 'table')}.{name}"] = int(size or 0)
        except RunError:  # not every library was compiled with dbstat
            self.notes.append("sizes of single tables are not shown: this library was compiled without dbstat")
        return found

    def space(self) -> dict[str, int]:
        return {"database_bytes": self._size_of(""), "data_dir_bytes": used_bytes(self.data_dir)}

    def state(self, tables: Sequence[Table], *, counted: bool) -> dict[str, TableState]:
        return {one.name: table_state(self._query, one.name, one.ordered_key, counted=counted) for one in tables}

    def own_tables(self) -> list[Table]:
        return own_tables(self._query)

    def config_text(self) -> str:
        return "".join(f"{statement};\n" for statement in self.session_sql)

    def administer_with(self, query: Query) -> None:
        self.query = query

    def engine_target(self, name: str, placement: Placement) -> dict[str, Any]:
        return {
            "name": name,
            "wire": "sqlite",
            "address": {"path": str(self.database), "library": self.library},
            "session_sql": self.session_sql,
            "disk": {"path": str(self.database.parent)},
            "freeze": {"kind": "none"},
        }

    def table_sql(self, table: Table) -> tuple[list[str], list[str]]:
        return ddl.table_sql(table, Ddl(self.config.ddl))


def executed_plan(plan: str, counted: Mapping[str, Any]) -> str:
    """With what the engine tells of an execution; what was counted and is 0 is left out."""
    counts = " ".join(f"{name}={value}" for name, value in counted["counters"].items() if value)
    scans = [
        f"Loop: {one['operator']}: {one['rows']} rows in {one['loops']} loop{'s' if one['loops'] != 1 else ''}"
        for one in counted.get("scans", ())
    ]
    return "\n".join([plan, f"Execution Time: {counted['ns'] / 1e6:.3f} ms", f"Statement Status: {counts}", *scans])


def _same(name: str, wanted: str, found: str) -> bool:
    if name == "encoding":  # UTF16le is given back as UTF-16le, and UTF16 with the byte order of the host
        return found.replace("-", "").lower().startswith(wanted.lower())
    wanted = wanted.lower()
    return found.lower() in {wanted, _WORDS.get(name, {}).get(wanted), _SWITCH.get(wanted)}
