"""Why tests changed: causes and leads, ranked."""

from dbversus.report.formats.tables import causes_table
from dbversus.report.model import Assessment
from dbversus.report.table import Column, Form, Lines, Sheet, Table

_FORMS = {"change": Form.RATIO, "ratio": Form.RATIO, "share": Form.SHARE, "rank": Form.COUNT}


def sheet(assessment: Assessment) -> Sheet | None:
    names, lines = causes_table.flat(assessment.explanations)
    if not lines:
        return None
    columns = [Column(name.replace("_", " "), _FORMS.get(name, Form.TEXT)) for name in names]
    rows = [[_cell(value) for value in line] for line in lines]
    return Sheet(
        "Causes", "Why tests changed", [Table(columns, rows, lead=2).trimmed(), Lines("Notes", [causes_table.NOTE])]
    )


def _cell(value: object) -> str | float | None:
    """Yes and no for whether it was tested."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if value is None or isinstance(value, int | float) else str(value)
