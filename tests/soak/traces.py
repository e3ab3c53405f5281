"""Did the journal take note of a fault that must have been felt?"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .faults import JUMP_S, Injection
from .plan import Kind

Record = dict[str, Any]
# records after which nobody can miss the process that was killed any more
_REPLACED = {
    Kind.KILL_ENGINE: ("resumed",),
    Kind.KILL_SERVER: ("resumed", "block"),
    Kind.KILL_BACKEND: ("resumed", "block", "test"),
}


def untraced(injection: Injection, records: list[Record]) -> Iterator[str]:
    """Sentences about what the journal should say of a fault and does not. Ends of the controller are not its matter."""
    if injection.kind in _REPLACED:
        yield from _untraced_kill(injection, records)
    elif injection.kind is Kind.CLOCK_JUMP and not _jumps(records):
        yield "the clock has jumped, but not that of the journal"


def was_felt(injection: Injection, records: list[Record]) -> bool:
    """Whether a row began after a process was killed without which there is none, and before it was replaced anyway."""
    rows = _meanwhile(injection, records, "row", injection.at_unix_ns)
    return any(row["started_unix_ns"] > injection.at_unix_ns for row in rows)


def _untraced_kill(injection: Injection, records: list[Record]) -> Iterator[str]:
    failures = [
        failure
        for failure in _meanwhile(injection, records, "failure", injection.began_unix_ns or injection.at_unix_ns)
        if failure["target"] == injection.victim or failure["stage"] == "engine"
    ]
    if was_felt(injection, records) and not failures:
        whose = f" of {injection.victim}" if injection.victim else ""
        yield f"{injection.kind}{whose}: rows followed, and no failure is in the journal"


def _meanwhile(injection: Injection, records: list[Record], kind: str, since_unix_ns: int) -> Iterator[Record]:
    """Records of a kind that were made since then, until what was killed had been replaced in any case."""
    for record in records:
        if record["at_unix_ns"] <= since_unix_ns:
            continue
        if record["type"] in _REPLACED[injection.kind]:
            return
        if record["type"] == kind:
            yield record


def _jumps(records: list[Record]) -> bool:
    moments = [record["at_unix_ns"] for record in records]
    return any(abs(later - earlier) > 0.9 * JUMP_S * 1e9 for earlier, later in pairwise(moments))
