"""Stalls: driven seconds in which a test, or one of its roles, finished no operation, from the rows of timeline.parquet."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dbversus.results.tables.table import ResultTable
from dbversus.results.tables.timeline import TIMELINE

WHOLE_NS = 500_000_000
"""A shorter second, at the end of a test, tells no rate."""

Second = Mapping[str, Any]


def stall_rows(timeline: Sequence[Second]) -> list[dict[str, Any]]:
    """Rows of STALLS.columns: one per test, role, target, block and group. `role` is empty where `timeline` has none.

    A stall is one whole second, or several in a row, in which no operation ended. It begins in the second before and ends in the
    one after, so it took as long as the slowest operation of that one, where that fits. Tests, and roles, of which no operation
    ends in most seconds on any target (an index build, a long query) have no rows: there a second without one is no stall.
    """
    whole = [second for second in timeline if second["elapsed_ns"] >= WHOLE_NS]
    return [
        {**place, **_stalls(list(seconds))}
        for case in dict.fromkeys(map(_case, whole))
        if _is_steady(of_test := [second for second in whole if _case(second) == case])
        for place, seconds in _by_place(of_test)
    ]


def _case(second: Second) -> tuple[str, str]:
    return second["test"], second.get("role", "")


def _is_steady(of_test: Iterable[Second]) -> bool:
    """Whether on some target operations end in most seconds."""
    by_target: dict[str, list[bool]] = {}
    for second in of_test:
        by_target.setdefault(second["target"], []).append(second["ops"] > 0)
    return any(2 * sum(busy) > len(busy) for busy in by_target.values())


def _by_place(of_test: Sequence[Second]) -> Iterator[tuple[dict[str, Any], Iterable[Second]]]:
    names = ("test", "target", "block", "target_group", "role")
    places: dict[tuple[Any, ...], list[Second]] = {}
    for second in of_test:
        places.setdefault(tuple(second.get(name, "") for name in names), []).append(second)
    for place, seconds in places.items():
        yield dict(zip(names, place, strict=True)), seconds


def _stalls(seconds: Sequence[Second]) -> dict[str, Any]:
    """How many, and how long in s: all together, and the longest."""
    runs = [(is_stall, list(run)) for is_stall, run in groupby(seconds, key=lambda second: second["ops"] == 0)]
    ends = [run for _, run in runs[1:]] + [[]]
    lengths_s = [_stall_s(run, end) for (is_stall, run), end in zip(runs, ends, strict=True) if is_stall]
    return {
        "driven_s": _length_s(seconds),
        "stalls": len(lengths_s),
        "stalled_s": sum(lengths_s),
        "longest_s": max(lengths_s, default=0.0),
    }


def _stall_s(run: Sequence[Second], after: Sequence[Second]) -> float:
    """Of these seconds, and of what it took of the two beside them. An operation that took longer than all of these had waited
    for something else."""
    whole_s = _length_s(run)
    slowest_s = (after[0].get("slowest_ns") or 0) / 1e9 if after else 0.0
    return slowest_s if whole_s < slowest_s <= whole_s + 2 else whole_s


def _length_s(seconds: Iterable[Second]) -> float:
    return float(sum(second["elapsed_ns"] for second in seconds)) / 1e9


# one row per target, block and test of the timeline in which operations end in most seconds, and the same
# for its roles
STALLS = ResultTable(
    "stalls",
    {
        "test": "VARCHAR",
        "target": "VARCHAR",
        "block": "INTEGER",
        "target_group": "VARCHAR",
        "role": "VARCHAR",
        "driven_s": "DOUBLE",
        "stalls": "INTEGER",
        "stalled_s": "DOUBLE",
        "longest_s": "DOUBLE",
    },
    lambda of: stall_rows(of.rows(TIMELINE)),
)
