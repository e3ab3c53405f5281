"""A slow log of MySQL or MariaDB, taken apart into statements with their times."""

import re
from collections.abc import Iterator

from dbversus.suites.writing.place import Line
from dbversus.suites.writing.statements.observed import Observed

_TIME = re.compile(r"^# Query_time: ([\d.]+)", re.MULTILINE)
_SERVER_STARTED = re.compile(r"^\S+, Version: .*started with:|^Tcp port: |^Time\s+Id\s+Command")
_NO_STATEMENT = re.compile(r"SET timestamp=\d+;?|use [`\w$-]+;?", re.IGNORECASE)


def is_slow_log(text: str) -> bool:
    return bool(_TIME.search(text))


def read_slow_log(path: str, text: str) -> Iterator[Observed]:
    """One for each entry, each of one call."""
    total_ms, first, statement = 0.0, 1, list[str]()
    for number, line in enumerate([*text.splitlines(), "# Time: the end"], 1):
        if line.startswith("# ") or _SERVER_STARTED.match(line):
            if sql := "\n".join(statement).strip().rstrip(";"):
                yield Observed(sql, 1, total_ms, Line(path, first), sql, double_quotes_are_strings=True)
            statement = []
            if found := _TIME.match(line):
                total_ms = float(found[1]) * 1e3
        elif line.strip() and not (not statement and _NO_STATEMENT.fullmatch(line.strip())):
            first = first if statement else number
            statement.append(line)
