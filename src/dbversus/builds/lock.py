"""One process at a time, also across crashes: the lock is the kernel's and goes with its holder."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from dbversus.builds.client import Progress
from dbversus.errors import RunError


@contextmanager
def locked(file: Path, progress: Progress) -> Iterator[None]:
    """Hold the lock `file`; says so when it has to wait for another process."""
    with _opened(file) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"another process works on {file.stem.lstrip('.')}; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def locked_if_free(file: Path) -> Iterator[bool]:
    """Hold the lock `file` when nobody else does; tells whether it is held."""
    with _opened(file) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _opened(file: Path) -> TextIO:
    try:
        return file.open("a", encoding="utf-8")
    except OSError as error:
        raise RunError(
            f"cannot write to {file.parent}: {error.strerror}; set DBVERSUS_HOME to a writable folder"
        ) from error
