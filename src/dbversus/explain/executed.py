"""What an executed plan took: the statement as a whole, and single operators where the server tells that of them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbversus.dbms.known import family_name
from dbversus.explain.operators import operators, postgres_operators
from dbversus.explain.plan_diff import normalise_plan

_NUMBER = r"\d[\d.]*(?:e[+-]?\d+)?"
_ACTUAL = re.compile(rf"\(actual (?:time=\S+?\.\.(?P<ms>{_NUMBER}) )?rows=(?P<rows>{_NUMBER}) loops=(?P<loops>\d+)\)")
# PostgreSQL; MySQL's tree, whose first is of the whole
_TOTAL_MS = (
    re.compile(r"^Execution Time: (?P<ms>[\d.]+) ms", re.MULTILINE),
    re.compile(rf"\(actual time=\S+?\.\.(?P<ms>{_NUMBER}) "),
)
_FORM = re.compile(r"^--- FORMAT=(?P<name>\w+).*\n", re.MULTILINE)
_ON_TABLE = re.compile(r"-> .*? on (?P<table>\S+)")
_TABLE_TIMES = ("r_table_time_ms", "r_other_time_ms", "r_total_time_ms")
"""Of a table in MariaDB's JSON: its engine's and the server's, before 10.5 both in one."""
RARE = " (rare)"
"""Behind the name of a statement: with values that are seldom drawn."""
_STATUS = re.compile(r"^Statement Status: (?P<counts>.*)$", re.MULTILINE)
_COUNT = re.compile(r"(\w+)=(\d+)")
COUNTED = {
    "fullscan_steps": "full scan steps",
    "autoindex_rows": "rows put into automatic indexes",
    "sorts": "sorts",
    "vm_steps": "VM steps",
}
"""What SQLite counts of a statement and what differs first in it, with its words: the last counts all that it does."""
_CLEARLY = 1.5
"""From this factor on, a statement does something more often than it did."""
_PLANNING_MS = re.compile(r"^Planning Time: (?P<ms>[\d.]+) ms", re.MULTILINE)


@dataclass(frozen=True)
class Took:
    """`rows` in all, and milliseconds, those of what is under it included; None: not told."""

    rows: float
    ms: float | None


def total_ms(plan: str) -> float | None:
    """Of the statement once executed, without its planning."""
    _, name, detail = _mysql_forms(plan)
    if name == "JSON":
        ms = _json(detail).get("query_block", {}).get("r_total_time_ms")
        return None if ms is None else float(ms)
    return next((float(found["ms"]) for pattern in _TOTAL_MS if (found := pattern.search(plan))), None)


def planning_ms(plan: str) -> float | None:
    found = _PLANNING_MS.search(plan)
    return float(found["ms"]) if found else None


def counts_of(plan: str) -> dict[str, int]:
    """What SQLite counted of the statement; what it did not do is left out."""
    found = _STATUS.search(plan)
    return {name: int(count) for name, count in _COUNT.findall(found["counts"])} if found else {}


def other_count(base: str, mine: str) -> tuple[str, int, int] | None:
    """What a statement does clearly more or less often in one of two executed plans, the most telling; None: nothing, or it
    is not counted."""
    theirs, ours = counts_of(base), counts_of(mine)
    if not theirs or not ours:
        return None
    pairs = [(name, theirs.get(name, 0), ours.get(name, 0)) for name in COUNTED]
    clear = [one for one in pairs if max(one[1:]) > _CLEARLY * min(one[1:])]
    rows = [one for one in clear if one[0] in ("fullscan_steps", "autoindex_rows")]
    return max(rows, key=lambda one: abs(one[2] - one[1])) if rows else next(iter(clear), None)


def counts_that_differ(test: str, base: Mapping[str, str], mine: Mapping[str, str]) -> dict[str, tuple[str, int, int]]:
    """Statement of a test → what it does more or less often, of plans that ran (`<test>/<statement>`)."""
    both = [name for name in base if name in mine and _is_of(name, test)]
    return {name: found for name in both if (found := other_count(base[name], mine[name]))}


def planning_told(plans: Mapping[str, str], told: Mapping[str, float]) -> dict[str, float]:
    """Statement → milliseconds that planning it took: `told` apart, in older results in the plans that ran."""
    of_plans = {name: planning_ms(plan) for name, plan in plans.items()}
    return {name: ms for name, ms in of_plans.items() if ms is not None} | dict(told)


def planning_in_all_ms(test: str, plans: Mapping[str, str], told: Mapping[str, float]) -> float | None:
    """Of all statements of a test once; None where it is not told of each."""
    planning = planning_told(plans, told)
    own = [planning.get(name) for name in {*plans, *planning} if _is_of(name, test)]
    known = [ms for ms in own if ms is not None]
    return sum(known) if known and len(known) == len(own) else None


def _is_of(statement: str, test: str) -> bool:
    """Whether it is one of the test's, with typical values."""
    return statement.partition("/")[0] == test and not statement.endswith(RARE)


def planning_of(test: str, base: Mapping[str, float], mine: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Statement of a test (`<test>/<statement>`) → milliseconds that planning it took on both."""
    return {one: (base[one], mine[one]) for one in sorted(base.keys() & mine.keys()) if _is_of(one, test)}


def operators_took(plan: str, dbms: str) -> dict[str, Took]:
    """Operator, as in `operators`, → what it took; of several equal ones the first. Of SQLite nothing is told."""
    match family_name(dbms):
        case "postgres":
            return dict(reversed(list(_took(plan))))
        case "mysql":
            return dict(reversed(list(_mysql_took(plan, dbms))))
    return {}


def _mysql_took(plan: str, dbms: str) -> Iterator[tuple[str, Took]]:
    """The lines of EXPLAIN's table with what the tree, or MariaDB's JSON, tells of the same tables, one after another."""
    table, name, detail = _mysql_forms(plan)
    told = list(_json_took(_json(detail)) if name == "JSON" else _tree_took(detail))
    for operator in operators(normalise_plan(table), dbms):
        wanted = operator.partition(":")[0].split()[-1]
        place = next((place for place, (one, _) in enumerate(told) if one == wanted), None)
        if place is not None:
            yield operator, told.pop(place)[1]


def _mysql_forms(plan: str) -> tuple[str, str, str]:
    """The table, and the name and the text of the second form, both empty where there is none."""
    found = _FORM.search(plan)
    return (plan[: found.start()], found["name"], plan[found.end() :]) if found else (plan, "", "")


def _tree_took(tree: str) -> Iterator[tuple[str, Took]]:
    """By table, as MySQL's tree has them."""
    for line in tree.splitlines():
        on, found = _ON_TABLE.search(line), _ACTUAL.search(line)
        if on and found:
            loops = int(found["loops"])
            ms = float(found["ms"]) * loops if found["ms"] else None
            yield on["table"], Took(float(found["rows"]) * loops, ms)


def _json(text: str) -> dict[str, Any]:
    """Empty where it is no object, as of results that were cut."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _json_took(node: Any) -> Iterator[tuple[str, Took]]:
    """By table, as MariaDB's ANALYZE has them; a table that was not read tells nothing."""
    if isinstance(node, list):
        for each in node:
            yield from _json_took(each)
    elif isinstance(node, dict):
        if "table_name" in node and node.get("r_rows") is not None:
            times = [node[name] for name in _TABLE_TIMES if name in node]
            yield (
                node["table_name"],
                Took(float(node["r_rows"]) * node.get("r_loops", 1), sum(times) if times else None),
            )
        for each in node.values():
            yield from _json_took(each)


def _took(plan: str) -> Iterator[tuple[str, Took]]:
    lines = plan.splitlines()
    for number, operator in postgres_operators([normalise_plan(line) for line in lines]):
        if found := _ACTUAL.search(lines[number]):
            loops = int(found["loops"])
            ms = float(found["ms"]) * loops if found["ms"] else None
            yield operator, Took(float(found["rows"]) * loops, ms)
