"""Kinds of clients of a test: what each did, how long it took, and whether it reached its rate."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dbversus.report.judged import Judged
from dbversus.report.model import LatencyFigures, RoleFigures, TestPart
from dbversus.report.parts.each_test import roles
from dbversus.report.section import Part, Section
from dbversus.report.sections.response import content_of
from dbversus.report.table import SOFT, Cell, Column, Form, Row, Table, figure_cell
from dbversus.report.words import SIGNS, percent
from dbversus.stats.model import Verdict

LACKS = "has no test with roles; --table roles needs one (docs/suites/clients.md)."
NOTE = (
    "Response times of roles count from the moment at which an operation was due, service times from when it was sent. "
    "Late: sent after its moment, since the client was busy. SLA: the share of its rate that a role did; where it is too low, "
    "closed loops beside it do not count. All else describes; none of it is a verdict."
)
_NOT_COUNTED = "does not count"
_COLUMNS = (
    Column("role"),
    Column("target"),
    *(Column(title, Form.NUMBER, spread=True) for title in ("due/s", "done/s", "p50, µs", "p99, µs")),
    Column("max, µs", Form.NUMBER),
    Column("service p99, µs", Form.NUMBER, spread=True),
    Column("late", Form.SHARE),
    Column("errors", Form.COUNT),
    Column("SLA"),
)


def _with_spread(title: str, unit: str, name: str) -> Column:
    return Column(title, Form.NUMBER, unit, spread=True, name=name, ends=f"{name}_")


_ALL_COLUMNS = (
    *(Column(title) for title in ("test", "role", "target")),
    _with_spread("due", "1/s", "due_per_s"),
    _with_spread("done", "1/s", "done_per_s"),
    Column("asked for, 1/s", Form.NUMBER, name="rate_per_s"),
    Column("done of what was asked for", Form.SHARE, name="held_share"),
    Column("enough", Form.SHARE, name="sla"),
    Column("SLA", name="sla_is"),
    _with_spread("p50", "µs", "p50_us"),
    _with_spread("p99", "µs", "p99_us"),
    Column("longest, µs", Form.NUMBER, name="max_us"),
    _with_spread("service p99", "µs", "service_p99_us"),
    Column("late", Form.SHARE, name="late_share"),
    Column("not sent", Form.SHARE, name="overdue_share"),
    Column("errors", Form.COUNT),
)


def section(judged: Judged) -> Section | None:
    return of_tests([test for test in judged.tests if test.roles])


def of_tests(tests: Sequence[TestPart]) -> Section | None:
    if not tests:
        return None
    tables = [_table(test) for test in tests]
    missed = [f"{test.name}: {note}" for test in tests for note in roles.notes(test.roles)]
    rows = [
        _all_of(test, part.name, label, figures)
        for test in tests
        for part in test.roles
        for label, figures in part.targets.items()
    ]
    return Section(
        title="Roles",
        tables=tables,
        notes=[NOTE],
        data=[Table(_ALL_COLUMNS, rows, lead=3, title="Kinds of clients", sheet="Roles", notes=[NOTE])],
        on_terminal=Part(tables, [NOTE, *missed]),
        of_tests={test.name: Part([table], [NOTE]) for test, table in zip(tests, tables, strict=True)},
        content_of_tests={test.name: _content(test) for test in tests},
    )


def _table(test: TestPart) -> Table:
    rows = [_row(test, part.name, label, figures) for part in test.roles for label, figures in part.targets.items()]
    return Table(_COLUMNS, rows, title=f"Roles of {test.name}")


def _is_spoiled(test: TestPart, label: str, figures: RoleFigures) -> bool:
    return figures.due_per_s is None and label in test.sla_failed


def _row(test: TestPart, role: str, label: str, figures: RoleFigures) -> Row:
    """Grey where it does not count."""
    is_spoiled, rate, response = _is_spoiled(test, label, figures), figures.rate, figures.response
    sla = f"{_sla(figures)} ({percent(rate.held_share)})" if _sla(figures) else None
    return [
        Cell(role, SOFT if is_spoiled else ""),
        label,
        figure_cell(figures.due_per_s),
        figure_cell(figures.ops_per_s),
        _percentile(response, 50.0),
        _percentile(response, 99.0),
        response.max_us if response else None,
        _percentile(figures.service, 99.0),
        figures.late_share,
        figures.errors,
        _NOT_COUNTED if is_spoiled else sla,
    ]


def _all_of(test: TestPart, role: str, label: str, figures: RoleFigures) -> Row:
    is_spoiled, rate, response = _is_spoiled(test, label, figures), figures.rate, figures.response
    look = SOFT if is_spoiled else ""
    is_failed = is_spoiled or rate.is_missed
    return [
        test.name,
        role,
        label,
        figure_cell(figures.due_per_s, look=look),
        figure_cell(figures.ops_per_s, look=look),
        rate.asked,
        rate.held_share,
        rate.sla,
        Cell(_NOT_COUNTED if is_spoiled else _sla(figures), Verdict.SLA_FAILED if is_failed else ""),
        _percentile(response, 50.0, look),
        _percentile(response, 99.0, look),
        Cell(response.max_us if response else None, look),
        _percentile(figures.service, 99.0, look),
        figures.late_share,
        figures.overdue_share,
        figures.errors,
    ]


def _percentile(latency: LatencyFigures | None, rank: float, look: str = "") -> Cell:
    return figure_cell(latency.percentiles_us.get(rank) if latency else None, look=look)


def _sla(figures: RoleFigures) -> str | None:
    rate = figures.rate
    if rate.held_share is None or rate.sla is None:
        return None
    return f"{SIGNS[Verdict.SLA_FAILED]} failed" if rate.is_missed else "met"


def _content(test: TestPart) -> dict[str, Any]:
    return {part.name: {label: _figures(one) for label, one in part.targets.items()} for part in test.roles}


def _figures(figures: RoleFigures) -> dict[str, Any]:
    return {
        "ops_per_s": asdict(figures.ops_per_s),
        "errors": figures.errors,
        "response": content_of(figures.response) if figures.response else None,
        "service": content_of(figures.service) if figures.service else None,
        "due_per_s": asdict(figures.due_per_s) if figures.due_per_s else None,
        "late_share": figures.late_share,
        "overdue_share": figures.overdue_share,
        "rate_per_s": figures.rate.asked,
        "sla": figures.rate.sla,
        "held_share": figures.rate.held_share,
        "sla_failed": figures.rate.is_missed,
    }
