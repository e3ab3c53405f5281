"""What happened second by second in tests that last: what charts draw, and the worst second in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbversus.report.model import Second
from dbversus.results.read import Results
from dbversus.results.stalls import WHOLE_NS


def timelines(results: Results, test: str) -> dict[str, tuple[Second, ...]]:
    """Target label → the seconds of the first block in which the test was measured; empty where it has no series."""
    rows = [row for row in results.timeline if row["test"] == test and row["elapsed_ns"] >= WHOLE_NS]
    first = min((row["block"] for row in rows), default=0)
    groups = [row["target_group"] for row in rows]
    found: dict[str, tuple[Second, ...]] = {}
    for target in results.targets:
        own = [row for row in rows if row["target"] == target.label and row["block"] == first]
        # a base that is up with several groups has one series with each
        own = [row for row in own if row["target_group"] == own[0]["target_group"]] if groups else own
        if own:
            found[target.label] = tuple(_second(row) for row in own)
    return found


def _second(row: Mapping[str, Any]) -> Second:
    slowest_ms = row["slowest_ns"] / 1e6 if row["ops"] else None
    return Second(float(row["second"]), row["ops"] / (row["elapsed_ns"] / 1e9), slowest_ms)


def worst_seconds(results: Results, test: str) -> tuple[str, ...]:
    """A sentence per target with its slowest response and its lowest rate, where operations end in most seconds."""
    return tuple(_worst(results, test))


def _worst(results: Results, test: str) -> Iterator[str]:
    for target in results.targets:
        own = [row for row in results.timeline if row["test"] == test and row["target"] == target.label]
        whole = [row for row in own if row["elapsed_ns"] >= WHOLE_NS]
        if any(row["second"] for row in whole) and sum(row["ops"] > 0 for row in whole) * 2 > len(whole):
            yield f"worst second of {target.label}: {_slowest(own)}; {_lowest(whole)}"


def _slowest(rows: Sequence[Mapping[str, Any]]) -> str:
    row = max(rows, key=lambda row: row["slowest_ns"])
    return f"slowest response {row['slowest_ns'] / 1e6:,.1f} ms ({_place(row)})"


def _lowest(rows: Sequence[Mapping[str, Any]]) -> str:
    row = min(rows, key=_rate)
    mean = sum(one["ops"] for one in rows) / sum(one["elapsed_ns"] for one in rows) * 1e9
    return f"lowest rate {_rate(row):,.0f} operations/s, {mean:,.0f} on average ({_place(row)})"


def _rate(row: Mapping[str, Any]) -> float:
    return float(row["ops"] / row["elapsed_ns"] * 1e9)


def _place(row: Mapping[str, Any]) -> str:
    return f"block {row['block'] + 1}, second {row['second'] + 1}"
