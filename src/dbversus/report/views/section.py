"""Any section of the report: its lines for pipes, and for eyes what the report shows."""

from dbversus.errors import UsageError
from dbversus.report.assessment import judged_of
from dbversus.report.sections.registry import Registered
from dbversus.report.texts import print_section
from dbversus.report.views.registry import Shown
from dbversus.report.words import rounded
from dbversus.results.stored import Results


def show(registered: Registered, results: Results) -> Shown:
    """UsageError where there is nothing to show."""
    section = registered.asked(judged_of(results))
    if section is None:
        raise UsageError(f"{results.directory} {registered.lacks}")
    columns, rows = section.lines[0].plain()
    values = [tuple(map(rounded, row)) for row in rows]
    if section.print_on:
        return Shown(columns, values, section.print_on)
    return Shown(
        columns, values, (lambda console: print_section(console, section, section)) if section.tables else None
    )
