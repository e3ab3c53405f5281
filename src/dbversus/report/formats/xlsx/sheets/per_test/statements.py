"""The SQL of each test, and the plans of the targets."""

from collections.abc import Iterator

from dbversus.report.model import Assessment, StatementPart
from dbversus.report.table import Column, Row, Sheet, Table

_COLUMNS = [Column(title) for title in ("test", "statement", "what", "of", "text")]


def sheet(assessment: Assessment) -> Sheet | None:
    """A line for each text: SQL of all targets or of a DBMS, and each plan with the targets that have it."""
    rows = [row for test in assessment.tests for one in test.statements for row in _rows(test.name, one)]
    return Sheet("SQL", "SQL of each test, and plans", [Table(_COLUMNS, rows, lead=2)]) if rows else None


def _rows(test: str, statement: StatementPart) -> Iterator[Row]:
    for dbms, sql in statement.sql.items():
        yield test, statement.name, "SQL", dbms or "all", sql
    for labels, plan in statement.plans:
        yield test, statement.name, "plan", ", ".join(labels), plan
