"""Checkpoints, autovacuum, autoanalyze and crashes in PostgreSQL's log (`log_checkpoints`, `log_autovacuum_min_duration`)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from dbversus.servers.log_event import CRASH, LogEvent

LOGGED_WITH = {"log_timezone": "GMT", "log_line_prefix": "%m [%p] "}
"""Settings with which moments in the log can be read; before 10 a log has none by default."""

_ENTRY = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) GMT \[\d+\] LOG:\s+(.*)", re.S)
_AUTOMATIC = re.compile(r'automatic (?:aggressive )?(vacuum|analyze)[^"]*"([^"]+)"')
_ELAPSED = re.compile(r"elapsed:? (\d+\.\d+) s")
_WROTE = re.compile(r"wrote [^;]*?buffers \([^)]*\)")
_KILLED = re.compile(r".* \(PID \d+\) was terminated by .*")
_TOTAL = re.compile(r"total=(\d+\.\d+) s")


def events_in(log: str) -> list[LogEvent]:
    """In the order in which they ended; what is under way at the end of the log comes last."""
    found: list[LogEvent] = []
    starting: tuple[int, str] | None = None
    crash: LogEvent | None = None
    for at_ns, text in _entries(log):
        if text.startswith("checkpoint starting: "):
            starting = at_ns, text.partition(": ")[2]
        elif text.startswith("checkpoint complete: "):
            found.append(_checkpoint(at_ns, text, starting))
            starting = None
        elif killed := _KILLED.match(text):
            crash = crash or LogEvent(CRASH, at_ns, None, killed[0])
        elif crash and text == "database system is ready to accept connections":
            found.append(replace(crash, ended_unix_ns=at_ns))
            crash = None
        elif automatic := _AUTOMATIC.match(text):
            kind = f"auto{automatic[1]}"
            found.append(LogEvent(kind, _began_ns(at_ns, _ELAPSED.search(text)), at_ns, f"table {automatic[2]}"))
    if starting:
        found.append(LogEvent("checkpoint", starting[0], None, starting[1]))
    return [*found, crash] if crash else found


def _entries(log: str) -> Iterator[tuple[int, str]]:
    """Moment and text of each; lines after the first begin with a tab."""
    for entry in log.replace("\n\t", " ").splitlines():
        if match := _ENTRY.match(entry):
            moment = datetime.strptime(match[1], "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=UTC)
            yield round(moment.timestamp() * 1000) * 1_000_000, match[2]


def _checkpoint(ended_ns: int, text: str, starting: tuple[int, str] | None) -> LogEvent:
    wrote = _WROTE.search(text)
    said = [starting[1] if starting else "", wrote[0] if wrote else ""]
    began_ns = starting[0] if starting else _began_ns(ended_ns, _TOTAL.search(text))
    return LogEvent("checkpoint", began_ns, ended_ns, ", ".join(filter(None, said)))


def _began_ns(ended_ns: int, seconds: re.Match[str] | None) -> int | None:
    return ended_ns - round(float(seconds[1]) * 1e9) if seconds else None
