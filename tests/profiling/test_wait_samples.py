"""Waits read from /proc: of a real process, calls numbered as the kernel does, and a kernel that refuses."""

import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.profiling.wait_samples import WaitSamples, calls_of

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.fixture
def waiting() -> Iterator[int]:
    """A process that waits for its standard input."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.communicate(b"\n")


@pytest.mark.skipif(not calls_of(platform.machine()), reason="system calls of this machine have no names here")
def test_a_process_that_waits_is_met_in_its_system_call(waiting: int) -> None:
    samples = WaitSamples([waiting])
    try:
        deadline_s = time.monotonic() + 60
        while not any(one.stack == ("[kernel] read",) for one in list(samples.waits())):
            assert time.monotonic() < deadline_s
            time.sleep(0.02)
    finally:
        samples.end()
    waits = [one for one in samples.waits() if one.stack == ("[kernel] read",)]
    assert all(one.thread == waiting and one.ended_ns > one.began_ns for one in waits)
    assert abs(waits[0].began_ns - time.time_ns()) < 600 * 10**9
    samples.remove()
    assert list(samples.waits()) == []


@pytest.mark.parametrize("machine", HEADERS)
def test_system_calls_have_the_numbers_of_the_kernel(machine: str) -> None:
    header = HEADERS[machine]
    if not header.is_file():
        pytest.skip(f"{header} is not here (linux-libc-dev)")
    known = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    numbers = {name: int(number) for name, number in known}
    for number, name in calls_of(machine).items():
        assert numbers[name] == number, name


def test_a_kernel_that_tells_nothing_is_named_with_what_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path, **_: object) -> str:
        if path.name == "syscall":
            raise PermissionError(1, "Operation not permitted")
        return "1 (a) name) S 0 0"

    monkeypatch.setattr(Path, "read_text", read)
    samples = WaitSamples([1])
    deadline_s = time.monotonic() + 60
    while not samples._refused and time.monotonic() < deadline_s:
        time.sleep(0.01)
    samples.end()
    with pytest.raises(RunError, match=r"Operation not permitted.*ptrace_scope"):
        list(samples.waits())
