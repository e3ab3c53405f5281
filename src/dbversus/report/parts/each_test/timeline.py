"""What happened second by second in tests that last: what charts draw, and the worst second in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbversus.report.model import Course, Second, ServerEvent
from dbversus.results.stored import Results
from dbversus.results.tables.events import EVENTS
from dbversus.results.tables.stalls import WHOLE_NS
from dbversus.results.tables.timeline import TIMELINE

_UNITS = {"insert": "rows inserted/s (ips)", "query": "queries/s (qps)", "": "operations/s"}
"""What a role does → of what its rate is."""

Row = Mapping[str, Any]


def courses(results: Results, test: str) -> tuple[Course, ...]:
    """The seconds of each role, or of the whole test where it has none, in its first block; none where it has no series."""
    rows = _of_first_block([row for row in results.rows(TIMELINE) if row["test"] == test], results)
    roles = dict.fromkeys(row["role"] for row in rows)
    shown = [role for role in roles if role] or list(roles)
    return tuple(_course(results, test, role, [row for row in rows if row["role"] == role]) for role in shown)


def _of_first_block(rows: Sequence[Row], results: Results) -> list[Row]:
    """Of each target in the block in which the test was first measured; a base that is up with several groups: with its first."""
    first = min((row["block"] for row in rows), default=0)
    groups: dict[str, str | None] = {}
    for row in rows:
        if row["block"] == first:
            groups.setdefault(row["target"], row["target_group"])
    of_block = [row for row in rows if row["block"] == first and row["target_group"] == groups[row["target"]]]
    order = [target.label for target in results.targets]
    return sorted(of_block, key=lambda row: order.index(row["target"]))


def _course(results: Results, test: str, role: str, rows: Sequence[Row]) -> Course:
    plan = results.slot_plans.get(test)
    does = plan.does.get(role, "") if plan else ""
    unit = does if does in _UNITS else ""
    found: dict[str, tuple[Second, ...]] = {}
    for label in dict.fromkeys(row["target"] for row in rows):
        per_op = _rows_per_op(results, test, role, label) if unit == "insert" else 1.0
        own = [row for row in rows if row["target"] == label and row["elapsed_ns"] >= WHOLE_NS]
        if own:
            found[label] = tuple(_second(row, per_op) for row in own)
    return Course(role, _UNITS[unit], found)


def _rows_per_op(results: Results, test: str, role: str, label: str) -> float:
    """Rows that an operation of the test, or of the role, inserted on a target, over all that it did."""
    of = results.roles if role else results.slots
    mine = (of["test"] == test) & (of["target"] == label)
    mine = mine & (of["role"] == role) if role else mine
    ops, affected = (float(of[name][mine].sum() or 0) for name in ("ops", "affected"))
    return affected / ops if ops else 1.0


def _second(row: Row, per_op: float) -> Second:
    slowest_ms = row["slowest_ns"] / 1e6 if row["ops"] else None
    return Second(float(row["second"]), per_op * row["ops"] / (row["elapsed_ns"] / 1e9), slowest_ms)


def server_events(results: Results, test: str) -> tuple[ServerEvent, ...]:
    """What servers did of their own accord in the block whose seconds are drawn, by target and moment."""
    rows = [row for row in results.timeline if row["test"] == test]
    places = {(row["target"], row["block"], row["target_group"]) for row in _of_first_block(rows, results)}
    own = [
        _server_event(row)
        for row in results.rows(EVENTS)
        if row["test"] == test and (row["target"], row["block"], row["target_group"]) in places
    ]
    order = [target.label for target in results.targets]
    return tuple(sorted(own, key=lambda one: (order.index(one.target), one.at_s)))


def _server_event(row: Row) -> ServerEvent:
    began_ns, ended_ns = row["began_unix_ns"], row["ended_unix_ns"]
    took_s = None if began_ns is None or ended_ns is None else (ended_ns - began_ns) / 1e9
    figures = row["second"], row["driven_s"], took_s, row["placed"], row["words"]
    return ServerEvent(row["target"], row["what"], *figures)


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
