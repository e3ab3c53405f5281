"""Typical values of generators, for EXPLAIN: the middle of what is drawn, the hottest value, lists spread over the range."""

import re
from collections.abc import Mapping
from typing import Any

from dbversus.dbms.model import Family
from dbversus.dbms.sql.literals import literal
from dbversus.dbms.sql.types import has_fractions, is_bytes
from dbversus.suites.expression import ROW, settle

_UNEVEN = frozenset({"zipfian", "pareto", "choice"})

Example = int | float | str | list[int] | list[int | float | str]


def example(generator: Mapping[str, Any], drawn: Mapping[str, Example], *, rare: bool = False) -> Example:
    """One typical value of a generator of the engine, whose numbers are concrete; `drawn`: of earlier parameters.

    `rare`: one that is seldom drawn, where some are drawn more often than others.
    """
    first = _rare(generator) if rare and generator["gen"] in _UNEVEN else _first(generator, drawn)
    count = generator.get("count")
    if count is None or not isinstance(first, int):
        return first
    if generator.get("consecutive") or "high" not in generator:
        return list(range(first, first + count))
    low, high = generator["low"], generator["high"]
    return [low + (high - low) * (2 * index + 1) // (2 * count) for index in range(count)]


def _rare(generator: Mapping[str, Any]) -> int | float | str:
    """What is drawn least."""
    if generator["gen"] != "choice":
        return int(generator["high"])
    weights = generator.get("weights") or [1] * len(generator["of"])
    value: int | float | str = generator["of"][len(weights) - 1 - weights[::-1].index(min(weights))]
    return value


def literals(value: Example, kind: str, family: Family) -> str:
    """As SQL, of a neutral type; a list with commas."""
    if isinstance(value, list):
        return ", ".join(literal(item, kind, family) for item in value)
    if isinstance(value, str) and is_bytes(kind):
        value = value.encode().hex()
    return literal(value, kind, family)


def _first(generator: Mapping[str, Any], drawn: Mapping[str, Example]) -> Example:
    match generator["gen"]:
        case "text":
            given = generator["template"]
            template = given if isinstance(given, str) else given[0]
            text = re.sub("[#@]", lambda mark: {"#": "5", "@": "m"}[mark[0]], template)
            return re.sub(r"\{(\w+)\}", lambda name: str(drawn.get(name[1], 0)), text)
        case "bytes":
            return "U" * int(generator["length"])
        case "constant":
            value: int | float | str = generator["value"]
            return value
        case "ref":
            referred = drawn[generator["of"]]
            return referred + int(generator.get("add", 0)) if isinstance(referred, int | float) else referred
        case "choice":
            item: int | float | str = generator["of"][0]
            return item
        case "sample":
            return _sample(generator)
        case "walk":
            known = [float(generator[key]) for key in ("start", "low", "high") if key in generator]
            return sum(known) / len(known) if known else 0.0
        case "row":
            numbers = {key: value for key, value in drawn.items() if isinstance(value, int | float)}
            return settle(generator["expr"], {**numbers, ROW: 0})
        case "sequence" | "present" | "client":
            return int(generator.get("start", 1))
        case "zipfian" | "pareto":
            return int(generator["low"])
        case _:
            return _middle(generator)


def _sample(generator: Mapping[str, Any]) -> list[int | float | str]:
    count, of = generator.get("count", 1), generator["of"]
    if isinstance(of, list):
        return of[:count]
    start = int(generator.get("start", 0))
    numbers = [start + of * (2 * index + 1) // (2 * count) for index in range(count)]
    template = generator.get("template")
    return [template.replace("{}", str(number)) if template else number for number in numbers]


def _middle(generator: Mapping[str, Any]) -> int | float:
    low, high = generator["low"], generator["high"]
    if not has_fractions(generator.get("type", "int8")):
        return (int(low) + int(high)) // 2
    middle = (low + high) / 2
    return round(middle, generator["round"]) if "round" in generator else float(middle)
