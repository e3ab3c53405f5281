"""What servers did of their own accord in tests that last, from logs or, where these say nothing, from counters.

Moments are on the clock of the series, which counts only the time in which a target is driven: it stands still while the target
is frozen, and before and after the test.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbversus.results.records import AnyRecord, Log, of_type
from dbversus.results.records.evidence import LogEvent
from dbversus.results.tables.bursts import bursts
from dbversus.results.tables.table import ResultTable
from dbversus.results.tables.timeline import TIMELINE, continued, whole_tests

DRIVEN, BETWEEN, BEFORE, AFTER = "driven", "between slices", "before", "after"
"""Where an event lies: at its `second`, or at the edge of one."""
_STAMP_NS = 2_000_000
"""Moments in logs are of whole milliseconds."""

Key = tuple[int, str, str, str]
"""Block, test, group, name of the target."""


@dataclass(frozen=True)
class _Piece:
    """Uninterrupted driven time, from `second` of the series on."""

    began_unix_ns: int
    length_ns: int
    second: float

    @property
    def end(self) -> float:
        return self.second + self.length_ns / 1e9


def event_rows(
    records: Sequence[AnyRecord], labels: Mapping[str, str], timeline: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Rows of EVENTS.columns, of tests with seconds; `labels`: target name → label, `timeline`: rows of whole tests."""
    clocks = _clocks(records)
    logged = [
        {**_place(record, labels[name]), "source": "log", **_timed(event, clock)}
        for record in of_type(records, Log)
        for name, of_target in record.targets.items()
        if (clock := clocks.get((record.block, record.test, record.tag, name)))
        for event in of_target.events
    ]
    told = {tuple(row[name] for name in _PLACE) for row in logged}
    counted = [row for row in bursts(timeline) if tuple(row[name] for name in _PLACE) not in told]
    return [{name: row[name] for name in EVENTS.columns} for row in [*logged, *counted]]


_PLACE = ("test", "target", "block", "target_group")


def _place(record: Log, label: str) -> dict[str, Any]:
    return {"test": record.test, "target": label, "block": record.block, "target_group": record.group}


def _clocks(records: Iterable[AnyRecord]) -> dict[Key, list[_Piece]]:
    found: dict[Key, list[_Piece]] = {}
    for record, name, seconds, begin in continued(records):
        pieces = found.setdefault((record.block, record.test, record.tag, name), [])
        for number, own in zip(seconds.second, seconds.pieces, strict=False):
            pieces += _laid_out(begin + number, own)
    return {key: pieces for key, pieces in found.items() if pieces}


def _laid_out(second: float, pieces: Iterable[tuple[int, int]]) -> Iterator[_Piece]:
    for began_unix_ns, length_ns in pieces:
        piece = _Piece(began_unix_ns, length_ns, second)
        yield piece
        second = piece.end


def _timed(event: LogEvent, clock: Sequence[_Piece]) -> dict[str, Any]:
    known = [at_ns for at_ns in (event.began_unix_ns, event.ended_unix_ns) if at_ns is not None]
    places = [_position(at_ns, clock) for at_ns in known]
    (begin, first), (end, last) = places[0], places[-1]
    # what was not over when the log was read went on beyond the test
    end = clock[-1].end if event.ended_unix_ns is None else end
    return {
        "what": event.what,
        "began_unix_ns": event.began_unix_ns,
        "ended_unix_ns": event.ended_unix_ns,
        "second": begin,
        "driven_s": max(0.0, end - begin),
        "placed": DRIVEN if DRIVEN in (first, last) or end > begin else first,
        "words": event.words,
    }


def _position(at_ns: int, clock: Sequence[_Piece]) -> tuple[float, str]:
    """Seconds of driven time, and where that is."""
    index = bisect_right(clock, at_ns + _STAMP_NS, key=lambda piece: piece.began_unix_ns) - 1
    if index < 0:
        return clock[0].second, BEFORE
    piece = clock[index]
    since_ns = max(0, at_ns - piece.began_unix_ns)
    if since_ns <= piece.length_ns + _STAMP_NS:
        return piece.second + min(since_ns, piece.length_ns) / 1e9, DRIVEN
    return piece.end, BETWEEN if index + 1 < len(clock) else AFTER


# one row per thing that a server did of its own accord in a test that lasts. `source`: `log` or `counters`.
# `second`: driven time at which it began, `driven_s`: of it that passed meanwhile. `placed`: `driven`, `between slices`,
# `before`, `after`. `target_group`: as in drains
EVENTS = ResultTable(
    "events",
    {
        "test": "VARCHAR",
        "target": "VARCHAR",
        "block": "INTEGER",
        "target_group": "VARCHAR",
        "what": "VARCHAR",
        "source": "VARCHAR",
        "began_unix_ns": "BIGINT",
        "ended_unix_ns": "BIGINT",
        "second": "DOUBLE",
        "driven_s": "DOUBLE",
        "placed": "VARCHAR",
        "words": "VARCHAR",
    },
    lambda of: event_rows(of.records, of.labels, whole_tests(of.rows(TIMELINE))),
)
