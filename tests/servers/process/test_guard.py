import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.host import processes
from dbversus.host.claims import registry
from dbversus.host.claims.registry import Entry
from dbversus.servers.process.engine import engine_binary
from dbversus.servers.process.guard import Guard

NOBODY = 65534


def entry(root_pid: int, uid: int | None = None, **more: list[str]) -> Entry:
    whose = os.getuid() if uid is None else uid
    return Entry(root_pid, 1, "/nowhere", "/bin/sleep", uid=whose, **more)  # type: ignore[arg-type]


def test_the_lines_are_those_of_the_protocol(tmp_path: Path) -> None:
    recorder = tmp_path / "engine"
    recorder.write_text(f"#!/bin/sh\nexec cat > {tmp_path}/said\n")
    recorder.chmod(0o755)
    with Guard(recorder) as guard:
        assert guard.is_running
        guard.add(entry(11, cgroup_dirs=["/g"], paths=["/p"]))
        guard.add(entry(11, cgroup_dirs=["/g"], paths=["/p", "/q"]))
        guard.forget(11)
        guard.forget(12)
    assert [json.loads(line) for line in (tmp_path / "said").read_text().splitlines()] == [
        {"cgroup_dirs": ["/g"], "root_pid": 11, "paths": ["/p"]},
        {"release": 11},
        {"cgroup_dirs": ["/g"], "root_pid": 11, "paths": ["/p", "/q"]},
        {"release": 11},
    ]


def test_without_a_guard_nothing_fails(tmp_path: Path) -> None:
    for guard in (Guard(None), Guard(tmp_path / "gone")):
        guard.add(entry(11))
        guard.forget(11)
        guard.close()
        assert "guard" in guard.note


def test_a_guard_that_dies_is_noted(tmp_path: Path) -> None:
    brief = tmp_path / "engine"
    brief.write_text("#!/bin/sh\nexit 0\n")
    brief.chmod(0o755)
    guard = Guard(brief)
    end = time.monotonic() + 600
    while guard.is_running and time.monotonic() < end:
        time.sleep(0.01)
    guard.add(entry(11))
    assert "has ended" in guard.note
    guard.close()


def test_the_real_guard_ends_what_it_knows_when_the_pipe_closes(tmp_path: Path) -> None:
    kept, ended = (subprocess.Popen(["sleep", "600"], start_new_session=True) for _ in range(2))
    (tmp_path / "s").mkdir()
    try:
        os.kill(ended.pid, signal.SIGSTOP)
        guard = Guard(engine_binary())
        guard.add(entry(kept.pid))
        guard.add(entry(ended.pid, paths=[str(tmp_path / "s")]))
        guard.forget(kept.pid)
        guard.close()
        assert ended.wait(600) == -signal.SIGKILL
        assert processes.is_alive(kept.pid)
        assert not (tmp_path / "s").exists()
    finally:
        kept.kill()
        kept.wait()


DIES_AT_ONCE = """
import os, signal, sys
from pathlib import Path
from dbversus.host.user import server_user
from dbversus.servers.base import Placement
from dbversus.servers.process.engine import engine_binary
from dbversus.servers.process.guard import Guard
from dbversus.servers.process.program import start
guard = Guard(engine_binary())
# SIGQUIT of the kernel is not to be what ends it
command = ["/bin/sh", "-c", "trap '' QUIT; sleep 600; :"]
server = start(command, server_user(), dict(os.environ), Path(sys.argv[1]), Placement(), guard.announce)
print(server.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_server_does_not_outlive_us_who_were_killed_before_we_told_of_it(tmp_path: Path) -> None:
    said = subprocess.run([sys.executable, "-c", DIES_AT_ONCE, tmp_path / "log"], capture_output=True, text=True)
    assert said.returncode == -signal.SIGKILL, said.stderr
    end = time.monotonic() + 60
    while processes.is_alive(int(said.stdout)):
        assert time.monotonic() < end, "it outlived us"
        time.sleep(0.05)


HOLDER = """
import ctypes, mmap, os, sys, time
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
segment = libc.shmget(0, 4096, 0o600 | 0o1000)  # IPC_PRIVATE, IPC_CREAT
libc.shmat(segment, None, 0)
file = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR, 0o600)
os.ftruncate(file, 4096)
memory = mmap.mmap(file, 4096)
print(segment, flush=True)
time.sleep(600)
"""


def test_the_real_guard_removes_shared_memory_that_it_was_not_told_of() -> None:
    file = Path(f"/dev/shm/dbv-test-guard-{os.getpid()}")
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, file], stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert holder.stdout
        segment = int(holder.stdout.readline())
        assert processes.shared_memory(holder.pid, os.getuid()) == ([str(file)], [segment])
        guard = Guard(engine_binary())
        guard.add(entry(holder.pid))
        guard.close()
        assert holder.wait(600) == -signal.SIGKILL
        assert not file.exists()
        assert str(segment) not in Path("/proc/sysvipc/shm").read_text().split()
    finally:
        holder.kill()
        holder.wait()
        file.unlink(missing_ok=True)


MAPPER = """
import ctypes, mmap, os, sys, time
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
assert libc.shmat(int(sys.argv[1]), None, 0o10000) > 0  # SHM_RDONLY
with open(sys.argv[2]) as file:
    memory = mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ)
print("up", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("end_it", ["guard", "controller"])
def test_shared_memory_of_others_that_a_server_maps_is_left_to_them(end_it: str) -> None:
    segment = ctypes.CDLL(None).shmget(0, 4096, 0o1644)
    file = Path(f"/dev/shm/dbv-test-others-{os.getpid()}")
    file.write_bytes(bytes(4096))
    file.chmod(0o644)
    words = [shutil.which("python3", path=os.defpath) or sys.executable, "-c", MAPPER, str(segment), str(file)]
    mapper = subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True, user=NOBODY, group=NOBODY)
    try:
        assert mapper.stdout and mapper.stdout.readline() == b"up\n"
        known = entry(mapper.pid, NOBODY, paths=[str(file)])  # its own once, say
        if end_it == "guard":
            with Guard(engine_binary()) as guard:
                guard.add(known)
        else:
            registry.end(replace(known, root_ticks=processes.start_ticks(mapper.pid) or 0))
        assert mapper.wait(600) == -signal.SIGKILL
        assert file.exists()
        assert str(segment) in Path("/proc/sysvipc/shm").read_text().split()
    finally:
        mapper.kill()
        mapper.wait()
        file.unlink(missing_ok=True)
        registry.remove_shared_memory([segment])
