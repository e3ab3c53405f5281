"""Lines of a file, with bounded memory."""

import os
from collections.abc import Iterator
from pathlib import Path

from dbversus.errors import UsageError

LONGEST_LINE_BYTES = 1 << 20
"""No benchmark prints longer ones; a file that has them is of another kind."""
_HEAD_BYTES = 1 << 16

Lines = Iterator[tuple[int, str]]


class Text:
    """A file as text: `head`, its first 64 kB, and its lines, numbered from 1. A small file is read in one piece.

    Bytes that are no UTF-8 are replaced. Raises UsageError for what is no text, OSError for what cannot be read.
    """

    def __init__(self, path: str, shown: str):
        self._path = path
        self._shown = shown
        # a third of the time that a file object takes
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            first = os.read(number, _HEAD_BYTES)
        finally:
            os.close(number)
        if b"\0" in first:
            raise UsageError(f"{shown} is no text: it has bytes of value 0.")
        self.head = first.decode(errors="replace")
        self.ended = len(first) < _HEAD_BYTES
        """All of the file is in `head`."""
        self.last_line = 0

    def __iter__(self) -> Lines:
        if self.ended:
            rows = self._small()
            self.last_line = len(rows)
            return enumerate(rows, 1)
        return self._long()

    def _small(self) -> list[str]:
        rows = self.head.split("\n")
        if not rows[-1]:
            rows.pop()
        return [row.removesuffix("\r") for row in rows] if "\r" in self.head else rows

    def _long(self) -> Lines:
        with Path(self._path).open("rb") as file:
            while row := file.readline(LONGEST_LINE_BYTES + 1):
                self.last_line += 1
                if len(row) > LONGEST_LINE_BYTES or b"\0" in row:
                    why = "it has bytes of value 0" if b"\0" in row else "it is longer than 1 MB"
                    raise UsageError(f"{self._shown}, line {self.last_line} is no line of a benchmark: {why}.")
                yield self.last_line, row.decode(errors="replace").rstrip("\r\n")
