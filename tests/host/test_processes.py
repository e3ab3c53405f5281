import mmap
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.host import processes

SLEEPER = "import subprocess, sys, time; subprocess.Popen(['sleep', '600']); print('up', flush=True); time.sleep(600)"


@pytest.fixture
def tree(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process with one child, both in tmp_path."""
    made = subprocess.Popen([sys.executable, "-c", SLEEPER], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert made.stdout
    made.stdout.readline()
    yield made
    processes.kill_all(lambda: [made.pid, *processes.descendants(made.pid)])
    made.wait()
    made.stdout.close()


def test_a_tree_is_found_and_killed(tree: "subprocess.Popen[str]") -> None:
    pids = processes.descendants(tree.pid)
    assert len(pids) == 1
    assert processes.kill_all(lambda: [tree.pid, *processes.descendants(tree.pid)]) == []
    tree.wait()
    assert not processes.is_alive(tree.pid)
    end = time.monotonic() + 600
    while processes.is_alive(pids[0]) and time.monotonic() < end:
        time.sleep(0.01)
    assert not processes.is_alive(pids[0])


def test_a_stopped_process_is_killed_and_a_zombie_is_not_alive(tree: "subprocess.Popen[str]") -> None:
    os.kill(tree.pid, signal.SIGSTOP)
    assert processes.kill_all(lambda: [tree.pid]) == []
    stat = processes.read_stat(tree.pid)
    assert stat is not None  # nobody has waited for it yet
    assert not processes.is_alive(tree.pid)


def test_a_pid_with_its_start_time_names_one_process(tree: "subprocess.Popen[str]") -> None:
    ticks = processes.start_ticks(tree.pid)
    assert ticks is not None
    assert processes.is_alive(tree.pid, ticks)
    assert not processes.is_alive(tree.pid, ticks - 1)
    assert processes.start_ticks(2**22 + 1) is None


def test_processes_are_found_by_where_they_work_and_what_they_execute(
    tree: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    child = processes.descendants(tree.pid)[0]
    assert processes.working_in(tmp_path, processes.program_of(child)) == [child]
    assert processes.working_in(tmp_path, "/bin/other") == []
    assert processes.working_in(tmp_path / "below", processes.program_of(child)) == []


def test_a_name_with_parentheses_does_not_confuse(tmp_path: Path) -> None:
    odd = tmp_path / "a) R 1 (b"
    odd.symlink_to("/bin/sleep")
    process = subprocess.Popen([str(odd), "60"])
    try:
        stat = processes.read_stat(process.pid)
        assert stat is not None
        assert stat.parent == os.getpid()
    finally:
        process.kill()
        process.wait()


def test_files_of_data_in_memory_are_no_shared_memory() -> None:
    """A server may map its logs where its data lies in /dev/shm: these must not be removed as segments are."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        for path in (folder / "log", Path(f"{folder}-segment")):
            path.write_bytes(b"x" * 4096)
        with (folder / "log").open() as log, Path(f"{folder}-segment").open() as segment:
            kept = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) for file in (log, segment)]
            paths, _ = processes.shared_memory(os.getpid(), os.getuid())
            mapped = processes.mapped_files(os.getpid())
            assert f"{folder}-segment" in paths
            assert str(folder / "log") not in paths
            assert {str(folder / "log"), f"{folder}-segment"} <= mapped
            for one in kept:
                one.close()
    finally:
        shutil.rmtree(folder)
        Path(f"{folder}-segment").unlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_shared_memory_of_other_users_is_not_a_servers_own() -> None:
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        file.truncate(mmap.PAGESIZE)
        with mmap.mmap(file.fileno(), mmap.PAGESIZE):
            assert file.name in processes.shared_memory(os.getpid(), os.getuid())[0]
            os.chown(file.name, 54321, 54321)
            assert file.name not in processes.shared_memory(os.getpid(), os.getuid())[0]
