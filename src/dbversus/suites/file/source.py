"""A TOML file with its text, so that a mistake found late can still be reported with the line it stands on."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dbversus.errors import UsageError

Keys = Sequence[str | int]

MOST_CHARACTERS = 4_000_000
"""Of a file: what is longer would take minutes to parse."""


@dataclass(frozen=True, eq=False)
class Source:
    """The text of one TOML file and what it says."""

    path: str
    text: str
    document: dict[str, Any]

    def present(self, keys: Keys) -> list[str | int]:
        """`keys` without those that the document does not have (validators add some of their own)."""
        kept: list[str | int] = []
        node: Any = self.document
        for key in keys:
            if _has(node, key):
                kept.append(key)
                node = node[key]
        return kept

    def line_of(self, keys: Keys) -> int:
        """The line (from 1) on which the value at `keys` begins.

        tomllib gives no positions. But a file cut after some line is TOML again, at times once an open array is closed,
        or not: the value begins right after the longest such beginning that does not have it yet. That is found by
        bisection.
        """
        keys = self.present(keys)
        lines = self.text.splitlines()
        without, with_it = 0, len(lines)
        while (middle := _valid_between(lines, without, with_it)) is not None:
            length, document = middle
            if _reaches(document, keys):
                with_it = length
            else:
                without = length
        return without + 1


@dataclass(frozen=True)
class Place:
    """A value's place in its file. The line is looked for only when somebody asks, that is in an error message."""

    source: Source
    keys: tuple[str | int, ...] = ()

    def at(self, *keys: str | int) -> "Place":
        return Place(self.source, (*self.keys, *keys))

    def has(self, key: str | int) -> bool:
        """Whether the file has `key` here."""
        return self.source.present((*self.keys, key)) == [*self.keys, key]

    @property
    def line(self) -> int:
        return self.source.line_of(self.keys)

    def __str__(self) -> str:
        return f"{self.source.path}:{self.line}"

    def mistake(self, sentence: str) -> UsageError:
        """An error for the user, which starts with file and line."""
        return UsageError(f"{self}: {sentence}")


def read_source(path: Path) -> Source:
    """Reads and parses `path`; raises UsageError with file and line when it cannot be read or is no TOML."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MOST_CHARACTERS + 1)
        if len(text) > MOST_CHARACTERS:
            raise UsageError(f"{path} has more than {MOST_CHARACTERS:,} characters; a suite has some thousands.")
        return _parsed(str(path), text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(_syntax_sentence(path, text, str(error))) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text; it has to be a TOML file.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; name a TOML file.") from error


@lru_cache(maxsize=32)
def _parsed(path: str, text: str) -> Source:
    """The same source for the same text: a file that has not changed is parsed once."""
    return Source(path, text, tomllib.loads(text))


def _syntax_sentence(path: Path, text: str, message: str) -> str:
    """tomllib ends its messages with "(at line 3, column 5)" or "(at end of document)"."""
    what, _, where = message.rpartition(" (at ")
    line, _, column = where.rstrip(")").partition(", ")
    number = line.removeprefix("line ") if line.startswith("line ") else str(len(text.splitlines()))
    return f"{path}:{number}: this is not TOML: {what[:1].lower()}{what[1:]} ({column or 'at the end of the file'})."


def _has(node: Any, key: str | int) -> bool:
    if isinstance(node, dict):
        return key in node
    return isinstance(node, list) and isinstance(key, int) and key < len(node)


def _reaches(node: Any, keys: Keys) -> bool:
    for key in keys:
        if not _has(node, key):
            return False
        node = node[key]
    return True


def _valid_between(lines: list[str], low: int, high: int) -> tuple[int, dict[str, Any]] | None:
    """A number of lines strictly between low and high that make a document, near the middle, and that document."""
    middle = (low + high) // 2
    for length in (*range(middle, low, -1), *range(middle + 1, high)):
        for closing in ("", "\n]"):
            try:
                return length, tomllib.loads("\n".join(lines[:length]) + closing)
            except tomllib.TOMLDecodeError:
                continue  # cut in the middle of a value of several lines
    return None
