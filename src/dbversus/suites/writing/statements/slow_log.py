"""A slow log of MySQL, MariaDB or Percona Server, taken apart into statements with their times."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dbversus.suites.writing.place import Line
from dbversus.suites.writing.statements.observed import Observed

_IS_ONE = re.compile(r"^#.* Query_time: ", re.MULTILINE)
# what a server that starts writes: its path, which may be any, its ports, and the names of columns
_SERVER_STARTED = re.compile(
    r".*, Version: .* started with:\s*$|Tcp port: \d+.*$|Time\s+Id\s+Command\s+Argument\s*$", re.IGNORECASE
)
# these begin an entry even where the statement before it has not ended; any other line with # is a comment within it
_ENTRY = re.compile(
    r"# Time: (?:\d{6} |\d{4}-\d\d-\d\d)|# User@Host: |# Query_time: |# (?:User|Client): \S|# Thread_id: \d+ +Schema: |"
    r"# administrator command: "
)
_TIME = re.compile(r" Query_time: (\S+)")
_DATABASE = re.compile(r" Schema: ([^\s:]+)(?!\S)")
_USE = re.compile(r"use\s+`?([^`;]+)`?\s*;?\s*$", re.IGNORECASE)
_SET = re.compile(
    r"SET (?:(?:timestamp|insert_id|last_insert_id|rand_seed1|rand_seed2)=\d+(?:\.\d+)?\s*[,;]?\s*)+$", re.IGNORECASE
)
_MOST_S = 1e9
"""No statement lasts longer; a clock that was set back makes 2⁶⁴ µs."""


def is_slow_log(text: str) -> bool:
    return bool(_IS_ONE.search(text))


@dataclass
class _Entry:
    total_ms: float = 0.0
    first: int = 0
    lines: list[str] = field(default_factory=list)


def read_slow_log(path: str, lines: Iterable[str], broken: list[str]) -> Iterator[Observed]:
    """One for each entry, each of one call. `broken` gets what could not be read, with its line."""
    entry, database = _Entry(), ""
    for number, given in enumerate(lines, 1):
        line = given.rstrip("\r\n")
        is_start = bool(_SERVER_STARTED.match(line))
        if entry.lines and (is_start or _ENTRY.match(line)):
            yield from _observed(path, entry, database)
            entry = _Entry()
        if is_start:
            entry = _Entry()
        elif not entry.lines and line.startswith("#"):
            database = found[1] if (found := _DATABASE.search(line)) else database
            if time := _TIME.search(line):
                entry.total_ms = _ms(time[1], Line(path, number), broken)
        elif not entry.lines and (use := _USE.match(line)):
            database = use[1]
        elif entry.lines or not (_SET.match(line) or not line.strip()):
            entry.first = entry.first or number
            entry.lines.append(line)
    yield from _observed(path, entry, database)


def _observed(path: str, entry: _Entry, database: str) -> Iterator[Observed]:
    if sql := "\n".join(entry.lines).strip().rstrip("; \n"):
        yield Observed(sql, 1, entry.total_ms, Line(path, entry.first), sql, dialect="mysql", database=database)


def _ms(seconds: str, line: Line, broken: list[str]) -> float:
    try:
        value = float(seconds)
    except ValueError:
        value = math.nan
    if 0 <= value < _MOST_S:
        return value * 1e3
    broken.append(f"{line}: {seconds[:40]!r} is no time of a statement; it counts as 0")
    return 0.0
