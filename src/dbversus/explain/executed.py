"""What an executed plan took: the statement as a whole, and single operators where the server tells that of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dbversus.dbms.known import family_name
from dbversus.explain.operators import postgres_operators
from dbversus.explain.plan_diff import normalise_plan

_NUMBER = r"\d[\d.]*(?:e[+-]?\d+)?"
_ACTUAL = re.compile(rf"\(actual (?:time=\S+?\.\.(?P<ms>{_NUMBER}) )?rows=(?P<rows>{_NUMBER}) loops=(?P<loops>\d+)\)")
# PostgreSQL; MariaDB's JSON, whose first is of the whole; MySQL's tree, likewise
_TOTAL_MS = (
    re.compile(r"^Execution Time: (?P<ms>[\d.]+) ms", re.MULTILINE),
    re.compile(rf'"r_total_time_ms": (?P<ms>{_NUMBER})'),
    re.compile(rf"\(actual time=\S+?\.\.(?P<ms>{_NUMBER}) "),
)
_PLANNING_MS = re.compile(r"^Planning Time: (?P<ms>[\d.]+) ms", re.MULTILINE)


@dataclass(frozen=True)
class Took:
    """`rows` in all, and milliseconds, those of what is under it included; None: not told."""

    rows: float
    ms: float | None


def total_ms(plan: str) -> float | None:
    """Of the statement once executed, without its planning."""
    return next((float(found["ms"]) for pattern in _TOTAL_MS if (found := pattern.search(plan))), None)


def planning_ms(plan: str) -> float | None:
    found = _PLANNING_MS.search(plan)
    return float(found["ms"]) if found else None


def operators_took(plan: str, dbms: str) -> dict[str, Took]:
    """Operator, as in `operators`, → what it took; of several equal ones the first. PostgreSQL's alone."""
    return dict(reversed(list(_took(plan)))) if family_name(dbms) == "postgres" else {}


def _took(plan: str) -> Iterator[tuple[str, Took]]:
    lines = plan.splitlines()
    for number, operator in postgres_operators([normalise_plan(line) for line in lines]):
        if found := _ACTUAL.search(lines[number]):
            loops = int(found["loops"])
            ms = float(found["ms"]) * loops if found["ms"] else None
            yield operator, Took(float(found["rows"]) * loops, ms)
