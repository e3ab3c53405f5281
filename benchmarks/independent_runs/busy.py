"""Other work on the host, made on purpose: a process that keeps one core busy."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

_SPIN = """
import os, sys
parent, cpus = int(sys.argv[1]), {int(cpu) for cpu in sys.argv[2:]}
if cpus:
    os.sched_setaffinity(0, cpus)
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""
"""Looks every few hundredths of a second for whoever started it, and ends when that is gone, however it went."""


@contextlib.contextmanager
def busy_core(cpu: int | None = None) -> Iterator[int]:
    """One thread of ours computes as long as this lasts; gives its pid. Where the scheduler puts it, unless `cpu` is named."""
    # -I -S: it needs nothing of ours; a session of its own: Ctrl-C is for us, who then end it
    command = [sys.executable, "-I", "-S", "-c", _SPIN, str(os.getpid()), *([] if cpu is None else [str(cpu)])]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()
