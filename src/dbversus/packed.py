"""What packed files may unpack to. Kilobytes can hold terabytes, so whoever unpacks a file counts (docs/safety.md)."""

import io
from pathlib import Path
from typing import BinaryIO

from dbversus.errors import UsageError

PLAIN_BYTES = 1 << 30
MOST_TIMES = 100
"""Text and programs are packed to a fifth or a tenth, tables of repeated values to a fiftieth; zeros to a thousandth."""
_BUFFER_BYTES = 1 << 16


class TooMuch(UsageError):
    """A packed file holds more than is believed."""


class Allowance:
    """What may still come out of a packed file: 1 GiB, or 100 times its size where that is more."""

    def __init__(self, path: Path):
        self.path = path
        self.most_bytes = self.left_bytes = max(PLAIN_BYTES, MOST_TIMES * path.stat().st_size)

    def take(self, count_bytes: int) -> None:
        """Raises TooMuch where it is not there any more."""
        self.left_bytes -= count_bytes
        if self.left_bytes < 0:
            raise TooMuch(
                f"{self.path} unpacks to more than {self.most_bytes / 1e9:,.1f} GB and is refused: accepted are 1.1 GB (1 GiB), "
                f"or {MOST_TIMES} times its own size. If that is what it should hold, unpack it yourself and name what came out."
            )


class Counted(io.RawIOBase):
    """The text of a packed file, read through `unpacking`: what is read, or sought past, for the first time counts."""

    def __init__(self, unpacking: BinaryIO, allowance: Allowance):
        self._unpacking, self._allowance = unpacking, allowance
        self._at_bytes = self._furthest_bytes = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._unpacking.seekable()

    def tell(self) -> int:
        return self._at_bytes

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._count(self._unpacking.seek(offset, whence))

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        read = self._unpacking.read(len(buffer))
        buffer[: len(read)] = read
        self._count(self._at_bytes + len(read))
        return len(read)

    def close(self) -> None:
        self._unpacking.close()
        super().close()

    def _count(self, at_bytes: int) -> int:
        self._allowance.take(max(at_bytes - self._furthest_bytes, 0))
        self._at_bytes, self._furthest_bytes = at_bytes, max(at_bytes, self._furthest_bytes)
        return at_bytes


def counted(unpacking: BinaryIO, allowance: Allowance) -> io.BufferedReader:
    """What `Counted` says, buffered."""
    return io.BufferedReader(Counted(unpacking, allowance), _BUFFER_BYTES)
