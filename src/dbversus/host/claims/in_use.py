"""Marks on what is kept in the home (builds, snapshots): who uses it now, and when it was last used.

The mark of a folder is the file `.NAME.used` beside it. Users share a lock on it; its time is that of the last use, since
the time of the last access (atime) is not kept on many file systems.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from dbversus.host.claims.lock import holder_pid

_MODE = 0o666


@contextlib.contextmanager
def using(path: Path) -> Iterator[None]:
    """Nobody removes `path` while this lasts, which need not exist yet. Waits for a removal that is under way."""
    fd = _open(path)
    try:
        if fd is not None:
            fcntl.flock(fd, fcntl.LOCK_SH)
            _touch(fd)
        yield
    finally:
        if fd is not None:
            _touch(fd)
            os.close(fd)


def touch(path: Path) -> None:
    """`path` is used now, for a moment."""
    with using(path):
        pass


@contextlib.contextmanager
def removing(path: Path) -> Iterator[str]:
    """Nobody begins to use `path` while this lasts. Yields who uses it already; "" when nobody does."""
    fd = _open(path)
    try:
        yield "" if fd is None else _users(fd)
    finally:
        if fd is not None:
            os.close(fd)


def user_of(path: Path) -> str:
    """Who uses `path` now, in words; "" when nobody does."""
    if not _mark(path).exists():
        return ""
    with removing(path) as user:
        return user


def last_used_unix_s(path: Path) -> float:
    """When `path` was last used, as far as is known; of what was made before there were marks, when it was made."""
    for known in (_mark(path), path):
        with contextlib.suppress(OSError):
            return known.stat().st_mtime
    return 0.0


def _users(fd: int) -> str:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = holder_pid(fd)
        return f"process {pid}" if pid else "another process"
    return ""


def _mark(path: Path) -> Path:
    return path.with_name(f".{path.name}.used")


def _open(path: Path) -> int | None:
    """None where we may not write: a home of another user, from which nothing is removed by us either."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(_mark(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE)
    except OSError:
        return None


def _touch(fd: int) -> None:
    with contextlib.suppress(OSError):
        os.utime(fd)
