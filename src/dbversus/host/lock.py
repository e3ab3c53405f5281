"""One measurement at a time on a host: two would disturb each other and both be wrong."""

import fcntl
import json
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from dbversus.errors import RunError
from dbversus.home import public_dir


class HostLock:
    """Holds the host until closed, or until this process ends, however it does. A context manager."""

    def __init__(self, file_descriptor: int):
        self._fd = file_descriptor

    def close(self) -> None:
        if self._fd >= 0:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def acquire_host(wait: bool = False, what: str = "an experiment", home: Path | None = None) -> HostLock:
    """Takes the host for `what` (shown to whoever is refused).

    When another process has it: waits for that to end if `wait`, else raises RunError naming its pid and what it does.
    """
    path = (home or public_dir()) / "host.lock"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps({"pid": os.getpid(), "what": what, "since_unix_s": int(time.time())}).encode(), 0)
    except BlockingIOError:
        owner = _owner(fd)
        os.close(fd)
        raise RunError(f"This host is in use by {owner}; wait for it to end (--wait) or stop it.") from None
    except BaseException:
        os.close(fd)
        raise
    return HostLock(fd)


def _owner(fd: int) -> str:
    try:
        info = json.loads(os.pread(fd, 4096, 0))
        minutes = (time.time() - info["since_unix_s"]) / 60
        return f"process {info['pid']} ({info['what']}, for {minutes:.0f} min)"
    except (ValueError, KeyError, TypeError):
        return "another dbversus process"
