"""What servers that are processes of their own have in common: starting, watching, stopping, log."""

import contextlib
import signal
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from dbversus.builds.model import Build
from dbversus.errors import RunError
from dbversus.host import cgroups, processes
from dbversus.host.claims import registry
from dbversus.host.program import Command, Done
from dbversus.host.user import server_user
from dbversus.servers.base import DATABASE, Placement, Query, ServerConfig
from dbversus.servers.injection import Injection
from dbversus.servers.log_event import LogEvent
from dbversus.servers.process.program import begin, start

LOG_BYTES_READ = 2**20
START_LIMIT_S = 300.0  # a start may have to replay the log of a crash
_CREATE_LIMIT_S = 600.0


class Daemon(ABC):
    """A server on `work_dir/data`, its log in `work_dir/server.log`, its socket in `work_dir/s` (or /tmp, if too long).

    `watchers` are told of its start and its end (registry, guard), so that it does not survive us. `injection`: what slows
    it down from its next start on, if anything does. A DBMS fills in where its program is, how a start is prepared, and what
    keeps the server from taking connections.
    """

    deferred_work_s = 0.0
    # signals that ask for a clean end, each with its limit in seconds
    stop_signals: ClassVar[tuple[tuple[signal.Signals, float], ...]] = ((signal.SIGTERM, 120.0),)

    def __init__(self, build: Build, config: ServerConfig, work_dir: Path, watchers: Sequence[registry.Watcher] = ()):
        self.build = build
        self.config = config
        self.work_dir = work_dir.absolute()
        self.data_dir = self.work_dir / "data"
        self.database_name = DATABASE
        self.notes: list[str] = []
        self.injection: Injection | None = None
        self._user = server_user()
        self._watchers = watchers
        self._log = self.work_dir / "server.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._entry: registry.Entry | None = None
        self._groups: list[str] = []
        self._socket_dir = Path()
        self._ending = threading.Lock()

    @abstractmethod
    def _program(self) -> Path:
        """The server's binary."""

    @abstractmethod
    def _environment(self) -> dict[str, str]: ...

    @abstractmethod
    def _prepare_start(self) -> Command:
        """Makes the socket's directory and the config file of this start; returns the command."""

    @abstractmethod
    def _refusal(self) -> str:
        """Why the running server takes no connections yet, in its own words; empty when it does."""

    def _create(self, command: Command, text_in: str = "") -> Done:
        """Runs a program that makes the data directory to its end, with `text_in` on its standard input.

        It starts servers of its own, with shared memory: it is watched like a server. Raises RunError when it cannot be
        executed, or does not end.
        """
        process = begin(command, self._user, self._environment(), self._announce)
        entry = self._entry_of(process.pid, str(self._program().resolve()))
        for watcher in self._watchers:
            watcher.add(entry)
        try:
            said, complained = process.communicate(text_in, _CREATE_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise RunError(f"{command[0]} of {self.build.name} has not ended after {_CREATE_LIMIT_S:.0f} s.") from None
        finally:
            registry.end(entry)
            process.wait()
            for watcher in self._watchers:
                watcher.forget(process.pid)
        return Done(command, process.returncode, said, complained)

    def start(self, placement: Placement) -> None:
        if self.is_running():
            raise RunError(f"{self.build.name} is already running on {self.data_dir}.")
        self._end_strays()
        command = self._prepare_start()
        env = self._environment()
        if self.injection:
            env = self.injection.environment(env)
        began = self.log_end()
        self._groups = placement.cgroup.directories() if placement.cgroup else []
        self._process = start(command, self._user, env, self._log, placement, self._announce)
        self._tell_watchers()
        try:
            self.wait_ready(log_from=began)
            self._check_preloaded(env.get("LD_PRELOAD", ""))
            if self.injection:
                self.injection.check_attached(self._process.pid)
        except BaseException:
            self.kill()
            raise
        self._tell_watchers()

    def _end_strays(self) -> None:
        """Ends what is left of a server on this directory whose root process was killed: it would block a start."""
        program = str(self._program().resolve())
        left = processes.kill_all(lambda: processes.working_in(self.data_dir, program))
        if left:
            raise RunError(
                f"Processes {left} still work in {self.data_dir} and cannot be ended; no server can be started there."
            )

    def _tell_watchers(self) -> None:
        """Told again after steps in which the server gets itself more shared memory."""
        with self._ending:
            if self._process is None:  # another thread has killed it
                return
            pid = self._process.pid
            mapped = [processes.shared_memory(one, self._user.uid) for one in (pid, *processes.descendants(pid))]
            self._entry = replace(
                self._entry_of(pid, processes.program_of(pid)),
                cgroup_dirs=self._groups,
                paths=[str(self._socket_dir), *sorted({path for paths, _ in mapped for path in paths})],
                shared_memory_ids=sorted({number for _, ids in mapped for number in ids}),
            )
            for watcher in self._watchers:
                watcher.add(self._entry)

    def _announce(self) -> None:
        """By the server's own process, before it is the server: we may be killed before we can tell of it."""
        for watcher in self._watchers:
            watcher.announce()

    def _entry_of(self, pid: int, program: str) -> registry.Entry:
        ticks = processes.start_ticks(pid) or 0
        return registry.Entry(pid, ticks, str(self.data_dir), program, uid=self._user.uid)

    def wait_ready(self, limit_s: float = START_LIMIT_S, log_from: int = 0) -> None:
        """Waits until the server takes connections; raises RunError with the end of its log when it does not."""
        deadline = time.monotonic() + limit_s
        while True:
            if not self.is_running():
                raise RunError(f"{self.build.name} did not start: {self._log_since(log_from)}")
            refusal = self._refusal()
            if not refusal:
                return
            if time.monotonic() > deadline:
                words = f"{refusal}; {self._log_since(log_from)}"
                raise RunError(f"{self.build.name} takes no connections after {limit_s:.0f} s: {words}")
            time.sleep(0.02)

    def _check_preloaded(self, preload: str) -> None:
        """The loader passes over a library that it cannot preload, with a line in the log and nothing more."""
        assert self._process
        mapped = processes.mapped_files(self._process.pid)
        for library in preload.replace(":", " ").split():
            if mapped and str(Path(library).resolve()) not in mapped:
                said = [line for line in self.log_tail(400).splitlines() if "cannot be preloaded" in line]
                words = said[-1].strip() if said else "the loader does not say why"
                raise RunError(f"{self.build.name} does not run with LD_PRELOAD={library}: {words}.")

    def stop(self) -> None:
        if self._process is None:
            return
        self.thaw()
        for number, limit_s in self.stop_signals:
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

    def administer_with(self, query: Query) -> None:
        del query  # it has connections of its own

    def kill(self) -> None:
        """SIGKILL to the whole process tree; also while another thread starts or kills it."""
        with self._ending:
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

    def log_tail(self, lines: int = 40) -> str:
        try:
            with self._log.open("rb") as file:
                file.seek(max(0, self._log.stat().st_size - 400 * lines))
                return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def log_end(self) -> int:
        return self._log.stat().st_size if self._log.exists() else 0

    def log_since(self, begin: int) -> str:
        with contextlib.suppress(OSError), self._log.open("rb") as file:
            file.seek(max(begin, self.log_end() - LOG_BYTES_READ))
            return file.read().decode(errors="replace")
        return ""

    def events_in(self, log: str) -> list[LogEvent]:
        return []

    def _log_since(self, offset: int) -> str:
        """What this start has logged, as one line, the last 10 lines at most."""
        with contextlib.suppress(OSError), self._log.open("rb") as file:
            file.seek(offset)
            words = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
            return "; ".join(words[-10:]) or "it logged nothing"
        return f"{self._log} cannot be read"

    def _measures(self, placement: Placement) -> dict[str, object]:
        """`account`, `disk` and `freeze` of the engine's target."""
        group = placement.cgroup
        return {
            "account": {"root_pid": self.root_pid, "cgroup": group.engine_account() if group else None},
            "disk": {"path": str(self.data_dir), "cgroup": group.engine_disk() if group else None},
            "freeze": group.engine_freeze() if group else {"kind": "signal"},
        }
