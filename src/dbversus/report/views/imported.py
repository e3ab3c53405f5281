"""The figures of an import, as they were printed."""

from dbversus.errors import UsageError
from dbversus.report.views.registry import Shown
from dbversus.results.schema import IMPORTED_COLUMNS
from dbversus.results.stored import Results
from dbversus.stats.values.imported import is_imported


def show(results: Results) -> Shown:
    """All columns of `imported` in the order of files and lines."""
    if not is_imported(results):
        raise UsageError(f"{results.directory} was measured, not imported; --table imported needs an import.")
    columns, rows = results.sql("SELECT * FROM imported ORDER BY file, line, second, target, metric")
    assert columns == list(IMPORTED_COLUMNS)
    return Shown(columns, rows)
