"""What each kind of clients of a test (its roles) did on each target, where a test has roles."""

from collections.abc import Mapping
from typing import Any

from dbversus.report.figures import estimate, latency_figures
from dbversus.report.model import LatencyFigures, RoleFigures, RolePart
from dbversus.report.words import number
from dbversus.results.latency import Latency, decode
from dbversus.results.read import Results
from dbversus.results.records import Latency as LatencyRecord
from dbversus.results.records.roles import RoleTimes

NOT_HELD_SHARE = 0.01
"""A rate is not held when more than this of what was due had not been sent at the end of its block."""

LEAST_HELD_SHARE = 0.95
"""In a step the work takes longer instead: its rate is held when this much of it was done, as the reference method has it."""

_PER_BLOCK = """SELECT target, role, block, sum(ops) / (coalesce(sum(finished_ns), sum(elapsed_ns)) / 1e9) AS ops_per_s,
    sum(errors) AS errors, sum(ops) AS ops, sum(late) AS late, arg_max(overdue, "row") AS overdue,
    sum(scheduled) / (coalesce(sum(schedule_ns), sum(elapsed_ns)) / 1e9) AS due_per_s,
    sum(schedule_ns) / nullif(sum(finished_ns), 0) AS held_share
  FROM roles WHERE test = '{}' AND elapsed_ns > 0 GROUP BY target, role, block ORDER BY block"""


def roles_of_tests(results: Results) -> dict[str, tuple[RolePart, ...]]:
    """By test; tests without roles are not in it."""
    tests = dict.fromkeys(str(test) for test in results.roles["test"])
    return {test: _roles(results, test) for test in tests}


def _roles(results: Results, test: str) -> tuple[RolePart, ...]:
    grouped: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for role in dict.fromkeys(results.roles["role"][results.roles["test"] == test]):
        grouped[str(role)] = {}
    columns, rows = results.sql(_PER_BLOCK.format(test.replace("'", "''")))
    for row in rows:
        block = dict(zip(columns, row, strict=True))
        grouped[block["role"]].setdefault(block["target"], []).append(block)
    times = _times(results, test)
    return tuple(
        RolePart(role, {label: _figures(blocks, times.get((label, role), {})) for label, blocks in of_role.items()})
        for role, of_role in grouped.items()
    )


def _figures(blocks: list[dict[str, Any]], times: Mapping[str, list[Latency]]) -> RoleFigures:
    is_open = blocks[0]["due_per_s"] is not None
    ops, late, overdue = (sum(block[name] or 0 for block in blocks) for name in ("ops", "late", "overdue"))
    held = [block["held_share"] for block in blocks if block["held_share"] is not None]
    return RoleFigures(
        ops_per_s=estimate([block["ops_per_s"] for block in blocks]),
        errors=sum(int(block["errors"]) for block in blocks),
        response=_latency(times, "latency"),
        service=_latency(times, "service"),
        due_per_s=estimate([block["due_per_s"] for block in blocks]) if is_open else None,
        late_share=late / ops if is_open and ops else None,
        overdue_share=overdue / (ops + overdue) if is_open and ops + overdue else None,
        held_share=min(held, default=None),
    )


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
    return [note for name, label, figures in of_targets if (note := _note(name, label, figures))]


def _note(role: str, label: str, figures: RoleFigures) -> str:
    """A rate that was not held: what waits then grows with the test, so that response times tell how long it was."""
    if figures.due_per_s is None:
        return ""
    due, done = figures.due_per_s.value or 0.0, figures.ops_per_s.value or 0.0
    if not due and not done:
        return f"no operation of {role} fell due on {label}: the test is shorter than the time between two of them"
    if figures.held_share is not None and figures.held_share < LEAST_HELD_SHARE:
        return (
            f"{label} did not hold the rate of {role}: of {number(due)} operations/s that were due, it did {number(done)}, and "
            "the step took longer; its response times say how far it was behind, and not how fast the server is"
        )
    if (figures.overdue_share or 0.0) <= NOT_HELD_SHARE:
        return ""
    return (
        f"{label} did not hold the rate of {role}: of {number(due)} operations/s that were due, "
        f"{figures.overdue_share:.0%} still waited at the end, so its response times say how long the test was"
    )
