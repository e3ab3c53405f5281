"""A known slowdown of a server: the library that is preloaded into it, and the page by which it is told and read.

The library is engine/inject; engine/inject/src/page.rs has the same layout of the page. What it burns and reads is a share of
what the server really does, and is counted: the page tells how much was added, not only how much was asked for.
"""

import mmap
import os
import shutil
import struct
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import NamedTuple

from dbversus.errors import RunError
from dbversus.host import processes
from dbversus.host.user import ServerUser

VARIABLE = "DBVERSUS_INJECT"
LIBRARY = "libdbversus_inject.so"
PRELOAD = "LD_PRELOAD"
SCRATCH_SUFFIX = ".scratch"
SCRATCH_BYTES = 2**20

_MAGIC = b"dbvinjct"
_VERSION = 2
_PAGE_BYTES = 4096
_START = struct.Struct("@8sQ")
_EPOCH = struct.Struct("@Q")
_SHARES = struct.Struct("@2d")
_ERRNO = struct.Struct("@Q")
_BURSTS = struct.Struct("@3Q")
_COUNTERS = struct.Struct("@6Q")
_EPOCH_AT, _SHARES_AT, _ERRNO_AT, _BURSTS_AT, _COUNTERS_AT = 16, 24, 40, 48, 128


class Bursts(NamedTuple):
    """CPU is added in the first `burst_ns` of every `every_ns` of a thread's work, which begins `phase_ns` into the first.

    All three 0: all the time. Work is CPU time that the thread has used since shares were set, without what was added.
    """

    burst_ns: int
    every_ns: int
    phase_ns: int


ALWAYS = Bursts(0, 0, 0)


@dataclass(frozen=True)
class Injected:
    """What the library has seen and added since the page was made, summed over the server's processes and threads.

    `reads`: successful reads from sockets, of which a request takes one or two. `work_ns`: CPU time of threads between their
    reads; `burned_ns`: added to it. `io_bytes_seen`: read and written at file offsets, through the page cache or not;
    `io_bytes_added` in `io_reads_added` reads: past the page cache.
    """

    reads: int
    work_ns: int
    burned_ns: int
    io_bytes_seen: int
    io_bytes_added: int
    io_reads_added: int

    def __sub__(self, earlier: "Injected") -> "Injected":
        return Injected(*(late - early for late, early in zip(astuple(self), astuple(earlier), strict=True)))


def library_path(engine: Path) -> Path:
    """The library, which lies beside the engine's binary; raises RunError that says how to get it."""
    path = engine.resolve().parent / LIBRARY
    if not path.is_file():
        raise RunError(f"{path} is missing, without which nothing can be injected; `make engine` builds it.")
    return path


class Injection:
    """The control page of one server in `folder`, the file that is read on its behalf, and its own copy of the library.

    A copy, since the server's user can reach it wherever the original is, and since a build that replaces the original must
    not pull it from under a running server.
    """

    def __init__(self, folder: Path, library: Path, user: ServerUser):
        self.path = folder / "injection"
        self.scratch = folder / f"injection{SCRATCH_SUFFIX}"
        self.library = folder / LIBRARY
        shutil.copyfile(library, self.library)
        self.library.chmod(0o755)
        self._fill_scratch()
        self.path.write_bytes(_START.pack(_MAGIC, _VERSION).ljust(_PAGE_BYTES, b"\0"))
        for path in (self.path, self.scratch):
            path.chmod(0o600)
            user.give(path)
        with self.path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), _PAGE_BYTES)
        self.set_shares(0.0, 0.0)

    def _fill_scratch(self) -> None:
        """What is not on disk yet would be written, not read, by the first read past the page cache."""
        with self.scratch.open("wb") as file:
            file.write(os.urandom(SCRATCH_BYTES))
            file.flush()
            os.fsync(file.fileno())

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """`env` with the library in it, after libraries that are preloaded anyway."""
        others = env.get(PRELOAD, "").split()
        return {**env, PRELOAD: ":".join([*others, str(self.library)]), VARIABLE: str(self.path)}

    def set_shares(self, cpu: float, io: float, bursts: Bursts = ALWAYS) -> None:
        """From now on, CPU and bytes to add per CPU used and byte read or written; takes effect with the next request.

        Of CPU only what is used in `bursts` counts. Work that a thread has done before, also under the same shares, is not
        added to.
        """
        _SHARES.pack_into(self._page, _SHARES_AT, cpu, io)
        _BURSTS.pack_into(self._page, _BURSTS_AT, *bursts)
        (epoch,) = _EPOCH.unpack_from(self._page, _EPOCH_AT)
        _EPOCH.pack_into(self._page, _EPOCH_AT, epoch + 1)

    def read(self) -> Injected:
        return Injected(*_COUNTERS.unpack_from(self._page, _COUNTERS_AT))

    @property
    def io_refusal(self) -> str:
        """The system's words for why nothing can be read past the page cache; empty when it can."""
        (number,) = _ERRNO.unpack_from(self._page, _ERRNO_AT)
        return os.strerror(number) if number else ""

    def check_attached(self, pid: int) -> None:
        """Raises RunError when the process `pid` does not map the page, although it maps the library."""
        mapped = processes.mapped_files(pid)
        if mapped and str(self.path.resolve()) not in mapped:
            raise RunError(f"Nothing can be injected: {self.path} was not taken; the server's log says why.")
