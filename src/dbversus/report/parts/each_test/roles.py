"""What each kind of clients of a test (its roles) did on each target, where a test has roles."""

from collections.abc import Mapping, Sequence
from typing import Any

from dbversus.report.figures import estimate, latency_figures
from dbversus.report.model import LatencyFigures, RoleFigures, RolePart
from dbversus.report.words import listing, number, percent
from dbversus.results.latency import Latency, decode
from dbversus.results.records import Latency as LatencyRecord
from dbversus.results.records import Slots
from dbversus.results.records.roles import RoleTimes
from dbversus.results.stored import Results
from dbversus.stats.validity.rates import Rate, rate_of, role_blocks

NOT_HELD_SHARE = 0.01
"""A rate is not held when more than this of what was due had not been sent at the end of its block."""

Times = Mapping[tuple[str, str], Mapping[str, list[Latency]]]
"""Target label and role → kind of time → its histograms, one of each record."""


def roles_of_tests(results: Results) -> dict[str, tuple[RolePart, ...]]:
    """By test; tests without roles are not in it."""
    plans = results.slot_plans
    return {test: _roles(roles, _times(results, test), plans.get(test)) for test, roles in role_blocks(results).items()}


def _roles(
    roles: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]], times: Times, plan: Slots | None
) -> tuple[RolePart, ...]:
    return tuple(
        RolePart(
            role,
            {label: _figures(role, blocks, times.get((label, role), {}), plan) for label, blocks in of_role.items()},
        )
        for role, of_role in roles.items()
    )


def _figures(
    role: str, blocks: Sequence[Mapping[str, Any]], times: Mapping[str, list[Latency]], plan: Slots | None
) -> RoleFigures:
    rate = rate_of(role, blocks, plan)
    is_open = rate.due is not None
    ops, late, overdue = (sum(block[name] or 0 for block in blocks) for name in ("ops", "late", "overdue"))
    return RoleFigures(
        ops_per_s=estimate([block["ops_per_s"] for block in blocks]),
        errors=sum(int(block["errors"]) for block in blocks),
        response=_latency(times, "latency"),
        service=_latency(times, "service"),
        due_per_s=estimate([block["due_per_s"] for block in blocks]) if is_open else None,
        late_share=late / ops if is_open and ops else None,
        overdue_share=overdue / (ops + overdue) if is_open and ops + overdue else None,
        rate=rate,
    )


def _latency(times: Mapping[str, list[Latency]], kind: str) -> LatencyFigures | None:
    return latency_figures(times.get(kind, ()))


def _times(results: Results, test: str) -> Times:
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


def notes(parts: Sequence[RolePart]) -> list[str]:
    """What figures of roles do not say by themselves."""
    of_targets = [(part.name, label, figures) for part in parts for label, figures in part.targets.items()]
    rates = [note for name, label, figures in of_targets if (note := _note(name, label, figures))]
    missed = [
        _sla_note(name, label, figures.rate, parts) for name, label, figures in of_targets if figures.rate.is_missed
    ]
    return [*rates, *missed]


def _sla_note(role: str, label: str, rate: Rate, parts: Sequence[RolePart]) -> str:
    """A target that does less of what it is given has more left for the others."""
    said = (
        f"SLA failed on {label}: {role} did {number(rate.done)} of {number(rate.asked)} operations/s "
        f"({percent(rate.held_share or 0.0)}; at least {percent(rate.sla or 0.0)} is asked for)"
    )
    beside = [part.name for part in parts if label in part.targets and part.targets[label].due_per_s is None]
    return f"{said}, so the figures of {listing(beside)} beside it do not count" if beside else said


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
