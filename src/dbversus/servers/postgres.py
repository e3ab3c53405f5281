"""PostgreSQL 9.6 to 19."""

import contextlib
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg

from dbversus.builds.model import Build
from dbversus.errors import RunError
from dbversus.host import cgroups, processes, registry
from dbversus.host.user import server_user
from dbversus.servers import postgres_debt, postgres_facts, postgres_files
from dbversus.servers.base import Placement, ServerConfig
from dbversus.servers.disk_use import used_bytes
from dbversus.servers.postgres_debt import Connection
from dbversus.servers.process import start
from dbversus.servers.sockets import make_socket_dir, random_port

DATABASE = "dbversus"
START_LIMIT_S = 300.0  # a start may have to replay the log of a crash
STOP_LIMIT_S = 120.0
_EXTENSIONS = ("pg_buffercache", "pg_prewarm")


class PostgresServer:
    """A server on `work_dir/data`, its log in `work_dir/server.log`, its socket in `work_dir/s` (or /tmp, if too long).

    `watchers` are told of its start and its end (registry, guard), so that it does not survive us.
    """

    dbms = "postgres"

    def __init__(self, build: Build, config: ServerConfig, work_dir: Path, watchers: Sequence[registry.Watcher] = ()):
        self.build = build
        self.config = config
        self.work_dir = work_dir.absolute()
        self.data_dir = self.work_dir / "data"
        self.notes: list[str] = []
        self._user = server_user()
        self._watchers = watchers
        self._log = self.work_dir / "server.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._entry: registry.Entry | None = None
        self._groups: list[str] = []
        self._socket_dir = Path()
        self._port = 0

    def check(self) -> None:
        """Before anything is created: RunError when this build cannot run here, UsageError for a config it refuses."""
        postgres_files.check_build(self.build, self.config, self._user)
        postgres_files.check_config(self.build, self.config, self._user)

    def initialise(self) -> None:
        """Creates the data directory, with a database and a superuser named `dbversus`, and stops the server again."""
        self.check()
        postgres_files.create_data_dir(self.build, self.config, self.data_dir, self._user)
        self.start(Placement())
        try:
            with self._connect("postgres") as connection:
                connection.execute(f"CREATE DATABASE {DATABASE}")
            with self.connect() as connection:
                self._add_extensions(connection)
        finally:
            self.stop()

    def _add_extensions(self, connection: Connection) -> None:
        rows = connection.execute("SELECT name FROM pg_available_extensions").fetchall()
        available = {row[0] for row in rows}
        for name in _EXTENSIONS:
            if name in available:
                connection.execute(f"CREATE EXTENSION IF NOT EXISTS {name}")

    def start(self, placement: Placement) -> None:
        if self.is_running():
            raise RunError(f"{self.build.name} is already running on {self.data_dir}.")
        self._end_strays()
        self._port = random_port()
        self._socket_dir = make_socket_dir(self.work_dir / "s", self._user, f".s.PGSQL.{self._port}")
        postgres_files.write_config(self.data_dir, self.config_text(), self._user)
        command: list[str | Path] = [postgres_files.program(self.build, "postgres"), "-D", self.data_dir]
        env = postgres_files.server_environment(self.build, self.config)
        began = self._log.stat().st_size if self._log.exists() else 0
        self._groups = placement.cgroup.directories() if placement.cgroup else []
        self._process = start(command, self._user, env, self._log, placement)
        self._tell_watchers()
        try:
            self.wait_ready(log_from=began)
        except BaseException:
            self.kill()
            raise
        self._tell_watchers()

    def _end_strays(self) -> None:
        """Ends what is left of a server on this directory whose root process was killed: it would block a start."""
        program = str(postgres_files.program(self.build, "postgres").resolve())
        left = processes.kill_all(lambda: processes.working_in(self.data_dir, program))
        if left:
            raise RunError(
                f"Processes {left} still work in {self.data_dir} and cannot be ended; no server can be started there."
            )

    def _tell_watchers(self) -> None:
        """Told again after steps in which the server gets itself more shared memory."""
        assert self._process
        pid = self._process.pid
        mapped = [processes.shared_memory(one) for one in (pid, *processes.descendants(pid))]
        self._entry = registry.Entry(
            root_pid=pid,
            root_ticks=processes.start_ticks(pid) or 0,
            data_dir=str(self.data_dir),
            program=processes.program_of(pid),
            cgroup_dirs=self._groups,
            paths=[str(self._socket_dir), *sorted({path for paths, _ in mapped for path in paths})],
            shared_memory_ids=sorted({number for _, ids in mapped for number in ids}),
        )
        for watcher in self._watchers:
            watcher.add(self._entry)

    def wait_ready(self, limit_s: float = START_LIMIT_S, log_from: int = 0) -> None:
        """Waits until the server takes connections; raises RunError with the end of its log when it does not."""
        deadline = time.monotonic() + limit_s
        database = "template1"  # the one that is always there
        while True:
            if not self.is_running():
                raise RunError(f"{self.build.name} did not start: {self._log_since(log_from)}")
            try:
                self._connect(database).close()
                return
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline:
                    words = f"{str(error).strip()}; {self._log_since(log_from)}"
                    raise RunError(f"{self.build.name} takes no connections after {limit_s:.0f} s: {words}") from error
            time.sleep(0.02)

    def stop(self) -> None:
        if self._process is None:
            return
        self.thaw()
        for number, limit_s in ((signal.SIGINT, STOP_LIMIT_S), (signal.SIGQUIT, 10.0)):
            if self._ends_by(number, limit_s):
                break
        self.kill()

    def _ends_by(self, number: signal.Signals, limit_s: float) -> bool:
        assert self._process
        self._process.send_signal(number)
        try:
            self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        if self._process is None or self._entry is None:
            return
        entry = self._entry
        registry.end(entry)
        self._process.kill()  # for one that could not be found any more, or was never there
        self._process.wait()
        self._process = self._entry = None
        for watcher in self._watchers:
            watcher.forget(entry.root_pid)

    def thaw(self) -> None:
        if self._process and self._entry:
            cgroups.thaw(self._entry.cgroup_dirs)
            processes.send(registry.tree(self._entry), signal.SIGCONT)

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def root_pid(self) -> int | None:
        return self._process.pid if self._process else None

    def settle(self, tables: Sequence[str]) -> dict[str, float]:
        with self.connect() as connection:
            spent = postgres_debt.settle(connection, tables)
            self._tell_watchers()
        return spent

    def warm(self, tables: Sequence[str]) -> None:
        with self.connect() as connection:
            postgres_facts.warm(connection, tables)
            self._tell_watchers()

    def debt(self) -> dict[str, int]:
        with self.connect() as connection:
            return postgres_debt.debt(connection)

    def settings(self) -> dict[str, str]:
        with self.connect() as connection:
            return postgres_facts.settings(connection)

    def plan(self, sql: str) -> str:
        with self.connect() as connection:
            return postgres_facts.plan(connection, sql)

    def counters(self) -> dict[str, float]:
        with self.connect() as connection:
            return postgres_facts.counters(connection)

    def sizes(self) -> dict[str, int]:
        with self.connect() as connection:
            found = postgres_facts.sizes(connection)
        wal = next(path for path in (self.data_dir / "pg_wal", self.data_dir / "pg_xlog") if path.exists())
        return {"data_dir": used_bytes(self.data_dir), "log": used_bytes(wal)} | found

    def log_tail(self, lines: int = 40) -> str:
        try:
            with self._log.open("rb") as file:
                file.seek(max(0, self._log.stat().st_size - 400 * lines))
                return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def _log_since(self, offset: int) -> str:
        """What this start has logged, as one line, the last 10 lines at most."""
        with contextlib.suppress(OSError), self._log.open("rb") as file:
            file.seek(offset)
            words = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
            return "; ".join(words[-10:]) or "it logged nothing"
        return f"{self._log} cannot be read"

    def config_text(self) -> str:
        own = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._socket_dir),
            "port": str(self._port),
            "logging_collector": "off",
            "log_destination": "stderr",
        }
        parts = (f"# {self.config.name}\n", self.config.settings), ("# private to this start\n", own)
        return "".join(title + postgres_files.render(settings) for title, settings in parts)

    def engine_target(self, name: str, placement: Placement) -> dict[str, Any]:
        group = placement.cgroup
        return {
            "name": name,
            "wire": "postgres",
            "address": {
                "socket_dir": str(self._socket_dir),
                "port": self._port,
                "user": postgres_files.SUPERUSER,
                "database": DATABASE,
            },
            "session_sql": [],
            "account": {"root_pid": self.root_pid, "cgroup": group.engine_account() if group else None},
            "freeze": group.engine_freeze() if group else {"kind": "signal"},
        }

    def table_sql(self, table: int) -> tuple[list[str], list[str]]:
        """Indexes come after the rows, which is faster; the sequence goes on after the ids that the load has given."""
        name = f"sbtest{table}"
        create = (
            f"CREATE TABLE {name} (id SERIAL, k INTEGER NOT NULL DEFAULT 0, "
            "c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '')"
        )
        after = [
            f"ALTER TABLE {name} ADD PRIMARY KEY (id)",
            f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), (SELECT coalesce(max(id), 1) FROM {name}))",  # noqa: S608
            f"CREATE INDEX k_{table} ON {name} (k)",
        ]
        return [create], after

    @contextlib.contextmanager
    def connect(self) -> Iterator[Connection]:
        """An administrator's connection, in autocommit; errors come as RunError with the server's own words."""
        try:
            with self._connect(DATABASE) as connection:
                yield connection
        except psycopg.Error as error:
            raise RunError(f"{self.build.name}: {str(error).strip()}") from error

    def _connect(self, database: str) -> Connection:
        return psycopg.connect(
            host=str(self._socket_dir),
            port=self._port,
            user=postgres_files.SUPERUSER,
            dbname=database,
            autocommit=True,
            connect_timeout=10,
            application_name="dbversus",
        )
