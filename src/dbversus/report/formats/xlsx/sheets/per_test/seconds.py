"""Tests that last, second by second; the page has them as charts."""

from dbversus.report.model import Assessment
from dbversus.report.table import Column, Form, Lines, Sheet, Table

_NOTE = (
    "Of the first block. Seconds are of driven time, which stands still while a target is frozen; the slowest response is of "
    "what ended in that second."
)


def sheet(assessment: Assessment) -> Sheet | None:
    columns = [Column("test"), Column("role"), Column("target"), Column("at, s", Form.NUMBER)]
    columns += [Column("rate", Form.NUMBER), Column("unit of the rate"), Column("slowest response, ms", Form.NUMBER)]
    rows = [
        [test.name, course.role, label, second.at_s, second.rate, course.unit, second.slowest_ms]
        for test in assessment.tests
        for course in test.courses
        for label, seconds in course.targets.items()
        for second in seconds
    ]
    if not rows:
        return None
    table = Table(columns, rows, lead=3).trimmed()
    return Sheet("Seconds", "Rates and slowest responses, second by second", [table, Lines("Notes", [_NOTE])])
