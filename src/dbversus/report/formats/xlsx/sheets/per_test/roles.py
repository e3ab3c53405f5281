"""Kinds of clients of a test: what each did, how long it took, and whether it reached its rate."""

from dbversus.report.formats.tables import roles_table
from dbversus.report.model import Assessment, LatencyFigures, RoleFigures, TestPart
from dbversus.report.table import (
    SOFT,
    Cell,
    Column,
    Form,
    Lines,
    Sheet,
    Table,
    Value,
    interval_cells,
    with_interval,
)
from dbversus.report.words import SIGNS
from dbversus.stats.model import Verdict


def sheet(assessment: Assessment) -> Sheet | None:
    columns = [Column("test"), Column("role"), Column("target")]
    columns += [*with_interval("due", "1/s"), *with_interval("done", "1/s"), Column("asked for, 1/s", Form.NUMBER)]
    columns += [Column("done of what was asked for", Form.SHARE), Column("enough", Form.SHARE), Column("SLA")]
    columns += [*with_interval("p50", "µs"), *with_interval("p99", "µs"), Column("longest, µs", Form.NUMBER)]
    columns += [*with_interval("service p99", "µs"), Column("late", Form.SHARE), Column("not sent", Form.SHARE)]
    columns += [Column("errors", Form.COUNT)]
    rows = [
        _row(test, part.name, label, figures)
        for test in assessment.tests
        for part in test.roles
        for label, figures in part.targets.items()
    ]
    if not rows:
        return None
    table = Table(columns, rows, lead=3).trimmed()
    return Sheet("Roles", "Kinds of clients", [table, Lines("Notes", roles_table.notes(assessment.tests))])


def _row(test: TestPart, role: str, label: str, figures: RoleFigures) -> list[Cell | Value]:
    """Grey, and said to be so, where it does not count."""
    is_spoiled = figures.due_per_s is None and label in test.sla_failed
    look = SOFT if is_spoiled else ""
    response = figures.response
    return [
        test.name,
        role,
        label,
        *interval_cells(figures.due_per_s, look=look),
        *interval_cells(figures.ops_per_s, look=look),
        figures.rate.asked,
        figures.rate.held_share,
        figures.rate.sla,
        Cell(roles_table.NOT_COUNTED, Verdict.SLA_FAILED) if is_spoiled else _sla(figures),
        *_percentile(response, 50.0, look),
        *_percentile(response, 99.0, look),
        Cell(response.max_us if response else None, look),
        *_percentile(figures.service, 99.0, look),
        figures.late_share,
        figures.overdue_share,
        figures.errors,
    ]


def _percentile(latency: LatencyFigures | None, rank: float, look: str) -> list[Cell]:
    return interval_cells(latency.percentiles_us.get(rank) if latency else None, look=look)


def _sla(figures: RoleFigures) -> Cell:
    rate = figures.rate
    if rate.held_share is None or rate.sla is None:
        return Cell(None)
    return Cell(f"{SIGNS[Verdict.SLA_FAILED]} failed", Verdict.SLA_FAILED) if rate.is_missed else Cell("met")
