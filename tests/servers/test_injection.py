"""The control page, and the preloaded library in a process that does what servers do: answer, fork, have threads, read files."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.host.user import ServerUser, server_user
from dbversus.servers.base import Placement
from dbversus.servers.injection import SCRATCH_BYTES, Bursts, Injection, library_path
from dbversus.servers.postgres.server import PostgresServer

from ..left_out import engine_at_hand

OURSELVES = ServerUser("ourselves", os.geteuid(), os.getegid(), switch=False)

# answers `requests` requests after some work for each, in threads and in a forked process
ANSWERING = """
import os, socket, threading
def answer(requests):
    ours, theirs = socket.socketpair()
    for _ in range(requests):
        theirs.send(b"x")
        ours.recv(10)
        sum(range(20_000))
threads = [threading.Thread(target=answer, args=[200]) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
child = os.fork()
answer(200)
if child:
    os.waitpid(child, 0)
"""
REQUESTS = 800

WAITS = 250
WAITING = f"""
import socket, time
ours, theirs = socket.socketpair()
for _ in range({WAITS}):
    theirs.send(b"x")
    ours.recv(10)
    time.sleep(0.004)
"""

WRITING = """
import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for number in range(64):
    os.pwrite(file, b"x" * 8192, number * 8192)
    os.pread(file, 8192, number * 8192)
print(open("/proc/self/io").read())
"""
WRITTEN_AND_READ = 2 * 64 * 8192


@pytest.fixture
def folder() -> Iterator[Path]:
    """On a disk: direct reads do not go with every file system of a /tmp."""
    path = Path(tempfile.mkdtemp(prefix="dbv-inject-", dir="/var/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def injection(folder: Path) -> Injection:
    return Injection(folder, library_path(engine_at_hand()), OURSELVES)


def _run(program: str, env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program, *words], env=env, capture_output=True, text=True, check=True)


def test_a_library_that_was_not_built_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="make engine"):
        library_path(tmp_path / "dbversus-engine")


def test_the_library_is_preloaded_after_others(injection: Injection) -> None:
    env = injection.environment({"LD_PRELOAD": "/x/libjemalloc.so.2", "A": "b"})
    assert env["LD_PRELOAD"] == f"/x/libjemalloc.so.2:{injection.library}"
    assert (env["DBVERSUS_INJECT"], env["A"]) == (str(injection.path), "b")
    assert injection.environment({})["LD_PRELOAD"] == str(injection.library)
    assert injection.scratch.stat().st_size == SCRATCH_BYTES


def test_a_share_of_the_work_is_burned_in_threads_and_forked_processes(injection: Injection) -> None:
    injection.set_shares(0.25, 0)
    _run(ANSWERING, injection.environment({}))
    found = injection.read()
    assert found.reads == REQUESTS
    assert 0.24 < found.burned_ns / found.work_ns < 0.27
    assert found.io_bytes_added == 0


def test_in_bursts_a_share_of_a_part_of_the_work_is_burned(injection: Injection) -> None:
    injection.set_shares(1, 0, Bursts(burst_ns=200_000, every_ns=2_000_000, phase_ns=0))
    _run(ANSWERING, injection.environment({}))
    found = injection.read()
    assert found.reads == REQUESTS
    assert 0.08 < found.burned_ns / found.work_ns < 0.13


def test_a_server_that_waits_or_is_frozen_gets_no_nearer_to_its_next_burst(injection: Injection) -> None:
    """The clock of bursts is the work done: this one begins after more of that than so few empty requests can be."""
    second_ns = 10**9
    injection.set_shares(1, 0, Bursts(3600 * second_ns, 7200 * second_ns, 7200 * second_ns - second_ns // 4))
    _run(WAITING, injection.environment({}))
    found = injection.read()
    assert found.reads == WAITS and found.work_ns > 0 and found.burned_ns == 0


def test_without_a_share_work_is_counted_and_nothing_added(injection: Injection) -> None:
    _run(ANSWERING, injection.environment({}))
    found = injection.read()
    assert found.reads == REQUESTS and found.work_ns > 0
    assert (found.burned_ns, found.io_bytes_added, found.io_reads_added) == (0, 0, 0)


def test_work_under_other_shares_is_not_added_to(injection: Injection) -> None:
    program = """
import socket, sys
ours, theirs = socket.socketpair()
def answer():
    theirs.send(b"x")
    ours.recv(10)
answer()
for _ in range(100):
    sum(range(20_000))
print("worked", flush=True)
sys.stdin.readline()
answer()
"""
    pipe = subprocess.PIPE
    injection.set_shares(1, 0)
    with subprocess.Popen(
        [sys.executable, "-c", program], env=injection.environment({}), stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdout and process.stdout.readline() == "worked\n"
        injection.set_shares(1, 0)
        process.communicate("\n")
    found = injection.read()
    assert (found.reads, found.work_ns, found.burned_ns) == (2, 0, 0)


def test_a_share_of_the_bytes_is_read_from_disk(injection: Injection, folder: Path) -> None:
    injection.set_shares(0, 0.5)
    said = _run(WRITING, injection.environment({}), str(folder / "file")).stdout
    if injection.io_refusal:
        pytest.skip(f"no direct reads in {folder}: {injection.io_refusal}")
    found = injection.read()
    assert found.io_bytes_seen == WRITTEN_AND_READ
    assert found.io_bytes_added == WRITTEN_AND_READ / 2 == 4096 * found.io_reads_added
    read_bytes = next(int(line.split()[1]) for line in said.splitlines() if line.startswith("read_bytes"))
    assert read_bytes >= found.io_bytes_added


def test_where_nothing_can_be_read_directly_it_is_said_and_not_counted(injection: Injection, folder: Path) -> None:
    injection.scratch.unlink()
    injection.set_shares(0, 0.5)
    _run(WRITING, injection.environment({}), str(folder / "file"))
    assert injection.io_refusal == "No such file or directory"
    assert injection.read().io_bytes_added == 0


@pytest.mark.parametrize("content", [None, b"", b"x" * 4096])
def test_a_broken_page_stops_nothing(injection: Injection, content: bytes | None) -> None:
    env = injection.environment({})
    injection.path.unlink()
    if content is not None:
        injection.path.write_bytes(content)
    done = _run(ANSWERING, env)
    assert done.stderr.count("nothing is slowed down") == 1 and str(injection.path) in done.stderr


def test_a_server_carries_the_library(server: PostgresServer, work_dir: Path) -> None:
    server.injection = Injection(work_dir, library_path(engine_at_hand()), server_user())
    server.start(Placement())
    began = server.injection.read()
    with server.connect() as connection:
        for _ in range(20):
            connection.execute("SELECT count(*) FROM sbtest1")
    found = server.injection.read() - began
    assert found.reads >= 20 and found.work_ns > 0 and found.burned_ns == 0
    server.stop()


def test_a_server_that_does_not_take_the_page_is_not_measured(server: PostgresServer, work_dir: Path) -> None:
    server.injection = Injection(work_dir, library_path(engine_at_hand()), server_user())
    server.injection.path.write_bytes(b"\0" * 4096)
    with pytest.raises(RunError, match=r"/injection was not taken"):
        server.start(Placement())
    assert not server.is_running()
