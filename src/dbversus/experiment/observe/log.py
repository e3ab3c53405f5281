"""What servers write to their logs during a test: checkpoints, warnings, aborted connections."""

import re
from collections.abc import Iterable

from dbversus.experiment.observe.observer import Observer
from dbversus.private import said
from dbversus.results.records import Log as LogRecord
from dbversus.results.records import Logged
from dbversus.results.records.evidence import LogEvent
from dbversus.servers.base import Server

EXAMPLES_AT_MOST = 5
_LONGEST_EXAMPLE = 200
_TIME = re.compile(r"^\d[\dT:., +Z-]*(?:[A-Z]{3,5} )?(?:\[\d+\] )?")


class Log(Observer):
    def begin(self) -> None:
        """A server that is restarted meanwhile goes on in the same log; its start is no part of the test."""
        self._ends = {(one.name, one.restarts): one.server.log_end() for one in self.scene.rig.alive}

    def end(self) -> None:
        rig, found = self.scene.rig, {}
        for target in rig.alive:
            begin = self._ends.get((target.name, target.restarts))
            log = "" if begin is None else target.server.log_since(begin)
            if lines := [line for line in log.splitlines() if line.strip()]:
                found[target.name] = Logged(len(lines), examples_of(map(said, lines)), _events(target.server, log))
        if found:
            rig.note(LogRecord(*self.scene.place, found, **rig.tag))


def _events(server: Server, log: str) -> list[LogEvent]:
    return [LogEvent(one.what, one.began_unix_ns, one.ended_unix_ns, one.words) for one in server.events_in(log)]


def examples_of(lines: Iterable[str]) -> list[str]:
    """The first line of each kind, without its time, of the first kinds."""
    first: dict[str, str] = {}
    for line in lines:
        words = " ".join(_TIME.sub("", line).split())
        first.setdefault(kind_of(words), words[:_LONGEST_EXAMPLE])
    return list(first.values())[:EXAMPLES_AT_MOST]


def kind_of(line: str) -> str:
    """The same for lines that differ in numbers alone."""
    return re.sub(r"\d+(?:\.\d+)?", "#", line)
