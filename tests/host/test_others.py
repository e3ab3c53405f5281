"""What others do on this host: processes that are not below ours, and the hypervisor."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from dbversus.host import others
from dbversus.host.processes import all_stats, below, descendants, is_alive

STAT = """cpu  100 10 50 900 40 3 7 30 0 0
cpu0 60 5 20 400 20 1 3 10 0 0
cpu1 40 5 30 500 20 2 4 20 0 0
intr 5 1 1
"""
SPIN = "while True: pass"


@pytest.fixture
def stranger() -> Iterator[int]:
    """A busy process that is not below us: the shell that started it has ended."""
    command = f"{sys.executable} -c '{SPIN}' > /dev/null 2>&1 & echo $!"
    pid = int(subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout)
    yield pid
    os.kill(pid, signal.SIGKILL)


def test_cpus_at_work_and_stolen_from_some_of_them() -> None:
    assert others.busy_and_stolen(STAT) == (170, 30)
    assert others.busy_and_stolen(STAT, [1]) == (170, 20)
    assert others.busy_and_stolen(STAT, [0, 1, 7]) == (170, 30)


def test_what_we_and_kernel_threads_used_is_no_foreign_work() -> None:
    before = others._Reading(10.0, 1000, 50, 300, {2: 10, 9: 400})
    after = others._Reading(12.0, 1400, 90, 380, {2: 30, 11: 70})  # 9 has ended, 11 is new
    found = others._between(before, after, 100)
    assert (found.seconds, found.foreign_cores, found.stolen_cores) == (2.0, 1.5, 0.2)
    assert others._between(after, before, 100).foreign_cores == 0


def test_our_processes_are_those_below_us() -> None:
    stats = all_stats()
    assert not stats[os.getpid()].is_kernel_thread and os.getpid() not in below(os.getpid(), stats)
    child = subprocess.Popen([sys.executable, "-c", SPIN])
    try:
        before = others._read(())
        while others._read(()).ours < before.ours + 10:
            assert is_alive(child.pid)
    finally:
        child.kill()
        child.wait()


@pytest.mark.alone
def test_a_stranger_who_is_busy_is_seen(stranger: int) -> None:
    assert stranger not in descendants(os.getpid())
    assert max(others.look(0.5).foreign_cores for _ in range(4)) > 0.5
