"""The operating system's page cache: dropping what it holds of files, and looking whether it does."""

import contextlib
import ctypes
import mmap
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from dbversus.errors import UsageError

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
_CLEAN_PAGES = "1\n"
_TRIAL_BYTES = 4 * 2**20
_LIBC = ctypes.CDLL(None, use_errno=True)


def drop(directories: Sequence[Path]) -> str:
    """Writes back and drops what is cached of all files below `directories`; returns which way was used.

    `drop_caches`: the kernel's own switch, which empties the page cache of the whole host and needs root; where that is not
    allowed, `posix_fadvise` for each file. Neither touches pages that a running process has mapped.
    """
    _each_file(directories, os.fdatasync)  # only clean pages are dropped
    try:
        DROP_CACHES.write_text(_CLEAN_PAGES, encoding="utf-8")
    except OSError:
        _each_file(directories, lambda fd: os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED))
        return "posix_fadvise"
    return "drop_caches"


def _each_file(directories: Sequence[Path], action: Callable[[int], None]) -> None:
    """With a descriptor of each regular file; files that are gone or not ours to open are passed over."""
    for path in (path for directory in directories for path in directory.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        with contextlib.suppress(OSError):
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                action(fd)
            finally:
                os.close(fd)


def resident_bytes(path: Path) -> int:
    """How much of a file the page cache holds, in whole pages (mincore(2); all of it where that is not ours to know)."""
    if not path.stat().st_size:
        return 0
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    pages = (ctypes.c_ubyte * -(-mapped.size // mmap.PAGESIZE))()
    address = ctypes.c_void_p(mapped.ctypes.data)
    if _LIBC.mincore(address, ctypes.c_size_t(mapped.size), pages):
        raise OSError(ctypes.get_errno(), f"mincore of {path}")
    return sum(page & 1 for page in pages) * mmap.PAGESIZE


def check(folder: Path) -> str:
    """Which way drops the cache of files in `folder`, tried with one; raises UsageError when none does."""
    trial_dir = folder / ".page-cache"
    trial_dir.mkdir()
    trial = trial_dir / "trial"
    try:
        trial.write_bytes(os.urandom(_TRIAL_BYTES))
        way = drop([trial_dir])
        left_bytes = resident_bytes(trial)
    finally:
        trial.unlink(missing_ok=True)
        trial_dir.rmdir()
    if left_bytes > _TRIAL_BYTES // 2:
        raise UsageError(
            f"The page cache of files in {folder} cannot be dropped here ({way} left {left_bytes} of {_TRIAL_BYTES} bytes), so "
            "cold and mixed caches cannot be had; accepted: cache 'warm', or a DBVERSUS_HOME on a disk."
        )
    return way
