"""Memory of real processes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dbversus.host.memory import MemoryUse, memory_use, reset_peak

MEGABYTE = 2**20
# holds 64 MB, all of it written, and shares it with a child
HOLDER = """
import os, time
held = bytearray(os.urandom(1)) * (64 * 2**20)
child = os.fork()
if child:
    print(child, flush=True)
time.sleep(600)
"""


@contextmanager
def holder() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        child = int(process.stdout.readline())
        try:
            yield process
        finally:
            os.kill(child, 9)
            process.kill()


def used(pid: int) -> MemoryUse:
    use = memory_use(pid)
    assert use is not None
    return use


def test_shared_pages_count_once() -> None:
    with holder() as process:
        use = used(process.pid)
        assert use.processes == 2
        if use.pss_bytes is None:
            pytest.skip("this kernel has no smaps_rollup, or does not let us read it")
        assert 64 * MEGABYTE < use.pss_bytes < 100 * MEGABYTE
        assert use.rss_bytes > 128 * MEGABYTE
        assert 64 * MEGABYTE < use.peak_rss_bytes < 128 * MEGABYTE


def test_the_peak_outlives_the_memory_until_it_is_reset() -> None:
    program = "x = bytearray(b'1') * 2**26; del x; print(flush=True); input()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        before = used(process.pid)
        reset_peak(process.pid)
        after = used(process.pid)
        process.kill()
    assert before.rss_bytes < 64 * MEGABYTE < before.peak_rss_bytes
    assert after.peak_rss_bytes < 64 * MEGABYTE


def test_a_process_that_is_gone_has_none() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert memory_use(process.pid) is None
    reset_peak(process.pid)
