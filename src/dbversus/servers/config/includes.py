"""Reads a server's own config file with all that it includes, in the order in which the server does."""

import codecs
import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from dbversus.errors import UsageError
from dbversus.servers.config.foreign_line import Include, Line, Part, PassedOver, Section

Parser = Callable[[str, Path], Iterable[Part]]
"""Takes a file apart: its text, and where it is for messages."""

_MOST_LEVELS = 10
"""MySQL, MariaDB and PostgreSQL follow no more."""
_MOST_FILES = 1000
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass
class Reading:
    """A file with what it includes. `files`: all that were read, the first one first. `notes`: what was not, and why."""

    path: Path
    parse: Parser
    in_folder: re.Pattern[str]
    lines: list[Line] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def read(self, path: Path, within: tuple[Path, ...] = ()) -> None:
        """Raises UsageError with file and line for what cannot be understood, and for a first file that cannot be read."""
        try:
            text = read_text(path)
        except UsageError as error:
            if not within:
                raise
            self.notes.append(f"{error}"[:-1])
            return
        self.files.append(path)
        if len(self.files) > _MOST_FILES:
            raise UsageError(f"{self.path} includes more than {_MOST_FILES} files; name a file that includes fewer.")
        for part in self.parse(text, path):
            if isinstance(part, Line):
                self.lines.append(replace(part, place=self._place(path, part.number)))
            elif isinstance(part, Section):
                self.sections.append(part.name)
            elif isinstance(part, PassedOver):
                self.notes.append(f"{self._place(path, part.number)}: {part.why}")
            else:
                self._include(part, path, (*within, path))

    def _include(self, include: Include, path: Path, within: tuple[Path, ...]) -> None:
        said = f"{self._place(path, include.number)}: {include.target}"
        found = self._find(include, path.parent)
        if found is None:
            server = "passes over it" if include.optional else "does not start without it"
            self.notes.append(f"{said} is not here, so what it says is missing (the server {server})")
        elif len(within) > _MOST_LEVELS:
            self.notes.append(f"{said} is passed over: a server follows {_MOST_LEVELS} levels of includes at most")
        else:
            for file in [found] if include.of == "file" else self._files_in(found):
                if any(_is_same(file, other) for other in within):
                    self.notes.append(f"{said} is passed over: it includes a file that is being read already")
                else:
                    self.read(file, within)

    def _find(self, include: Include, folder: Path) -> Path | None:
        """Where an included file or folder is: beside the file that includes it, for a tree that was copied, or as written."""
        written = Path(include.target).expanduser()
        parts = written.parts[1:] if written.is_absolute() else written.parts
        tails = [Path(*parts[start:]) for start in range(len(parts) if written.is_absolute() else 1)]
        places = [place / tail for place in dict.fromkeys((folder, self.path.parent)) for tail in tails]
        places += [written] if written.is_absolute() else []
        return next((place for place in places if is_there(place, include.of)), None)

    def _files_in(self, folder: Path) -> Iterator[Path]:
        try:
            paths = sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name))
        except OSError as error:
            self.notes.append(f"{folder} cannot be read: {error.strerror}")
            return
        yield from (path for path in paths if self.in_folder.fullmatch(path.name) and is_there(path))

    def _place(self, path: Path, number: int) -> str:
        return f"line {number}" if path == self.path else f"{self.short(path)}:{number}"

    def short(self, path: Path) -> Path:
        """Its path, from the folder of the first file on where it is there."""
        return path.relative_to(self.path.parent) if path.is_relative_to(self.path.parent) else path


def read_whole(path: Path, parse: Parser, in_folder: str) -> Reading:
    """A file with all that it includes; `in_folder`: a pattern of the names that count in an included folder."""
    reading = Reading(path.absolute(), parse, re.compile(in_folder, re.DOTALL))
    reading.read(reading.path)
    return reading


def read_text(path: Path) -> str:
    """Raises UsageError naming the file. What is no UTF-8 is mostly a comment in Latin-1, and is read as that."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path.absolute()} cannot be read: {error.strerror}.") from error
    encoding = next((name for mark, name in _MARKS.items() if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise UsageError(f"{path.absolute()} cannot be read: {error}.") from error
        text = raw.decode("latin-1")
    if "\0" in text:
        raise UsageError(f"{path.absolute()} holds zero bytes: it is no text in UTF-8, nor in UTF-16 with its mark.")
    return text


def is_there(path: Path, of: Literal["file", "folder"] = "file") -> bool:
    """Not what may not be looked at, and no device or pipe."""
    with contextlib.suppress(OSError):
        return path.is_file() if of == "file" else path.is_dir()
    return False


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
