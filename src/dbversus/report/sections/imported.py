"""The figures of an import, as they were printed."""

from dbversus.report.judged import Judged
from dbversus.report.section import Section
from dbversus.report.table import Column, Table
from dbversus.stats.values.imported import is_imported

LACKS = "was measured, not imported; --table imported needs an import."


def asked(judged: Judged) -> Section | None:
    """All columns of `imported` in the order of files and lines."""
    if not is_imported(judged.results):
        return None
    columns, rows = judged.results.sql("SELECT * FROM imported ORDER BY file, line, second, target, metric")
    return Section(title="Imported", data=[Table(list(map(Column, columns)), rows)], is_exact=True)
