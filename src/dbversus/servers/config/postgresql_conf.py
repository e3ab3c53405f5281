"""Reads a postgresql.conf: `name = value` or `name value`, quotes, comments."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from dbversus.errors import UsageError
from dbversus.servers.config.foreign_line import Include, Line, Part

WHERE_SETTINGS_STAND = "all its lines are empty or comments"
IN_FOLDER = r"[^.].*\.conf"
WRITTEN_BY_SERVER = "postgresql.auto.conf"
"""By ALTER SYSTEM, into the data directory; it is read last."""

_QUOTED = r"'(?:[^'\\]|''|\\.)*'"
_LINE = re.compile(rf"\s*([A-Za-z_][\w.]*)(?:\s*=\s*|\s+)({_QUOTED}|[^\s#'=]+)\s*(?:#.*)?")
_ESCAPE = re.compile(r"''|\\(?:([0-7]{1,3})|(.))")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_INCLUDES: dict[str, Literal["file", "folder"]] = {
    "include": "file",
    "include_if_exists": "file",
    "include_dir": "folder",
}


def parse(text: str, path: Path) -> Iterator[Part]:
    """Settings in the order written. Raises UsageError with file and line for what is not understood."""
    for number, raw in enumerate(text.split("\n"), 1):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(raw)
        if match is None:
            raise UsageError(f"{path}:{number}: '{raw.strip()}' is not understood; accepted is `name = value`.")
        name, value = match[1].lower(), _plain(match[2])
        if name in _INCLUDES:
            yield Include(number, value, _INCLUDES[name], optional=name == "include_if_exists")
        else:
            yield Line(number, match[1], value)


def _plain(value: str) -> str:
    """Without its quotes, and with its escapes replaced: letters as in C, bytes in octal, a quote that is doubled."""
    return _ESCAPE.sub(_meant, value[1:-1]) if value.startswith("'") else value


def _meant(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 8) & 0xFF)
    return _ESCAPES.get(escape[2], escape[2]) if escape[2] else "'"
