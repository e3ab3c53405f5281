"""The summaries of steps: rates, ratios to the base, and insert rates."""

from dbversus.errors import UsageError
from dbversus.report.formats.tables import steps_table
from dbversus.report.parts.steps.summary import steps_part
from dbversus.report.views.registry import Shown
from dbversus.results.stored import Results
from dbversus.stats.judge import judge


def show(results: Results) -> Shown:
    part = steps_part(results, judge(results) if len(results.targets) > 1 else [])
    if part is None or not part.steps:
        raise UsageError(
            f"{results.directory} has no test that is a step; --table summary needs one (docs/suites/clients.md)."
        )
    base = results.base.label
    return Shown(*steps_table.flat(part), lambda console: steps_table.render(part, base, console))
