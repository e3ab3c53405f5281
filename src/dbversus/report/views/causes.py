"""Why tests changed."""

from dbversus.report.assessment import build_assessment
from dbversus.report.formats.tables import causes_table
from dbversus.report.views.registry import Shown
from dbversus.results.stored import Results


def show(results: Results) -> Shown:
    """A line per cause; no lines where nothing changed."""
    found = build_assessment(results).explanations
    return Shown(*causes_table.flat(found), lambda console: causes_table.render(found, console) if found else None)
