"""No server outlives its controller, however that ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dbversus.builds.model import Build
from dbversus.host import cgroups, processes
from dbversus.host.claims.registry import Entry, cleanup_stale
from dbversus.host.user import server_user
from dbversus.servers.base import Placement
from dbversus.servers.postgres.server import PostgresServer

CONTROLLER = """
import sys, time
from pathlib import Path
from dbversus.builds.model import Build
from dbversus.host.cgroups import create_cgroup
from dbversus.host.claims.registry import Registry
from dbversus.servers.base import Placement, ServerConfig
from dbversus.servers.postgres.server import PostgresServer
import os

version, prefix, work_dir, home, kind = sys.argv[1:]
cgroup = create_cgroup(f"{os.getpid()}-t0", kind=kind)[0] if kind != "none" else None
config = ServerConfig("test", {"fsync": "off", "shared_buffers": "16MB"})
server = PostgresServer(Build("postgres", version, "path", Path(prefix), "test"), config, Path(work_dir), [Registry(Path(home))])
server.start(Placement(cgroup=cgroup))
print(server.root_pid, *(cgroup.directories() if cgroup else []), flush=True)
time.sleep(600)
"""

CREATOR = """
import sys
from pathlib import Path
from dbversus.builds.model import Build
from dbversus.host.claims.registry import Registry
from dbversus.servers.base import ServerConfig
from dbversus.servers.postgres.server import PostgresServer

version, prefix, work_dir, home = sys.argv[1:]
build = Build("postgres", version, "path", Path(prefix), "test")
PostgresServer(build, ServerConfig("test", {}), Path(work_dir), [Registry(Path(home))]).initialise()
"""


class Controlled:
    """A controller in a process of its own, with a server that runs."""

    def __init__(self, server: PostgresServer, home: Path, kind: str = "none"):
        words = [server.build.version, str(server.build.prefix), str(server.work_dir), str(home), kind]
        self.process = subprocess.Popen([sys.executable, "-c", CONTROLLER, *words], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        pid, *self.groups = self.process.stdout.readline().split()
        self.root_pid = int(pid)
        self.pids = self._settled()
        assert len(self.pids) > 4, self.pids

    def _settled(self) -> list[int]:
        """The backend that was asked whether the server is up may still be leaving."""
        found: list[int] = []
        while found != (found := [self.root_pid, *processes.descendants(self.root_pid)]):
            time.sleep(0.2)
        return found

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def living(self) -> list[int]:
        return [pid for pid in self.pids if processes.is_alive(pid)]

    def gone_within(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.living() and time.monotonic() < end:
            time.sleep(0.02)
        return not self.living()


@pytest.fixture
def home(work_dir: Path) -> Iterator[Path]:
    path = work_dir / "home"
    path.mkdir()
    yield path
    cleanup_stale(path)


def test_the_kernel_ends_a_server_whose_controller_is_killed(server: PostgresServer, home: Path) -> None:
    controlled = Controlled(server, home)
    controlled.kill()
    assert controlled.gone_within(600)
    cleanup_stale(home)
    assert list((home / "run").iterdir()) == []
    assert not (server.work_dir / "s").exists()


@pytest.mark.parametrize("kind", ["v1", "v2"])
def test_a_frozen_server_is_ended_at_the_next_start(server: PostgresServer, home: Path, kind: str) -> None:
    cgroup, note = cgroups.create_cgroup(f"{os.getpid()}-probe-{kind}", kind=kind)
    if cgroup is None or cgroup.engine_freeze()["kind"] == "signal":
        pytest.skip(f"no freezer here: {note}")
    cgroup.remove()
    controlled = Controlled(server, home, kind)
    for group in controlled.groups:
        for file, word in (("freezer.state", "FROZEN"), ("cgroup.freeze", "1")):
            if (Path(group) / file).exists():
                (Path(group) / file).write_text(word)
    controlled.kill()
    time.sleep(0.3)
    assert controlled.living() == controlled.pids
    said = cleanup_stale(home)
    assert len(said) == 1
    assert str(controlled.root_pid) in said[0]
    assert controlled.living() == []
    assert not any(Path(group).exists() for group in controlled.groups)


def test_a_stopped_server_without_its_root_is_ended_at_the_next_start(server: PostgresServer, home: Path) -> None:
    controlled = Controlled(server, home)
    processes.send(controlled.pids, signal.SIGSTOP)
    controlled.kill()
    processes.send([controlled.root_pid], signal.SIGKILL)
    assert len(controlled.living()) >= len(controlled.pids) - 1
    cleanup_stale(home)
    assert controlled.living() == []


def test_a_living_controllers_server_is_left_alone(server: PostgresServer, home: Path) -> None:
    controlled = Controlled(server, home)
    assert cleanup_stale(home) == []
    assert controlled.living() == controlled.pids
    controlled.kill()


def test_a_server_killed_with_9_is_seen_and_can_be_started_again(server: PostgresServer) -> None:
    server.start(Placement())
    assert server.root_pid
    pids = processes.descendants(server.root_pid)
    processes.send(pids, signal.SIGSTOP)  # so that they cannot see that their parent is gone
    os.kill(server.root_pid, signal.SIGKILL)
    end = time.monotonic() + 600
    while server.is_running() and time.monotonic() < end:
        time.sleep(0.01)
    assert not server.is_running()
    server.stop()
    assert not [pid for pid in pids if processes.is_alive(pid)]
    server.start(Placement())
    assert "sbtest1" in server.plan("SELECT * FROM sbtest1")


def test_kill_leaves_neither_processes_nor_shared_memory(server: PostgresServer) -> None:
    server.start(Placement())
    assert server.root_pid
    pids = [server.root_pid, *processes.descendants(server.root_pid)]
    paths, ids = processes.shared_memory(server.root_pid, server_user().uid)
    assert ids
    server.kill()
    assert not [pid for pid in pids if processes.is_alive(pid)]
    assert not any(Path(path).exists() for path in paths)
    assert not _segments() & set(ids)


class Known:
    """A watcher that knows what it was told."""

    def __init__(self) -> None:
        self.pids: set[int] = set()

    def add(self, entry: Entry) -> None:
        self.pids.add(entry.root_pid)

    def announce(self) -> None: ...
    def forget(self, root_pid: int) -> None:
        self.pids.discard(root_pid)


@pytest.mark.parametrize("after_s", [0.0, 0.03, 0.1])
def test_a_server_that_is_killed_while_another_thread_starts_it_is_gone(
    postgres_build: Build, server: PostgresServer, after_s: float
) -> None:
    known = Known()
    started = PostgresServer(postgres_build, server.config, server.work_dir, [known])
    with ThreadPoolExecutor(1) as pool:
        start = pool.submit(started.start, Placement())
        time.sleep(after_s)
        while not start.done():
            started.kill()
            time.sleep(0.002)
    started.kill()
    assert not started.is_running() and not known.pids
    assert not processes.working_in(server.data_dir, str((postgres_build.prefix / "bin/postgres").resolve()))


def test_what_makes_a_data_directory_does_not_outlive_its_controller_either(
    postgres_build: Build, work_dir: Path, home: Path
) -> None:
    program = str((postgres_build.prefix / "bin/postgres").resolve())
    place = work_dir / "new"
    place.mkdir()
    words = [postgres_build.version, str(postgres_build.prefix), str(place), str(home)]
    process = subprocess.Popen([sys.executable, "-c", CREATOR, *words])
    found: list[int] = []
    ids: list[int] = []
    while not ids:
        assert process.poll() is None
        found = processes.working_in(place / "data", program)
        ids = [number for pid in found for number in processes.shared_memory(pid, server_user().uid)[1]]
    processes.send(found, signal.SIGSTOP)
    process.kill()
    process.wait()
    cleanup_stale(home)
    end = time.monotonic() + 600
    while [pid for pid in found if processes.is_alive(pid)] and time.monotonic() < end:
        time.sleep(0.02)
    assert not [pid for pid in found if processes.is_alive(pid)]
    assert not processes.working_in(place, program)
    assert not _segments() & set(ids)


def _segments() -> set[int]:
    """Ids of all System V segments of the host."""
    return {int(line.split()[1]) for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}
