"""PostgreSQL 9.6 to 19."""

import contextlib
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from dbversus.builds.model import Build
from dbversus.dbms.sql.ddl import Ddl
from dbversus.dbms.sql.table import Table
from dbversus.errors import RunError
from dbversus.host.claims import registry
from dbversus.host.program import Command
from dbversus.servers.base import Executed, Execution, Placement, ServerConfig
from dbversus.servers.data.contents import TableState
from dbversus.servers.data.disk_use import used_bytes
from dbversus.servers.log_event import LogEvent
from dbversus.servers.objects import Moment, ObjectFigures
from dbversus.servers.postgres import contents, ddl, debt, events, facts, files
from dbversus.servers.postgres.debt import Connection
from dbversus.servers.process.daemon import Daemon
from dbversus.servers.process.sockets import make_socket_dir, random_port
from dbversus.servers.process.timing import timed

_EXTENSIONS = ("pg_buffercache", "pg_prewarm")


class PostgresServer(Daemon):
    """A server, its data and its socket (`Daemon`); its config file is `work_dir/postgresql.conf`."""

    dbms = "postgres"
    stop_signals = ((signal.SIGINT, 120.0), (signal.SIGQUIT, 10.0))

    def __init__(self, build: Build, config: ServerConfig, work_dir: Path, watchers: Sequence[registry.Watcher] = ()):
        super().__init__(build, config, work_dir, watchers)
        self._port = 0

    def check(self) -> None:
        """Before anything is created: RunError when this build cannot run here, UsageError for a config it refuses."""
        files.check_build(self.build, self.config, self._user)
        files.check_config(self.build, self.config, self._user, self.work_dir)

    def initialise(self) -> None:
        """Creates the data directory, with a database and a superuser named `dbversus`, and stops the server again."""
        self.check()
        files.create_data_dir(self.build, self.config, self.data_dir, self._user, self._create)
        self.start(Placement())
        try:
            with self._connect("postgres") as connection:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(self.database_name)))
            with self.connect() as connection:
                self._add_extensions(connection)
        finally:
            self.stop()

    def _add_extensions(self, connection: Connection) -> None:
        """Those that are here and not yet in the database, where it has a schema for them: scripts may drop either."""
        has_schema = "current_schema() IS NOT NULL"
        missing = "name = ANY(%s) AND installed_version IS NULL"
        query = f"SELECT name FROM pg_available_extensions WHERE {has_schema} AND {missing}"  # noqa: S608
        for (name,) in connection.execute(query, [list(_EXTENSIONS)]).fetchall():
            connection.execute(f"CREATE EXTENSION {name}")

    def _program(self) -> Path:
        return files.program(self.build, "postgres")

    def _environment(self) -> dict[str, str]:
        return files.server_environment(self.build, self.config)

    def _prepare_start(self) -> Command:
        self._port = random_port()
        self._socket_dir = make_socket_dir(self.work_dir / "s", self._user, f".s.PGSQL.{self._port}")
        config_file = self.work_dir / "postgresql.conf"
        files.write_config(config_file, self.config_text(), self.data_dir)
        return [self._program(), "-D", self.data_dir, "-c", f"config_file={config_file}"]

    def _refusal(self) -> str:
        try:
            self._connect("template1").close()  # the one that is always there
        except psycopg.OperationalError as error:
            return str(error).strip() or "it does not say why"
        return ""

    def stop(self) -> None:
        """A server that recovers from a crash is ended at once, which loses nothing.

        Asked for a fast shutdown meanwhile, it may wait for its own checkpointer for ever (seen with 17.11).
        """
        self.thaw()
        if self.is_running() and self._refusal():
            self._ends_by(*self.stop_signals[-1])
        super().stop()

    def settle(self, tables: Sequence[str]) -> dict[str, float]:
        with self.connect() as connection:
            self._add_extensions(connection)
            spent = debt.settle(connection, tables)
            self._tell_watchers()
        return spent

    def vacuum(self, tables: Sequence[str]) -> dict[str, float]:
        with self.connect() as connection:
            return {"vacuum_s": timed(lambda: debt.vacuum(connection, tables, analyze=False))}

    def warm(self, tables: Sequence[str]) -> None:
        with self.connect() as connection:
            facts.warm(connection, tables)
            self._tell_watchers()

    def debt(self) -> dict[str, int]:
        with self.connect() as connection:
            return debt.debt(connection)

    def settings(self) -> dict[str, str]:
        with self.connect() as connection:
            return facts.settings(connection)

    def plan(self, sql: str, session_sql: Sequence[str] = ()) -> str:
        with self.connect() as connection:
            for text in session_sql:
                connection.execute(text)
            return facts.plan(connection, sql)

    def executed_plans(self, statements: Sequence[Execution], session_sql: Sequence[str]) -> list[Executed]:
        with self.connect() as connection:
            for text in session_sql:
                connection.execute(text)
            return facts.executed_plans(connection, statements)

    def await_counts(self) -> None:
        with self.connect() as connection:
            facts.await_statistics(connection)

    def counters(self) -> dict[str, float]:
        with self.connect() as connection:
            return facts.counters(connection)

    def objects(self, moment: Moment) -> ObjectFigures:
        with self.connect() as connection:
            return facts.objects(connection, moment, self.build.version)

    def sizes(self) -> dict[str, int]:
        with self.connect() as connection:
            found = facts.sizes(connection)
        wal = next(path for path in (self.data_dir / "pg_wal", self.data_dir / "pg_xlog") if path.exists())
        return {"data_dir": used_bytes(self.data_dir), "log": used_bytes(wal)} | found

    def space(self) -> dict[str, int]:
        with self.connect() as connection:
            return {"database_bytes": facts.database_bytes(connection), "data_dir_bytes": used_bytes(self.data_dir)}

    def state(self, tables: Sequence[Table], *, counted: bool) -> dict[str, TableState]:
        with self.connect() as connection:
            return {
                one.name: contents.table_state(connection, one.name, one.ordered_key, counted=counted) for one in tables
            }

    def own_tables(self) -> list[Table]:
        with self.connect() as connection:
            return contents.own_tables(connection)

    def status_text(self) -> str:
        return ""

    def events_in(self, log: str) -> list[LogEvent]:
        return events.events_in(log)

    def config_text(self) -> str:
        own = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._socket_dir),
            "port": str(self._port),
            "logging_collector": "off",
            "log_destination": "stderr",
            **events.LOGGED_WITH,
        }
        parts = (f"# {self.config.name}\n", self.config.settings), ("# private to this start\n", own)
        return "".join(title + files.render(settings) for title, settings in parts)

    def engine_target(self, name: str, placement: Placement) -> dict[str, Any]:
        return {
            "name": name,
            "wire": "postgres",
            "address": {
                "socket_dir": str(self._socket_dir),
                "port": self._port,
                "user": files.SUPERUSER,
                "database": self.database_name,
            },
            "session_sql": [],
            **self._measures(placement),
        }

    def table_sql(self, table: Table) -> tuple[list[str], list[str]]:
        return ddl.table_sql(table, files.storage_clause(self.config), Ddl(self.config.ddl))

    @contextlib.contextmanager
    def connect(self) -> Iterator[Connection]:
        """An administrator's connection, in autocommit; errors come as RunError with the server's own words."""
        try:
            with self._connect(self.database_name) as connection:
                yield connection
        except psycopg.Error as error:
            raise RunError(f"{self.build.name}: {' '.join(str(error).split())}") from error  # libpq's words have lines

    def _connect(self, database: str) -> Connection:
        return psycopg.connect(
            host=str(self._socket_dir),
            port=self._port,
            user=files.SUPERUSER,
            dbname=database,
            autocommit=True,
            connect_timeout=10,
            application_name="dbversus",
            options="-c search_path=public",  # whatever a dump sets for its database
        )
