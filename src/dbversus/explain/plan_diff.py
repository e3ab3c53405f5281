"""Plans that differ between targets in shape: estimates, timings and literal values are taken out before comparing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbversus.dbms.flavour import NOT_EXPLAINED
from dbversus.explain.noise import noise


@dataclass(frozen=True)
class PlanDifference:
    """One statement and its normalised plan per target, in the order given; None: not known, or not one that differs.

    `executed`: as they came, with what operators took, where the statement was executed for them.
    """

    statement: str
    plans: tuple[str | None, ...]
    executed: tuple[str | None, ...] = ()


def differing_plans(
    plans: Sequence[Mapping[str, Any]], dbms: Sequence[str], executed: Sequence[Mapping[str, str]] = ()
) -> list[PlanDifference]:
    """Statements whose normalised plans differ between two targets of the same DBMS, with the plans of those DBMSs.

    Plans of different DBMSs are not compared: each has its own words for the same thing. Those of `executed` statements, where
    all targets with a plan have one, come before plans that were only asked for.

    `plans` per target: statement → plan; groups (test → statement → plan) may be nested, their names are joined by " / ".
    """
    flat = [flat_plans(of_target) for of_target in plans]
    ran = [dict(of_target) for of_target in executed] or [{} for _ in plans]
    statements = list(dict.fromkeys(name for of_target in (*flat, *ran) for name in of_target))
    rows = [_row(name, flat, ran) for name in statements]
    differing = ((row, _dbms_that_differ(row.plans, dbms)) for row in rows)
    return [_only(kinds, row, dbms) for row, kinds in differing if kinds]


def _row(name: str, plans: Sequence[Mapping[str, str]], executed: Sequence[Mapping[str, str]]) -> PlanDifference:
    known = [of_target.get(name) for of_target in plans]
    ran = [of_target.get(name) for of_target in executed]
    if any(ran) and all(one or not other for one, other in zip(ran, known, strict=True)):
        return PlanDifference(name, tuple(map(_normalised, ran)), tuple(ran))
    return PlanDifference(name, tuple(map(_normalised, known)))


def flat_plans(plans: Mapping[str, Any]) -> dict[str, str]:
    """Statement → plan, of one target; names of nested groups are joined by " / "."""
    return dict(_flatten(plans))


def normalise_plan(text: str) -> str:
    """The plan's shape: without costs, row counts, timings and literal values (patterns in noise.toml)."""
    for rule in noise()["plans"]:
        text = re.sub(rule["pattern"], rule["replacement"], text, flags=re.MULTILINE)
    lines = (line.rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _normalised(text: str | None) -> str | None:
    return None if text is None or text.startswith(NOT_EXPLAINED) else normalise_plan(text)


def _flatten(plans: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, plan in plans.items():
        if isinstance(plan, Mapping):
            yield from _flatten(plan, f"{prefix}{name} / ")
        else:
            yield f"{prefix}{name}", "\n".join(map(str, plan)) if isinstance(plan, list) else str(plan)


def _dbms_that_differ(plans: Sequence[str | None], dbms: Sequence[str]) -> set[str]:
    seen: dict[str, set[str]] = {}
    for plan, kind in zip(plans, dbms, strict=True):
        if plan is not None:
            seen.setdefault(kind, set()).add(plan)
    return {kind for kind, texts in seen.items() if len(texts) > 1}


def _only(kinds: set[str], row: PlanDifference, dbms: Sequence[str]) -> PlanDifference:
    plans = (plan if kind in kinds else None for plan, kind in zip(row.plans, dbms, strict=True))
    return PlanDifference(row.statement, tuple(plans), row.executed)
