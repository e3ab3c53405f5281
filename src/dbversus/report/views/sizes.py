"""Whether target ÷ base depends on the size of the tables."""

from dbversus.errors import UsageError
from dbversus.report.assessment import build_assessment
from dbversus.report.formats.tables import sizes_table
from dbversus.report.views.registry import Shown
from dbversus.results.stored import Results


def show(results: Results) -> Shown:
    found = build_assessment(results).sizes
    if found is None:
        raise UsageError(f"{results.directory} has one table size; --table sizes needs several (--table-size 1m,10m).")
    return Shown(*sizes_table.flat(found), lambda console: sizes_table.render(found, console, changed_only=False))
