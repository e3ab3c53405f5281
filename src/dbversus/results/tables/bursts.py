"""Seconds in which a server wrote, or worked in the background, far more than when it is quiet: what its log does not tell."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import quantiles
from typing import Any

from dbversus.results.tables.stalls import WHOLE_NS

FEWEST_SECONDS = 10
"""Of fewer there is no telling when a server is quiet."""
TIMES = 3
"""A burst is more than so many times a quiet second: the first quartile, since servers may flush in every other second."""

Second = Mapping[str, Any]


@dataclass(frozen=True)
class _Kind:
    """`column` of a second, and the least rate that is worth telling; `unit` of so much of it."""

    what: str
    column: str
    least_per_s: float
    unit: str
    per_unit: float


_KINDS = (
    _Kind("burst of writes", "server_write_bytes", 1e6, "MB", 1e6),
    _Kind("burst of background CPU", "server_background_cpu_ns", 5e7, "ms", 1e6),
)


def bursts(timeline: Sequence[Second]) -> Iterator[dict[str, Any]]:
    """Events of source `counters`, as rows of EVENT_COLUMNS; seconds one after another are one burst."""
    places: dict[tuple[Any, ...], list[Second]] = {}
    for second in timeline:
        key = tuple(second[name] for name in ("test", "target", "block", "target_group"))
        places.setdefault(key, []).append(second)
    for seconds in places.values():
        for kind in _KINDS:
            yield from _of_kind(seconds, kind)


def _of_kind(seconds: Sequence[Second], kind: _Kind) -> Iterator[dict[str, Any]]:
    known = [one for one in seconds if one["elapsed_ns"] >= WHOLE_NS and one.get(kind.column) is not None]
    if len(known) < FEWEST_SECONDS:
        return
    quiet = quantiles([_rate(one, kind) for one in known], n=4)[0]
    limit = max(TIMES * quiet, kind.least_per_s)
    for is_burst, run in groupby(known, key=lambda one: _rate(one, kind) > limit):
        if is_burst:
            yield _event(list(run), kind, quiet)


def _rate(second: Second, kind: _Kind) -> float:
    return float(second[kind.column] / second["elapsed_ns"] * 1e9)


def _event(run: Sequence[Second], kind: _Kind, quiet: float) -> dict[str, Any]:
    first = run[0]
    driven_s = sum(one["elapsed_ns"] for one in run) / 1e9
    amount = sum(one[kind.column] for one in run) / kind.per_unit
    words = f"{amount:,.1f} {kind.unit} in {driven_s:.1f} s, when quiet {quiet / kind.per_unit:,.2f} {kind.unit}/s"
    return {name: first[name] for name in ("test", "target", "block", "target_group")} | {
        "what": kind.what,
        "source": "counters",
        "began_unix_ns": first["began_unix_ns"],
        "ended_unix_ns": None,
        "second": float(first["second"]),
        "driven_s": driven_s,
        "placed": "driven",
        "words": words,
    }
