"""What threads wait for where perf may not tell it: the system call that each is in, read from /proc some hundred times a second.

Which function made the call is not known, and waits of less than a millisecond or two are told by how many were met.
"""

import platform
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from dbversus.errors import RunError
from dbversus.profiling.symbols import KERNEL, system_call
from dbversus.profiling.waits import Wait

EVENT = "/proc/*/syscall"
_EVERY_S = 0.002
_END_S = 5.0
_ASLEEP = "SDI"
"""States of a thread that waits, as /proc/*/stat has them."""
_CALLS = {
    "x86_64": "read 0 write 1 open 2 close 3 poll 7 pread64 17 pwrite64 18 readv 19 writev 20 select 23 msync 26 nanosleep 35 "
    "sendto 44 recvfrom 45 sendmsg 46 recvmsg 47 semop 65 fcntl 72 flock 73 fsync 74 fdatasync 75 truncate 76 "
    "ftruncate 77 rename 82 unlink 87 futex 202 io_getevents 208 io_submit 209 restart_syscall 219 semtimedop 220 "
    "clock_nanosleep 230 epoll_wait 232 openat 257 unlinkat 263 pselect6 270 ppoll 271 sync_file_range 277 "
    "epoll_pwait 281 fallocate 285 preadv 295 pwritev 296 io_uring_enter 426",
    "aarch64": "io_submit 2 io_getevents 4 epoll_pwait 22 fcntl 25 flock 32 unlinkat 35 truncate 45 ftruncate 46 fallocate 47 "
    "openat 56 close 57 read 63 write 64 readv 65 writev 66 pread64 67 pwrite64 68 preadv 69 pwritev 70 pselect6 72 "
    "ppoll 73 fsync 82 fdatasync 83 sync_file_range 84 futex 98 nanosleep 101 clock_nanosleep 115 restart_syscall 128 "
    "semtimedop 192 semop 193 sendto 206 recvfrom 207 sendmsg 211 recvmsg 212 msync 227 io_uring_enter 426",
}
"""Those in which a server may wait, as the kernel numbers them (asm/unistd.h)."""


def calls_of(machine: str) -> dict[int, str]:
    """Number → name."""
    words = _CALLS.get(machine, "").split()
    return {int(number): name for name, number in zip(words[::2], words[1::2], strict=True)}


class WaitSamples:
    """A thread that reads until it is ended; used as a `perf.Recording` is."""

    def __init__(self, tasks: Sequence[int]):
        self._tasks = tasks
        self._read: list[tuple[int, int, str | None]] = []
        self._refused = ""
        self._ended = threading.Event()
        self._reader = threading.Thread(target=self._run, name="waits", daemon=True)
        self._reader.start()

    def _run(self) -> None:
        while not self._ended.wait(_EVERY_S):
            now_ns = time.time_ns()
            for task in self._tasks:
                with suppress(OSError):  # it has ended
                    self._read.append((task, now_ns, self._call(task)))

    def _call(self, task: int) -> str | None:
        """Number of the system call, or no number where it was gone before it was read; None: the thread does not wait."""
        folder = Path(f"/proc/{task}")
        state = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0]
        if state not in _ASLEEP:
            return None
        try:
            return (folder / "syscall").read_text(encoding="ascii").partition(" ")[0].strip()
        except PermissionError as error:
            self._refused = str(error)
            return ""

    def end(self) -> None:
        self._ended.set()
        self._reader.join(_END_S)

    def waits(self) -> Iterator[Wait]:
        """From one reading to the next, with the call that the thread was in at the first of them.

        Raises RunError where the kernel tells nobody which call that is.
        """
        if self._refused:
            raise RunError(
                f"The kernel does not tell which system call a server waits in ({self._refused}): run as root, or set "
                "kernel.yama.ptrace_scope to 0 or 1."
            )
        names = calls_of(platform.machine())
        began: dict[int, tuple[int, str | None]] = {}
        for task, now_ns, call in self._read:
            since_ns, last = began.get(task, (now_ns, None))
            if last is not None:
                stack = (f"{KERNEL} {_name(int(last), names)}",) if last.isdecimal() else ()
                yield Wait(task, since_ns, now_ns, preempted=False, stack=stack)
            began[task] = now_ns, call

    def remove(self) -> None:
        self._read.clear()


def _name(number: int, names: dict[int, str]) -> str:
    return system_call(names.get(number, f"system call {number}"))
