"""What each kind of clients of a test (its roles) did on each target, where a test has roles."""

from collections.abc import Mapping, Sequence
from typing import Any

from dbversus.report.figures import estimate, latency_figures
from dbversus.report.model import Estimate, LatencyFigures, RoleFigures, RolePart, spoiled_by_sla
from dbversus.report.parts.each_test.statements import stored_tests, test_of
from dbversus.report.words import listing, number, percent
from dbversus.results.latency import Latency, decode
from dbversus.results.records import Latency as LatencyRecord
from dbversus.results.records import Pace, Slots
from dbversus.results.records.roles import RoleTimes
from dbversus.results.stored import Results
from dbversus.suites.model import has_work

NOT_HELD_SHARE = 0.01
"""A rate is not held when more than this of what was due had not been sent at the end of its block."""

_PER_BLOCK = """SELECT target, role, block, sum(ops) / (sum(elapsed_ns) / 1e9) AS ops_per_s, sum(errors) AS errors,
    sum(scheduled) / (sum(elapsed_ns) / 1e9) AS due_per_s, sum(ops) AS ops, sum(late) AS late,
    arg_max(overdue, "row") AS overdue
  FROM roles WHERE test = '{}' AND elapsed_ns > 0 GROUP BY target, role, block ORDER BY block"""


def roles_of_tests(results: Results) -> dict[str, tuple[RolePart, ...]]:
    """By test; tests without roles are not in it."""
    tests = dict.fromkeys(str(test) for test in results.roles["test"])
    idle = _idle_roles(results) if tests else frozenset()
    return {test: _roles(results, test, idle) for test in tests}


def _idle_roles(results: Results) -> frozenset[tuple[str, str, str]]:
    """(test, role, label) of roles that have no statement on a target: what was counted is the time of doing nothing."""
    return frozenset(
        (test.name, role.name, target.label)
        for test in stored_tests(results).values()
        for role in test.roles
        for target in results.targets
        if not has_work(role.statements, target.dbms)
    )


def _roles(results: Results, test: str, idle: frozenset[tuple[str, str, str]]) -> tuple[RolePart, ...]:
    grouped: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for role in dict.fromkeys(results.roles["role"][results.roles["test"] == test]):
        grouped[str(role)] = {}
    columns, rows = results.sql(_PER_BLOCK.format(test.replace("'", "''")))
    for row in rows:
        block = dict(zip(columns, row, strict=True))
        if (test_of(test), block["role"], block["target"]) in idle:
            continue
        grouped[block["role"]].setdefault(block["target"], []).append(block)
    times, plan = _times(results, test), results.slot_plans.get(test)
    return tuple(
        RolePart(
            role, {label: _figures(blocks, times.get((label, role), {}), plan) for label, blocks in of_role.items()}
        )
        for role, of_role in grouped.items()
        if of_role
    )


def _figures(blocks: list[dict[str, Any]], times: Mapping[str, list[Latency]], plan: Slots | None) -> RoleFigures:
    is_open = blocks[0]["due_per_s"] is not None
    pace = plan.paces.get(blocks[0]["role"]) if plan else None
    due_per_s = estimate([block["due_per_s"] for block in blocks]) if is_open else None
    ops, late, overdue = (sum(block[name] or 0 for block in blocks) for name in ("ops", "late", "overdue"))
    return RoleFigures(
        ops_per_s=estimate([block["ops_per_s"] for block in blocks]),
        errors=sum(int(block["errors"]) for block in blocks),
        response=_latency(times, "latency"),
        service=_latency(times, "service"),
        due_per_s=due_per_s,
        late_share=late / ops if is_open and ops else None,
        overdue_share=overdue / (ops + overdue) if is_open and ops + overdue else None,
        rate_per_s=_rate_per_s(pace, plan, due_per_s),
        sla=pace.sla if pace else None,
    )


def _rate_per_s(pace: Pace | None, plan: Slots | None, due_per_s: Estimate | None) -> float | None:
    """What had to be done. A step takes longer until all is done, so all that fell due tells nothing of its rate there."""
    if pace is None or plan is None or due_per_s is None:
        return None
    return pace.rate_per_s if "ops" in plan.slot else due_per_s.value


def _latency(times: Mapping[str, list[Latency]], kind: str) -> LatencyFigures | None:
    return latency_figures(times.get(kind, ()))


def _times(results: Results, test: str) -> dict[tuple[str, str], dict[str, list[Latency]]]:
    """Target label and role → kind of time → its histograms, one of each record."""
    found: dict[tuple[str, str], dict[str, list[Latency]]] = {}
    for record in results.of_type(LatencyRecord):
        if record.test != test:
            continue
        for name, of_target in (record.roles or {}).items():
            for role, times in of_target.items():
                kinds = found.setdefault((results.label(name), role), {})
                for kind, text in _texts(times).items():
                    kinds.setdefault(kind, []).append(decode(text, f"{results.directory}, test {test}, role {role}"))
    return found


def _texts(times: RoleTimes) -> dict[str, str]:
    texts = {"latency": times.latency}
    return texts | ({"service": times.service} if times.service else {})


def notes(parts: tuple[RolePart, ...]) -> list[str]:
    """What figures of roles do not say by themselves."""
    of_targets = [(part.name, label, figures) for part in parts for label, figures in part.targets.items()]
    rates = [note for name, label, figures in of_targets if (note := _note(name, label, figures))]
    return [
        *rates,
        *(_sla_note(name, label, figures, parts) for name, label, figures in of_targets if figures.sla_failed),
    ]


def _sla_note(role: str, label: str, figures: RoleFigures, parts: Sequence[RolePart]) -> str:
    """A target that does less of what it is given has more left for the others."""
    said = (
        f"SLA failed on {label}: {role} did {number(figures.ops_per_s.value)} of {number(figures.rate_per_s)} operations/s "
        f"({percent(figures.held_share or 0.0)}; at least {percent(figures.sla or 0.0)} is asked for)"
    )
    if label not in spoiled_by_sla(parts):
        return said
    beside = [part.name for part in parts if label in part.targets and part.targets[label].due_per_s is None]
    return f"{said}, so the figures of {listing(beside)} beside it do not count"


def _note(role: str, label: str, figures: RoleFigures) -> str:
    """A rate that was not held: what waits then grows with the test, so that response times tell how long it was."""
    if figures.due_per_s is None:
        return ""
    due, done = figures.due_per_s.value or 0.0, figures.ops_per_s.value or 0.0
    if not due and not done:
        return f"no operation of {role} fell due on {label}: the test is shorter than the time between two of them"
    if (figures.overdue_share or 0.0) <= NOT_HELD_SHARE:
        return ""
    return (
        f"{label} did not hold the rate of {role}: of {number(due)} operations/s that were due, "
        f"{figures.overdue_share:.0%} still waited at the end, so its response times say how long the test was"
    )
