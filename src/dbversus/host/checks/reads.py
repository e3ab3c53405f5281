"""How fast the data disk reads past the page cache: what bounds tests whose data is not in memory."""

import mmap
import os
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from dbversus.errors import RunError
from dbversus.host.checks.fsync import AT_LEAST, summary

_FILE_BYTES = 64 * 2**20
_CHUNK_BYTES = 2**20


@dataclass(frozen=True)
class ReadKind:
    """Reads of `size_bytes`, one after the other; random ones begin at a multiple of their size."""

    size_bytes: int
    is_random: bool

    @property
    def name(self) -> str:
        """`random_4kB`, `sequential_1024kB`."""
        return f"{'random' if self.is_random else 'sequential'}_{self.size_bytes // 1024}kB"

    def offsets(self) -> Iterator[int]:
        places, draw = _FILE_BYTES // self.size_bytes, random.Random(1)
        return (self.size_bytes * (draw.randrange(places) if self.is_random else number % places) for number in count())


KINDS = (ReadKind(4096, True), ReadKind(16384, True), ReadKind(2**20, False))


def read_latency(folder: Path, seconds: float = 0.2) -> dict[str, dict[str, Any]]:
    """Name of each of KINDS → count, percentiles and mean in µs, and MB/s, of O_DIRECT reads, on the file system of `folder`.

    Each kind takes `seconds`, but at least AT_LEAST reads of a file that was just written and is removed after. What a
    hypervisor or the disk keeps in a cache of its own is read from there. Raises RunError with the system's words.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix="reads-") as scratch:
            path = Path(scratch) / "file"
            _write(path)
            return {kind.name: _measure(path, kind, seconds) for kind in KINDS}
    except OSError as error:
        raise RunError(f"The latency of reads in {folder} cannot be measured: {error.strerror or error}.") from error


def _write(path: Path) -> None:
    content = os.urandom(_CHUNK_BYTES)
    with path.open("wb") as file:
        for _ in range(_FILE_BYTES // _CHUNK_BYTES):
            file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _measure(path: Path, kind: ReadKind, seconds: float) -> dict[str, Any]:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        samples = _samples(fd, kind, seconds)
    finally:
        os.close(fd)
    mean_us = sum(samples) / len(samples) / 1e3
    return {**asdict(summary(samples)), "mean_us": round(mean_us, 1), "mb_per_s": round(kind.size_bytes / mean_us, 1)}


def _samples(fd: int, kind: ReadKind, seconds: float) -> list[int]:
    """Nanoseconds of one read after the other."""
    samples: list[int] = []
    deadline_ns = time.perf_counter_ns() + int(seconds * 1e9)
    with mmap.mmap(-1, kind.size_bytes) as buffer:  # its address is a multiple of a page, as O_DIRECT needs it
        for offset in kind.offsets():
            began_ns = time.perf_counter_ns()
            os.preadv(fd, [buffer], offset)
            ended_ns = time.perf_counter_ns()
            samples.append(ended_ns - began_ns)
            if ended_ns > deadline_ns and len(samples) >= AT_LEAST:
                break
    return samples
