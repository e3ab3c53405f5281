"""What can be read in a binary without running it: the compiler that made it, and whether it holds a text."""

import mmap
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# PostgreSQL keeps a sentence on its compiler; other programs at least the compiler's own mark.
_SENTENCE = re.compile(rb"compiled by ([^,\0]{1,100}), \d+-bit")
_MARK = re.compile(rb"GCC: \(([^)\0]{1,80})\) (\d+(?:\.\d+)*)")


def compiler_of(binary: Path) -> str:
    """The compiler as the binary itself tells it, e.g. `gcc (Debian 12.2.0-14) 12.2.0`; empty when it does not.

    Start-up code of the C library carries the mark of the compiler that made that: the newest mark is the program's.
    """
    with _mapped(binary) as content:
        for sentence in _matches(content, b"compiled by ", _SENTENCE):
            return sentence.group(1).decode(errors="replace")
        marks = {mark.groups() for mark in _matches(content, b"GCC: (", _MARK)}
    if not marks:
        return ""
    package, version = max(marks, key=lambda mark: tuple(int(part) for part in mark[1].split(b".")))
    return f"gcc ({package.decode(errors='replace')}) {version.decode()}"


def holds_text(binary: Path, text: str) -> bool:
    """Is `text` in the binary?"""
    with _mapped(binary) as content:
        return content.find(text.encode()) >= 0


def _matches(content: mmap.mmap, start: bytes, pattern: re.Pattern[bytes]) -> Iterator[re.Match[bytes]]:
    """Matches of a pattern that begins with `start`: looking for that first is many times faster in a large file."""
    position = content.find(start)
    while position >= 0:
        match = pattern.match(content, position)
        if match is not None:
            yield match
        position = content.find(start, position + 1)


@contextmanager
def _mapped(binary: Path) -> Iterator[mmap.mmap]:
    with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        yield content
