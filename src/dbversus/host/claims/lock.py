"""One measurement at a time on a host, whoever runs it and from which home: two would disturb each other and both be wrong.

The lock is the kernel's (`flock`) on a file that all users share. An abstract Unix socket needs no file, but it is known
only inside one network namespace: two containers on a host would not see each other's, and nobody could make them. A
file can be mounted into both, it holds what is running, and like the socket it is free again as soon as its holder is
dead.
"""

import contextlib
import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from dbversus.errors import RunError, UsageError
from dbversus.home import PUBLIC_MODE, expanded
from dbversus.host.processes import PROC, command_line
from dbversus.printable import printable
from dbversus.units import show_duration

VARIABLE = "DBVERSUS_HOST_LOCK"
_NAME = "dbversus.lock"
_INFO_BYTES = 4096
_ASK_AGAIN_S = 0.5
# any user may have to say in it what is running; holding the lock needs no right but to read
_MODE = 0o666
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class HostLock:
    """Holds the host until closed, or until this process ends, however it does. A context manager."""

    def __init__(self, file_descriptor: int):
        self._fd = file_descriptor

    def close(self) -> None:
        if self._fd >= 0:
            _write(self._fd, b"")
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def acquire_host(
    wait: bool = False,
    what: str = "an experiment",
    path: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> HostLock:
    """Takes the host for `what` (shown to whoever is refused).

    When another process has it: says so and waits for that to end if `wait`, else raises RunError naming its pid and
    what it does. `path`: the lock file, default `lock_path()`.
    """
    path = path or lock_path()
    while True:
        fd = _open(path)
        try:
            _lock(fd, wait, say)
            if not _is_at(fd, path):  # somebody removed the file while we waited: it locks nothing any more
                os.close(fd)
                continue
            info = {"pid": os.getpid(), "what": what, "since_unix_s": int(time.time())}
            _write(fd, json.dumps(info).encode()[:_INFO_BYTES])
        except BaseException:
            os.close(fd)
            raise
        return HostLock(fd)


def lock_path() -> Path:
    """The file in DBVERSUS_HOST_LOCK, else one that is the same for every user and home.

    /run/lock is never swept and is the same for services with a private /tmp, but some distributions let only root
    write there; then it is /tmp. The choice depends on the folder's mode alone, which all users see alike.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return expanded(named)
    shared = Path("/run/lock")
    with contextlib.suppress(OSError):
        if shared.stat().st_mode & stat.S_IWOTH:
            return shared / _NAME
    return Path("/tmp") / _NAME


def _open(path: Path) -> int:
    """The lock file, made if it is not there. Another user's is opened as far as we may: to read is enough."""
    try:
        if not path.parent.exists():
            path.parent.mkdir(mode=PUBLIC_MODE, parents=True, exist_ok=True)
        fd = None
        while fd is None:
            fd = _open_existing(path)
            if fd is None:
                fd = _create(path)
    except OSError as error:
        # a symbolic link is not followed: in a folder that all may write to, it could lead to any file of ours
        raise _unusable(
            path, "is a symbolic link" if error.errno == errno.ELOOP else f"cannot be opened: {error.strerror}"
        ) from error
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(fd)
        raise _unusable(path, "is not a plain file of its own")
    return fd


def _unusable(path: Path, why: str) -> UsageError:
    return UsageError(f"The lock of this host, {path}, {why}; name a file that you may read and write in {VARIABLE}.")


def _open_existing(path: Path) -> int | None:
    # without O_CREAT: with fs.protected_regular the kernel refuses that for another user's file in a sticky folder
    try:
        return os.open(path, os.O_RDWR | _FLAGS)
    except FileNotFoundError:
        return None
    except (PermissionError, IsADirectoryError):
        return os.open(path, os.O_RDONLY | _FLAGS)


def _create(path: Path) -> int | None:
    """None when somebody else has just done it."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, _MODE)
    except FileExistsError:
        return None
    os.fchmod(fd, _MODE)  # whatever the umask
    return fd


def _lock(fd: int, wait: bool, say: Callable[[str], None]) -> None:
    """Asks again and again, since of several that wait another may be next: what is said names who has the host now."""
    told: list[int | None] = []
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pid, owner = holder_pid(fd), _owner(fd)
        if not wait:
            raise RunError(f"This host is in use by {owner}; wait for it to end (--wait) or stop it.")
        if told != [pid]:
            say(f"this host is in use by {owner}; waiting for it to end")
            told = [pid]
        time.sleep(_ASK_AGAIN_S)


def _is_at(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def _write(fd: int, info: bytes) -> None:
    """What is running, for others to read. The lock holds without it: where the disk is full or the file is not ours."""
    with contextlib.suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, info, 0)


def _owner(fd: int) -> str:
    """Who holds the lock: as the kernel says, else as the file does, which may be what an earlier one left."""
    pid = holder_pid(fd)
    try:
        info = json.loads(os.pread(fd, _INFO_BYTES, 0))
        if pid in (None, info["pid"]):
            since = show_duration(max(0.0, time.time() - info["since_unix_s"]))
            return f"process {int(info['pid'])} ({_line(str(info['what']))}, for {since})"
    except (ValueError, KeyError, TypeError):
        pass
    if pid is None:
        return "another dbversus process"
    return f"process {pid} ({_line(' '.join(command_line(pid))) or 'of another user'})"


def _line(text: str) -> str:
    """Any user may have written it: one line, in which nothing moves the cursor."""
    return printable(" ".join(text.split()))[:200]


def holder_pid(fd: int) -> int | None:
    """Who has a lock (`flock`) on an open file, as /proc/locks has it.

    None where there is no such file, or the holder is in another container.
    """
    found = os.fstat(fd)
    name = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    with contextlib.suppress(OSError, ValueError):
        for line in (PROC / "locks").read_text(encoding="utf-8").splitlines():
            fields = line.split()  # "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF"; one that waits has "->" second
            if fields[1:2] == ["FLOCK"] and fields[5] == name:
                return int(fields[4])
    return None
