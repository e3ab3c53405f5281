"""Lines of a file, packed or not, with bounded memory."""

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from dbversus.errors import UsageError
from dbversus.packed import Allowance, TooMuch, counted

LONGEST_LINE = 1 << 20
"""No benchmark prints a longer line; the rest of one that is longer is passed over."""
_HEAD_BYTES = 1 << 16
_SHOWN_OF_LONG = 200
_PACKED: Mapping[bytes, Callable[[str], Any]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
_NOT_READ = {b"(\xb5/\xfd": "packed by zstd", b"PK\x03\x04": "a zip file", b"7z\xbc\xaf": "packed by 7-Zip"}
_TAR, _TAR_AT = b"ustar", 257
PACKED_NAMES = (".gz", ".bz2", ".xz")
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
"""What reading a packed file raises where it is cut off or damaged."""
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
ENCODINGS = "utf-16, latin-1, cp1252"
"""Some that files may have."""
_REPLACED = "\ufffd"

Lines = Iterator[tuple[int, str]]


class Text:
    """A file as text: `head`, its first 64 kB, and its lines, numbered from 1. A small file is read in one piece.

    It is UTF-8, or what its first bytes say, else of `encoding` (empty: not known). Bytes that are none are replaced;
    `first_replaced`: the first line that has some. A line that is too long is cut off. `damage`: why lines ended before the file
    does, in words.

    Raises UsageError for what is no text, OSError or one of DAMAGED for what cannot be read.
    """

    def __init__(self, path: str, shown: str, encoding: str = ""):
        self._path = path
        self.shown = shown
        self.first_replaced = self.last_line = 0
        self.damage = ""
        first, self._open = _beginning(path, shown)
        if first[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
            raise UsageError(f"{shown} is a tar file; unpack it first.")
        self._encoding = _encoding_of(first, encoding)
        self.has_zeros = b"\0" in first and not self._encoding.startswith("utf-16")
        decoded = first.decode(self._encoding, errors="replace")
        self._is_lossy = _REPLACED in decoded
        self.head = decoded.replace("\0", _REPLACED)
        self.ended = len(first) < _HEAD_BYTES
        """All of the file is in `head`."""

    def __iter__(self) -> Lines:
        if self.ended:
            rows = self._small()
            self.last_line = len(rows)
            if self._is_lossy:
                self.first_replaced = next(number for number, row in enumerate(rows, 1) if _REPLACED in row)
            return enumerate(rows, 1)
        return self._long()

    def _small(self) -> list[str]:
        rows = self.head.split("\n")
        if not rows[-1]:
            rows.pop()
        return [row.removesuffix("\r") for row in rows] if "\r" in self.head else rows

    def _long(self) -> Lines:
        with io.TextIOWrapper(self._open(self._path), self._encoding, "replace", newline="\n") as file:
            while row := self._next_row(file):
                self.last_line += 1
                if not self.first_replaced and _REPLACED in row:
                    self.first_replaced = self.last_line
                if "\0" in row:
                    row = row.replace("\0", _REPLACED)
                yield self.last_line, row.rstrip("\r\n")

    def _next_row(self, file: io.TextIOWrapper) -> str:
        """Empty at the end, also of a file that is cut off or damaged there."""
        try:
            row = file.readline(LONGEST_LINE + 1)
            if len(row) <= LONGEST_LINE:
                return row
            part = row
            while part and not part.endswith("\n"):
                part = file.readline(LONGEST_LINE)
            return f"{row[:_SHOWN_OF_LONG]}… (this line is longer than 1 MB)"
        except DAMAGED as error:
            self.damage = f"it is packed, and cut off or damaged after line {self.last_line} ({error})"
            return ""
        except TooMuch as error:
            self.damage = f"only {self.last_line:,} lines were read: {str(error).removesuffix('.')}"
            return ""


def _beginning(path: str, shown: str) -> tuple[bytes, Callable[[str], IO[bytes]]]:
    """The first bytes of a file, unpacked, and what opens it."""
    # a third of the time that a file object takes
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        first = os.read(number, _HEAD_BYTES)
    finally:
        os.close(number)
    for magic, what in _NOT_READ.items():
        if first.startswith(magic):
            raise UsageError(f"{shown} is {what}; unpack it first. Plain files and {', '.join(PACKED_NAMES)} are read.")
    for magic, opener in _PACKED.items():
        if first.startswith(magic):
            with closing(opener(path)) as file:
                return file.read(_HEAD_BYTES), lambda of, opener=opener: counted(opener(of), Allowance(Path(of)))
    return first, lambda of: open(of, "rb")  # noqa: PTH123


def _encoding_of(first: bytes, given: str) -> str:
    """`given` is of what is not UTF-8: in one folder some files may be."""
    for mark, encoding in _MARKS.items():
        if first.startswith(mark):
            return encoding
    if not given:
        return "utf-8"
    try:
        # a character may be cut off at the end of what was read
        (first[:-3] if len(first) == _HEAD_BYTES else first).decode()
    except UnicodeDecodeError:
        return given
    return given if b"\0" in first else "utf-8"


def plain_name(name: str) -> str:
    """A file's name without what only says how it is packed."""
    return next((name.removesuffix(end) for end in PACKED_NAMES if name.endswith(end)), name)
