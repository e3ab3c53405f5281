"""MySQL 5.5 to 9.x with InnoDB, MariaDB 10.1 and later with InnoDB, and either of them with RocksDB (MyRocks)."""

import contextlib
import signal
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pymysql

from dbversus.builds.model import Build
from dbversus.dbms.flavour import Flavour, create_user_statement, private_settings
from dbversus.dbms.known import find_dbms
from dbversus.dbms.sql.ddl import Ddl
from dbversus.dbms.sql.table import Table
from dbversus.errors import RunError
from dbversus.host.claims import registry
from dbversus.host.program import Command
from dbversus.servers.base import Executed, Execution, Placement, ServerConfig
from dbversus.servers.data.contents import TableState
from dbversus.servers.data.disk_use import used_bytes
from dbversus.servers.mysql import (
    adjusted_settings,
    check,
    contents,
    create,
    ddl,
    debt,
    facts,
    files,
    innodb,
    query,
    rocksdb,
)
from dbversus.servers.mysql.query import Connection
from dbversus.servers.objects import Moment, ObjectFigures
from dbversus.servers.process.daemon import Daemon
from dbversus.servers.process.sockets import make_socket_dir

USER = "dbversus"
_FIRST_USER = "root"
START_DEBT_LIMIT_S = 30.0
_SOCKET = "mysqld.sock"
_INNODB_LOGS = ("ib_logfile*", "#innodb_redo/*")
_ROCKSDB_LOGS = ("#rocksdb/*.log", ".rocksdb/*.log")


class MysqlServer(Daemon):
    """A server, its data and its socket (`Daemon`); its config file is `work_dir/my.cnf`, its temporary files `work_dir/tmp`.

    `dbms` is mysql, mariadb or myrocks; with the last one tables are in RocksDB, with the others in InnoDB.
    """

    stop_signals = ((signal.SIGTERM, 300.0),)

    def __init__(self, build: Build, config: ServerConfig, work_dir: Path, watchers: Sequence[registry.Watcher] = ()):
        super().__init__(build, config, work_dir, watchers)
        self.dbms = build.dbms
        self._engine = rocksdb.ROCKSDB if build.dbms == "myrocks" else innodb.INNODB
        self.deferred_work_s = find_dbms(build.dbms).deferred_work_s
        self._login = USER
        self._compared = False
        self._of_others: set[str] = set()  # tables whose maker chose their engine

    @cached_property
    def _place(self) -> files.Installation:
        return files.Installation(self.build, self._user, self._environment())

    @cached_property
    def flavour(self) -> Flavour:
        return files.flavour_of(self._place)

    @cached_property
    def _server_settings(self) -> Mapping[str, str]:
        """Settings of every start except its paths: what this build needs, then what the config says."""
        own = self._place.base_settings() | private_settings(self.flavour)
        if self.dbms == "myrocks":
            own |= files.rocksdb_settings(self._place, self.flavour)
        return {**own, **self.config.init_options, **self.config.settings}

    def check(self) -> None:
        """Before anything is created: RunError when this build cannot run here, UsageError for a config it refuses."""
        files.check_init_options(self.build, self.config)
        files.version_words(self._place)
        asked = {**self.config.init_options, **self.config.settings}
        places = self.config.places
        for note in check.check_config(self._place, self.flavour, self._server_settings, asked, places, self.work_dir):
            self._note(note)

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def initialise(self) -> None:
        """Creates the data directory, with a database and an administrator named `dbversus`, and stops the server again."""
        self.check()
        create.create_data_dir(self._place, self.flavour, self.data_dir, self.config.init_options, self._create)
        self._login = _FIRST_USER
        try:
            self.start(Placement())
            with self._connected(None) as connection:
                query.rows(connection, f"CREATE DATABASE {query.identifier(self.database_name)}")
                query.rows(connection, create_user_statement(self.flavour, USER))
                query.rows(connection, f"GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'localhost' WITH GRANT OPTION")
        finally:
            self._login = USER
            self.stop()

    def start(self, placement: Placement) -> None:
        """Sees as well, at the first start, what the server has made of its settings meanwhile."""
        super().start(placement)
        if not self._compared:
            try:
                self._compare_settings()
            except RunError:
                self.kill()
                raise

    def _compare_settings(self) -> None:
        """Notes what the server adjusted as it started; RunError where the target itself chose that setting."""
        with self._connected(None) as connection:
            said = query.variables(connection)
        self._compared = True
        refusal, notes = adjusted_settings.judge(
            {**self.config.init_options, **self.config.settings}, said, self.config.chosen
        )
        if refusal:
            raise RunError(f"{self.build.name}: {refusal}.")
        for note in notes:
            self._note(note)

    def _program(self) -> Path:
        return self._place.program

    def _environment(self) -> dict[str, str]:
        return files.server_environment(self.build, self.config)

    def _prepare_start(self) -> Command:
        create.check_data_dir(self.build, self.data_dir, self._user)
        create.drop_unfit_logs(self.flavour, self.data_dir, self.config.settings.get("innodb_log_file_size", "5M"))
        self._socket_dir = make_socket_dir(self.work_dir / "s", self._user, _SOCKET)
        self._user.make_dir(self.work_dir / "tmp")
        config_file = self.work_dir / "my.cnf"
        files.write_config(config_file, self.config_text())
        return [self._place.program, f"--defaults-file={config_file}"]

    def _refusal(self) -> str:
        try:
            query.connect(self._socket_dir / _SOCKET, self._login).close()
        except pymysql.MySQLError as error:
            if query.error_number(error) == query.ACCESS_DENIED:
                raise RunError(f"{self.build.name}: {query.words(error)}") from error
            return query.words(error)
        return ""

    def settle(self, tables: Sequence[str]) -> dict[str, float]:
        with self.connect() as connection:
            self._check_engines(connection, tables)
            return debt.settle(connection, self.flavour, self._engine, tables)

    def _check_engines(self, connection: Connection, tables: Sequence[str]) -> None:
        """A server without the engine asked for may give a table another one, and say so in a warning only."""
        engines = facts.table_engines(connection, self.database_name)
        accepted = {self._engine.name.lower(), *Ddl(self.config.ddl).engines}
        for table in tables:
            if table in self._of_others and self.dbms != "myrocks":
                continue
            if engines.get(table, "").lower() not in accepted:
                found = engines.get(table, "missing")
                raise RunError(f"{self.build.name}: table {table} should be {self._engine.name} and is {found}.")

    def vacuum(self, tables: Sequence[str]) -> dict[str, float]:
        return {}

    def warm(self, tables: Sequence[str]) -> None:
        """Pays what the start has left unpaid as well: since 8.0 it writes to the dictionary and the undo logs."""
        with self.connect() as connection:
            facts.warm(connection, self.database_name, tables)
            if any(self._engine.debt(connection).values()):
                debt.pay(connection, self._engine, START_DEBT_LIMIT_S)

    def debt(self) -> dict[str, int]:
        with self.connect() as connection:
            return self._engine.debt(connection)

    def settings(self) -> dict[str, str]:
        with self.connect() as connection:
            return query.variables(connection)

    def plan(self, sql: str, session_sql: Sequence[str] = ()) -> str:
        with self.connect() as connection:
            for text in session_sql:
                query.rows(connection, text)
            return facts.plan(connection, self.flavour, sql)

    def executed_plans(self, statements: Sequence[Execution], session_sql: Sequence[str]) -> list[Executed]:
        with self.connect() as connection:
            for text in session_sql:
                query.rows(connection, text)
            return facts.executed_plans(connection, self.flavour, statements)

    def await_counts(self) -> None:
        """They are up to date at once."""

    def counters(self) -> dict[str, float]:
        with self.connect() as connection:
            return facts.counters(connection, self.database_name)

    def objects(self, moment: Moment) -> ObjectFigures:
        with self.connect() as connection:
            return facts.objects(connection, moment, self.dbms, self.build.version)

    def sizes(self) -> dict[str, int]:
        """Besides the usual: `log` are the redo logs, `binlog` the binary logs."""
        in_rocksdb = self.dbms == "myrocks"
        sizes_of = rocksdb.sizes if in_rocksdb else innodb.sizes
        with self.connect() as connection:
            found = sizes_of(connection, self.database_name)
        log = self._file_bytes(*(_ROCKSDB_LOGS if in_rocksdb else _INNODB_LOGS))
        own = {"data_dir": used_bytes(self.data_dir), "log": log, "binlog": self._file_bytes("binlog.*")}
        return {**own, "database": sum(found.values()), **found}

    def space(self) -> dict[str, int]:
        """RocksDB has the files of all databases in one folder, logs too."""
        folders = ("#rocksdb", ".rocksdb") if self.dbms == "myrocks" else (query.folder_name(self.database_name),)
        in_database = sum(used_bytes(self.data_dir / folder) for folder in folders)
        return {"database_bytes": in_database, "data_dir_bytes": used_bytes(self.data_dir)}

    def _file_bytes(self, *patterns: str) -> int:
        return sum(path.stat().st_size for pattern in patterns for path in self.data_dir.glob(pattern))

    def state(self, tables: Sequence[Table], *, counted: bool) -> dict[str, TableState]:
        in_rocksdb = self.dbms == "myrocks"
        statistics = contents.rocksdb_statistics_rows if in_rocksdb else contents.innodb_statistics_rows
        with self.connect() as connection:
            return {
                one.name: contents.table_state(
                    connection, self.database_name, one.name, one.ordered_key, statistics, counted=counted
                )
                for one in tables
            }

    def own_tables(self) -> list[Table]:
        with self.connect() as connection:
            found = contents.own_tables(connection, self.database_name)
        self._of_others = {table.name for table in found}
        return found

    def status_text(self) -> str:
        with self.connect() as connection:
            text = innodb.status_text(connection)
            return text if self.dbms != "myrocks" else f"{rocksdb.status_text(connection)}\n{text}"

    def config_text(self) -> str:
        own = {
            "datadir": str(self.data_dir),
            "socket": str(self._socket_dir / _SOCKET),
            "pid_file": str(self._socket_dir / "mysqld.pid"),
            "tmpdir": str(self.work_dir / "tmp"),
        }
        parts = (f"# {self.config.name}\n", self._server_settings), ("# private to this start\n", own)
        return "".join(title + files.render(settings) for title, settings in parts)

    def engine_target(self, name: str, placement: Placement) -> dict[str, Any]:
        return {
            "name": name,
            "wire": "mysql",
            "address": {"socket": str(self._socket_dir / _SOCKET), "user": USER, "database": self.database_name},
            "session_sql": [],
            **self._measures(placement),
        }

    def table_sql(self, table: Table) -> tuple[list[str], list[str]]:
        return ddl.table_sql(table, self.dbms, self._engine.name, ddl.types_of(self.flavour), Ddl(self.config.ddl))

    @contextlib.contextmanager
    def connect(self) -> Iterator[Connection]:
        """An administrator's connection, in autocommit; errors come as RunError with the server's own words."""
        with self._connected(self.database_name) as connection:
            yield connection

    @contextlib.contextmanager
    def _connected(self, database: str | None) -> Iterator[Connection]:
        try:
            with query.connect(self._socket_dir / _SOCKET, self._login, database) as connection:
                yield connection
        except pymysql.MySQLError as error:
            raise RunError(f"{self.build.name}: {query.words(error)}") from error
