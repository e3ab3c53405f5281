"""How long the data disk takes to make a small write durable: what bounds commits that wait for it."""

import math
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dbversus.errors import RunError

# as many bytes as a segment of a write-ahead log
_FILE_BYTES = 16 * 2**20
AT_LEAST = 20


@dataclass(frozen=True)
class SyncKind:
    """A write of `size_bytes` and the call that makes it durable.

    In place: over bytes that are there already, as in a log that is recycled (only the data has to reach the disk).
    `appended`: at the end of a growing file, as in a binary log (its new length has to, too).
    """

    call: str
    size_bytes: int
    appended: bool = False

    @property
    def name(self) -> str:
        """`fdatasync_4kB`, `fdatasync_4kB_appended`."""
        return f"{self.call}_{self.size_bytes // 1024}kB{'_appended' if self.appended else ''}"


@dataclass(frozen=True)
class SyncLatency:
    """Percentiles of `count` writes (or reads), µs, each until the return of the call."""

    count: int
    p50_us: float
    p95_us: float
    p99_us: float


KINDS = (
    SyncKind("fdatasync", 4096),
    SyncKind("fdatasync", 16384),
    SyncKind("fsync", 4096),
    SyncKind("fsync", 16384),
    SyncKind("fdatasync", 4096, appended=True),
)
_CALLS: dict[str, Callable[[int], None]] = {"fdatasync": os.fdatasync, "fsync": os.fsync}


def sync_latency(folder: Path, seconds: float = 1.0, most: int = 1000) -> dict[str, dict[str, Any]]:
    """Name of each of KINDS → its SyncLatency as a dict, on the file system of `folder`, where nothing is left behind.

    Each kind takes up to `seconds` or `most` writes, but at least 20 writes. Raises RunError with the system's words.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix="sync-") as scratch:
            return {kind.name: asdict(_measure(Path(scratch) / kind.name, kind, seconds, most)) for kind in KINDS}
    except OSError as error:
        raise RunError(f"The latency of fsync in {folder} cannot be measured: {error.strerror or error}.") from error


def _measure(path: Path, kind: SyncKind, seconds: float, most: int) -> SyncLatency:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        if not kind.appended:
            # written, not merely reserved: a file system keeps account of which reserved bytes have been written
            os.pwrite(fd, bytes(_FILE_BYTES), 0)
            os.fsync(fd)
        return summary(_samples(fd, kind, seconds, most))
    finally:
        os.close(fd)


def _samples(fd: int, kind: SyncKind, seconds: float, most: int) -> list[int]:
    """Nanoseconds of one write after the other."""
    sync, content = _CALLS[kind.call], os.urandom(kind.size_bytes)
    deadline_ns = time.perf_counter_ns() + int(seconds * 1e9)
    samples: list[int] = []
    while len(samples) < most:
        offset = len(samples) * kind.size_bytes
        began_ns = time.perf_counter_ns()
        os.pwrite(fd, content, offset if kind.appended else offset % _FILE_BYTES)
        sync(fd)
        ended_ns = time.perf_counter_ns()
        samples.append(ended_ns - began_ns)
        if ended_ns > deadline_ns and len(samples) >= AT_LEAST:
            break
    return samples


def summary(samples: list[int]) -> SyncLatency:
    """Of so many nanoseconds each."""
    ordered = sorted(samples)

    def percentile_us(share: float) -> float:
        return round(ordered[math.ceil(share * len(ordered)) - 1] / 1e3, 1)

    return SyncLatency(len(ordered), percentile_us(0.50), percentile_us(0.95), percentile_us(0.99))
