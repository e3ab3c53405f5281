"""Reads a postgresql.conf: `name = value` or `name value`, quotes, comments."""

import re
from collections.abc import Iterator
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.servers.config.foreign_line import Line

WHERE_SETTINGS_STAND = "all its lines are empty or comments"

_QUOTED = r"'(?:[^'\\]|''|\\.)*'"
_LINE = re.compile(rf"\s*([A-Za-z_][\w.]*)(?:\s*=\s*|\s+)({_QUOTED}|[^\s#'=]+)\s*(?:#.*)?")
_INCLUDES = ("include", "include_if_exists", "include_dir")


def read(text: str, path: Path, dbms: str) -> Iterator[Line]:
    """Settings in the order written. Raises UsageError with file and line for what is not understood."""
    del dbms
    for number, raw in enumerate(text.splitlines(), 1):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(raw)
        if match is None:
            raise UsageError(f"{path}:{number}: '{raw.strip()}' is not understood; accepted is `name = value`.")
        if match[1].lower() in _INCLUDES:
            raise UsageError(
                f"{path}:{number}: '{raw.strip()}' includes other files, whose settings would be missing; "
                "put all of them into one file, in the order in which the server reads them."
            )
        yield Line(number, match[1], _plain(match[2]))


def _plain(value: str) -> str:
    if not value.startswith("'"):
        return value
    return re.sub(r"''|\\(.)", lambda match: match[1] or "'", value[1:-1])
