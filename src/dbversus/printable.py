"""Text of servers, files and users as it may be shown: nothing in it steers a terminal or turns a line round.

Whatever a verb prints goes through `clean_output`; tables and progress, which are styled, through `report.terminal.make_console`.
"""

import contextlib
import errno
import re
import sys
from collections.abc import Iterator
from typing import Any, TextIO

# control characters but tab and line feed, separators of lines, marks of direction, halves of pairs
_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """The text with a replacement character for each that steers; tabs and line feeds stay."""
    return text if text.isascii() and text.isprintable() else _STEERS.sub("\ufffd", text)


class CleanStream:
    """A text stream to which nothing is written that steers a terminal; `plain` is the stream behind it."""

    def __init__(self, plain: TextIO):
        self.plain = plain

    def write(self, text: str) -> int:
        try:
            return self.plain.write(printable(text))
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return len(text)  # the terminal has been closed: nobody reads it any more

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)


@contextlib.contextmanager
def clean_output() -> Iterator[None]:
    """Standard output and error as clean streams, on which a character that the locale lacks is a question mark."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    sys.stdout, sys.stderr = (CleanStream(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
