"""What more clients bring."""

from dbversus.errors import UsageError
from dbversus.report.formats.tables import scaleup_table
from dbversus.report.parts.overview.scaleup import of_experiment
from dbversus.report.views.registry import Shown
from dbversus.results.stored import Results


def show(results: Results) -> Shown:
    found = of_experiment(results)
    if found is None:
        raise UsageError(
            f"{results.directory} has one number of clients; --table scaleup needs several (--clients 1,2,4)."
        )
    return Shown(*scaleup_table.flat(found), lambda console: scaleup_table.render(found, console))
