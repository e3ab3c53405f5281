"""The tables of roles, the same in every report."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from dbversus.report.formats.tables.matrix_table import Table, show
from dbversus.report.model import Estimate, LatencyFigures, RoleFigures, TestPart
from dbversus.report.parts.each_test import roles
from dbversus.report.terminal import say
from dbversus.report.words import SIGNS, estimate_text, number, percent
from dbversus.stats.model import Verdict

_COLUMNS = (
    "role",
    "target",
    "due/s",
    "done/s",
    "p50, µs",
    "p99, µs",
    "max, µs",
    "service p99, µs",
    "late",
    "errors",
    "SLA",
)
NOTE = (
    "Response times of roles count from the moment at which an operation was due, service times from when it was sent. "
    "Late: sent after its moment, since the client was busy. SLA: the share of its rate that a role did; where it is too low, "
    "closed loops beside it do not count. All else describes; none of it is a verdict."
)

NOT_COUNTED = "does not count"


def tables(tests: Sequence[TestPart], intervals: bool = True) -> list[Table]:
    """One for each test with roles."""
    return [_table(test, intervals) for test in tests if test.roles]


def notes(tests: Sequence[TestPart]) -> list[str]:
    return [NOTE] if any(test.roles for test in tests) else []


def _table(test: TestPart, intervals: bool) -> Table:
    lines = [(part.name, label, figures) for part in test.roles for label, figures in part.targets.items()]
    uncounted = [figures.due_per_s is None and label in test.sla_failed for _, label, figures in lines]
    rows = [
        [role, label, *_cells(figures, intervals), NOT_COUNTED if spoiled else _sla_text(figures)]
        for (role, label, figures), spoiled in zip(lines, uncounted, strict=True)
    ]
    places = frozenset(place for place, spoiled in enumerate(uncounted) if spoiled)
    return Table(f"Roles of {test.name}", list(_COLUMNS), rows, places)


def _sla_text(figures: RoleFigures) -> str:
    rate = figures.rate
    if rate.held_share is None or rate.sla is None:
        return "–"
    sign = f"{SIGNS[Verdict.SLA_FAILED]} failed" if rate.is_missed else "met"
    return f"{sign} ({percent(rate.held_share)})"


def _cells(figures: RoleFigures, intervals: bool) -> list[str]:
    def text(estimate: Estimate | None) -> str:
        if estimate is None:
            return "–"
        return estimate_text(estimate) if intervals else number(estimate.value)

    def time(latency: LatencyFigures | None, percent: float) -> str:
        return text(latency.percentiles_us[percent]) if latency else "–"

    response = figures.response
    return [
        text(figures.due_per_s),
        text(figures.ops_per_s),
        time(response, 50.0),
        time(response, 99.0),
        number(response.max_us) if response else "–",
        time(figures.service, 99.0),
        percent(figures.late_share) if figures.late_share is not None else "–",
        f"{figures.errors:,}",
    ]


def render(tests: Sequence[TestPart], console: Console) -> None:
    """For the terminal; intervals are left out where it is too narrow for them."""
    if not any(test.roles for test in tests):
        return
    show(lambda intervals: tables(tests, intervals), console)
    say(console, NOTE, "dim")
    for test in tests:
        for note in roles.notes(test.roles):
            say(console, f"{test.name}: {note}", "yellow")
    console.print()


def as_json(figures: RoleFigures, estimate: Any, latency: Any) -> dict[str, Any]:
    """Plain dicts; `estimate` and `latency` make such of their kinds of figures."""
    return {
        "ops_per_s": estimate(figures.ops_per_s),
        "errors": figures.errors,
        "response": latency(figures.response) if figures.response else None,
        "service": latency(figures.service) if figures.service else None,
        "due_per_s": estimate(figures.due_per_s) if figures.due_per_s else None,
        "late_share": figures.late_share,
        "overdue_share": figures.overdue_share,
        "rate_per_s": figures.rate.asked,
        "sla": figures.rate.sla,
        "held_share": figures.rate.held_share,
        "sla_failed": figures.rate.is_missed,
    }
