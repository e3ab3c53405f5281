"""What an executed plan took: the statement as a whole, and single operators where the server tells that of them."""

import re
from collections.abc import Iterator, Mapping
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
RARE = " (rare)"
"""Behind the name of a statement: with values that are seldom drawn."""
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


def planning_in_all_ms(test: str, plans: Mapping[str, str]) -> float | None:
    """Of all statements of a test once; None where it is not told of any."""
    own = [planning_ms(plan) for name, plan in plans.items() if _is_of(name, test)]
    known = [ms for ms in own if ms is not None]
    return sum(known) if known and len(known) == len(own) else None


def _is_of(statement: str, test: str) -> bool:
    """Whether it is one of the test's, with typical values."""
    return statement.partition("/")[0] == test and not statement.endswith(RARE)


def planning_of(test: str, base: Mapping[str, str], mine: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """Statement of a test → milliseconds that planning it took on both, of plans that ran (`<test>/<statement>`)."""
    found = {}
    for statement in base.keys() & mine.keys():
        if _is_of(statement, test):
            both = planning_ms(base[statement]), planning_ms(mine[statement])
            if both[0] is not None and both[1] is not None:
                found[statement] = both[0], both[1]
    return found


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
