"""Processes as /proc shows them: who is alive, who descends from whom, and how to end a whole tree."""

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_KERNEL_THREAD = 0x0020_0000
"""PF_KTHREAD of the kernel's flags (include/linux/sched.h)."""


class Stat(NamedTuple):
    """Of /proc/PID/stat: state letter, parent, start time in clock ticks since boot.

    `cpu_ticks`: clock ticks of CPU time, with those of children that were waited for.
    """

    state: str
    parent: int
    start_ticks: int
    flags: int
    cpu_ticks: int

    @property
    def is_kernel_thread(self) -> bool:
        return bool(self.flags & _KERNEL_THREAD)


def end_with_parent(how: signal.Signals, parent: int) -> None:
    """From now on this process gets the signal when the *thread* that started it ends; where `parent` has ended before, it ends
    at once."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, how, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(127)


def read_stat(pid: int) -> Stat | None:
    """None when there is no such process."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace", encoding="utf-8")
    except OSError:
        return None
    # the command name is in parentheses and may itself hold spaces and parentheses
    fields = text.rpartition(")")[2].split()
    return Stat(fields[0], int(fields[1]), int(fields[19]), int(fields[6]), sum(map(int, fields[11:15])))


def start_ticks(pid: int) -> int | None:
    """When the process started; with the pid it names a process for as long as the host is up. None: not alive."""
    stat = read_stat(pid)
    return None if stat is None or stat.state in "ZX" else stat.start_ticks


def is_alive(pid: int, ticks: int | None = None) -> bool:
    """Whether the process lives (a zombie does not) and, when `ticks` is given, is the one that started then."""
    found = start_ticks(pid)
    return found is not None and (ticks is None or found == ticks)


def boot_id() -> str:
    """Changes with every boot of the host."""
    return (PROC / "sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()


def all_pids() -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def descendants(root: int) -> list[int]:
    """All processes below `root`, parents before children; `root` itself is not among them."""
    return below(root, all_stats())


def all_stats() -> dict[int, Stat]:
    """Those of all processes, kernel threads among them."""
    return {pid: stat for pid in all_pids() if (stat := read_stat(pid))}


def below(root: int, stats: Mapping[int, Stat]) -> list[int]:
    """As `descendants`, among `stats`."""
    children: dict[int, list[int]] = {}
    for pid, stat in stats.items():
        children.setdefault(stat.parent, []).append(pid)
    found: list[int] = []
    frontier = [root]
    while frontier:
        next_ones = children.get(frontier.pop(), [])
        found += next_ones
        frontier += next_ones
    return found


def program_of(pid: int) -> str:
    """Path of the program that a process executes; "" when it is gone or not ours to look at."""
    return _link(pid, "exe")


def command_line(pid: int) -> list[str]:
    """The words that a process was started with; empty when it is gone or not ours to look at."""
    try:
        text = (PROC / str(pid) / "cmdline").read_text(errors="replace", encoding="utf-8")
    except OSError:
        return []
    return [word for word in text.split("\0") if word]


def working_in(directory: Path, program: str) -> list[int]:
    """Live processes that execute `program` with `directory`, or one below it, as their current directory.

    A database server works in its data directory, so this finds what is left of one whose root process is gone.
    """
    inside = str(directory.resolve())
    found = []
    for pid in all_pids():
        where = _link(pid, "cwd")
        if (where == inside or where.startswith(inside + "/")) and _link(pid, "exe") == program and is_alive(pid):
            found.append(pid)
    return found


def _link(pid: int, name: str) -> str:
    try:
        return os.readlink(PROC / str(pid) / name).removesuffix(" (deleted)")  # noqa: PTH115 (it returns a text)
    except OSError:
        return ""


def mapped_files(pid: int) -> set[str]:
    """Paths of the files that a process maps (its program, libraries); empty when it is gone or not ours to look at."""
    return {fields[5].removesuffix(" (deleted)") for fields in _maps(pid) if len(fields) == 6}


def _maps(pid: int) -> list[list[str]]:
    """The lines of /proc/PID/maps, as up to 6 fields each."""
    try:
        lines = (PROC / str(pid) / "maps").read_text(errors="replace", encoding="utf-8").splitlines()
    except OSError:
        return []
    return [line.split(maxsplit=5) for line in lines]


def shared_memory(pid: int, uid: int) -> tuple[list[str], list[int]]:
    """POSIX segments (paths) and System V segments (ids) of user `uid` that a process maps; they outlive a server that is killed.

    Segments of other users are not its own, though it may read them.
    """
    mappings = [(fields[4], fields[5]) for fields in _maps(pid) if len(fields) == 6]
    paths = {name.removesuffix(" (deleted)") for _, name in mappings}
    mapped = {int(inode) for inode, name in mappings if name.startswith("/SYSV")}
    own = {each["shmid"] for each in _segments() if each["uid"] == uid} if mapped else set()
    return sorted(path for path in paths if is_segment(path) and is_owned_by(path, uid)), sorted(mapped & own)


def is_segment(path: str) -> bool:
    """Whether a POSIX segment has such a path; deeper ones are files of somebody's data."""
    return path.startswith("/dev/shm/") and path.count("/") == 3


def is_owned_by(path: str, uid: int) -> bool:
    try:
        return Path(path).lstat().st_uid == uid
    except OSError:
        return False


def _segments() -> list[dict[str, int]]:
    """All System V segments: proc(5), /proc/sysvipc/shm."""
    try:
        lines = (PROC / "sysvipc/shm").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    names = lines[0].split()
    return [dict(zip(names, map(int, line.split()), strict=True)) for line in lines[1:]]


def unused_segments_by(pid: int, uid: int) -> list[int]:
    """System V segments (ids) of user `uid` that this process made and no process has attached."""
    own = (each for each in _segments() if each["uid"] == uid)
    return [each["shmid"] for each in own if each["cpid"] == pid and not each["nattch"]]


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Signals processes; those that are gone, or not ours, are passed over."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def kill_all(find: Callable[[], list[int]], limit_s: float = 10) -> list[int]:
    """SIGKILLs what `find` returns until it returns nothing; returns what is left after `limit_s`.

    They are stopped first, so that none can start another between being found and being killed.
    """
    deadline = time.monotonic() + limit_s
    while (pids := [pid for pid in find() if is_alive(pid)]) and time.monotonic() < deadline:
        send(pids, signal.SIGSTOP)
        pids = sorted({*pids, *find()})
        send(pids, signal.SIGKILL)
        time.sleep(0.01)
    return pids
