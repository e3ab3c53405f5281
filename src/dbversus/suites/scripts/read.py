"""Reads a script with the files that it includes: what is to be run, what is not, and what its database is called."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath

from dbversus.dbms.model import Family
from dbversus.errors import UsageError
from dbversus.suites.scripts.cut import Piece, cut, shown
from dbversus.suites.scripts.rules import RULES
from dbversus.suites.scripts.text import Text, opened

_HEAD_BYTES = 4096
_INCLUDES = re.compile(rb"^[ \t]*(?:\\(?:ir?|include|include_relative)|source|\\\.|\.read)[ \t]+([^\n]+)", re.M | re.I)
_CHARSET = re.compile(rb"\b(?:CHARACTER\s+SET|CHARSET|COLLATE)\b", re.IGNORECASE)
_CONNINFO = re.compile(r"\bdbname\s*=\s*(?:'([^']+)'|(\S+))|^postgres(?:ql)?://[^/\s]*/([^?\s]+)")
_USABLE = re.compile(r"[\w$][\w$ .-]{0,62}", re.ASCII)
_SERVERS_OWN = frozenset[str]().union(*(rules.servers_own for rules in RULES.values()))


@dataclass(frozen=True, slots=True)
class Note:
    """A statement that is not run as it stands: its place and text, why, and what the server said to it."""

    path: Path
    line: int
    text: str
    why: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """A statement that says what the database is called."""

    name: str
    path: Path
    line: int
    text: str


@dataclass(frozen=True)
class Reading:
    """All statements of a script, in order; `named`: what it calls its database."""

    pieces: list[Piece] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    named: list[Named] = field(default_factory=list)


def read_script(path: Path, family: Family, beside: Path | None = None) -> Reading:
    """`beside`: the folder from which it may include files. Raises UsageError with file and line for what cannot be taken."""
    folder = beside or path.parent
    states = tuple(_state(one) for one in (path, *included(path, folder)))
    return _cached(path, family, folder, states)


def _state(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0  # `opened` says it in words
    return found.st_mtime_ns, found.st_size


@lru_cache
def _cached(path: Path, family: Family, beside: Path, states: tuple[tuple[int, int], ...]) -> Reading:
    """Once for each state of its files: a dump may be large."""
    reader = _Reader(family, beside)
    reader.read((path,))
    return reader.reading


def included(path: Path, beside: Path) -> list[Path]:
    """The files of the folder `beside` that a script names to be included, and those which they name."""
    found: dict[Path, None] = {}
    waiting = [path]
    while waiting:
        one = waiting.pop(0)
        new = [each for each in _named_in(one, beside, _state(one)) if each not in found and each != path]
        found |= dict.fromkeys(new)
        waiting += new
    return list(found)


@lru_cache
def _named_in(path: Path, beside: Path, state: tuple[int, int]) -> list[Path]:
    try:
        with opened(path) as text:
            lines = [match[1] for match in _INCLUDES.finditer(text)]
    except UsageError:
        return []  # whoever reads it says why
    names = [_file_name(line) for line in lines]
    around = (beside, path.parent)
    paths = [folder / name for name in names if _is_inside(name) for folder in dict.fromkeys(around)]
    return [one for one in paths if one.is_file() and one.is_relative_to(beside)]


def _file_name(line: bytes) -> str:
    return line.decode(errors="replace").strip().rstrip("; \t").strip("'\"")


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts


def check_databases(readings: Iterable[Reading]) -> str:
    """What the one database is called that the scripts of a target name; empty when they name none.

    Raises UsageError for a second one.
    """
    named = [one for reading in readings for one in reading.named]
    for one in named:
        first = named[0]
        if one.name != first.name:
            raise UsageError(
                f"{one.path}:{one.line}: '{one.text}' is about a second database, {one.name}: {first.path}:{first.line} has "
                f"{first.name}. A target has one database; make the dump of that alone, or leave out the other."
            )
        if not _USABLE.fullmatch(one.name):
            raise UsageError(
                f"{one.path}:{one.line}: '{one.text}': a database is called by letters, digits and _ $ . - here, 63 at most."
            )
    return named[0].name if named and named[0].name not in _SERVERS_OWN else ""


class _Reader:
    def __init__(self, family: Family, beside: Path):
        self.family = family
        self.rules = RULES[family]
        self.beside = beside
        self.reading = Reading()
        self._elsewhere = ""  # the server's own database that was entered last

    def read(self, paths: tuple[Path, ...]) -> None:
        """The last of `paths`, each of which includes the next."""
        with opened(paths[-1]) as text:
            for piece in cut(text, self.family, paths[-1]):
                head = text[piece.begin : min(piece.end, piece.begin + _HEAD_BYTES)]
                if found := self.rules.include.match(head):
                    self.read((*paths, self._included(paths, piece, found)))
                else:
                    self.reading.pieces.extend(self._taken(text, piece, head))

    def _included(self, paths: tuple[Path, ...], piece: Piece, found: re.Match[bytes]) -> Path:
        name = _file_name(found["name"])
        if not _is_inside(name):
            raise _mistake(piece, found[0], "a file in the script's folder is accepted; put it there")
        own = found.groupdict().get("how") in (b"ir", b"include_relative")
        path = (paths[-1].parent if own and len(paths) > 1 else self.beside) / name
        if not path.is_file():
            raise _mistake(piece, found[0], f"there is no file {path}")
        if path in paths:
            raise _mistake(piece, found[0], "this file is being read already, and would include itself for ever")
        return path

    def _taken(self, text: Text, piece: Piece, head: bytes) -> Iterator[Piece]:
        """The piece, or what is run instead; nothing when it is not run."""
        for pattern, why in self.rules.refused.items():
            if pattern.match(head):
                raise _mistake(piece, head, why)
        if (done := self._about_database(piece, head)) is not None:
            yield from done
            return
        if self._elsewhere and not self.rules.of_server.match(head):
            if self.family is Family.MYSQL:
                self._note(piece, head, f"{self._elsewhere} is the server's own database")
                return
            self._name(piece, head, self._elsewhere)
        for pattern, why in self.rules.left_out.items():
            if pattern.match(head):
                self._note(piece, head, why)
                return
        if found := self.rules.set_names.match(head):
            yield _instead(piece, self.rules.names_statement.format(found["name"].decode()).encode())
        elif found := self.rules.definer.match(head):
            self._note(piece, found["definer"], "there is no such account; views and routines run as dbversus's own")
            begin, end = found.span("definer")
            yield _instead(piece, head[:begin] + text[piece.begin + end : piece.end])
        else:
            yield piece

    def _about_database(self, piece: Piece, head: bytes) -> list[Piece] | None:
        """What is run of a statement that makes, drops or enters a database; None for all others."""
        if found := self.rules.enter.match(head):
            self._enter(
                piece, head, _connected_to(found["name"]) if self.rules.lower_case else _unquoted(found["name"])
            )
            return []
        if found := self.rules.drop.match(head):
            return self._drop(piece, head, self._folded(found["name"]))
        found = self.rules.create.match(head)
        if found is None:
            return None
        name, options = self._folded(found["name"]), found["options"]
        if name in self.rules.servers_own:
            return []
        self._name(piece, head, name)
        self._note(piece, head, f"the database is there: dbversus makes one, and calls it {name}")
        if self.family is Family.MYSQL and _CHARSET.search(options):
            return [_instead(piece, b"ALTER DATABASE " + found["name"] + b" " + options)]
        return []

    def _drop(self, piece: Piece, head: bytes, name: str) -> list[Piece] | None:
        if head[:5].upper() == b"ALTER" and name not in self.rules.servers_own:
            self._name(piece, head, name)
            return None  # it is run: the database is called so
        self._note(piece, head, "the database is new, and only this one is made")
        return []

    def _enter(self, piece: Piece, head: bytes, name: str) -> None:
        self._elsewhere = name if name in self.rules.servers_own else ""
        if name and not self._elsewhere:
            self._name(piece, head, name)

    def _folded(self, name: bytes) -> str:
        """An SQL name as the server has it."""
        plain = _unquoted(name)
        return plain.lower() if self.rules.lower_case and name[:1] != b'"' else plain

    def _name(self, piece: Piece, head: bytes, name: str) -> None:
        if all(one.name != name for one in self.reading.named):
            self.reading.named.append(Named(name, piece.path, piece.line, shown(head)))

    def _note(self, piece: Piece, head: bytes, why: str) -> None:
        self.reading.notes.append(Note(piece.path, piece.line, shown(head), why))


def _instead(piece: Piece, sql: bytes) -> Piece:
    return Piece(piece.path, piece.line, piece.begin, piece.end, None, sql)


def _mistake(piece: Piece, text: bytes, why: str) -> UsageError:
    return UsageError(f"{piece.path}:{piece.line}: '{shown(text)}' is not accepted: {why}.")


def _unquoted(name: bytes) -> str:
    text = name.decode(errors="replace").strip()
    quote = text[:1]
    return text[1:-1].replace(quote * 2, quote) if quote in ("'", '"', "`") else text


def _connected_to(words: bytes) -> str:
    r"""The database of a \connect, which has a name, name=value … or a URI first; empty for the same as before."""
    text = re.sub(r"^\s*-reuse-previous=\w+\s+", "", words.decode(errors="replace")).strip()
    first = re.match(r"\"(?:[^\"]|\"\")+\"|'(?:[^']|'')+'|\S+", text)
    name = _unquoted(first[0].encode()) if first else ""
    if found := _CONNINFO.search(name):
        return str(next(filter(None, found.groups())))
    return "" if name in ("-", "") or "=" in name else name
