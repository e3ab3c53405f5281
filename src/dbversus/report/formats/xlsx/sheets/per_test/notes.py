"""What is to be known of single tests beside their figures."""

from dbversus.report.model import Assessment
from dbversus.report.table import Column, Sheet, Table


def sheet(assessment: Assessment) -> Sheet | None:
    """Notes on a whole test have no target."""
    rows = []
    for test in assessment.tests:
        rows += [[test.name, "", note] for note in test.notes]
        rows += [[test.name, item.target, note] for item in test.comparisons for note in item.notes]
    columns = [Column("test"), Column("target"), Column("note")]
    return Sheet("Notes", "Notes on tests", [Table(columns, rows).trimmed()]) if rows else None
