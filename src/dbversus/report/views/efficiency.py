"""Hardware use per operation, in the form of the reference method."""

from dbversus.printable import printable
from dbversus.report.parts.experiment import efficiency
from dbversus.report.views.registry import Shown
from dbversus.results.stored import Results


def show(results: Results) -> Shown:
    return Shown(
        *efficiency.flat(results), lambda console: print(printable(efficiency.text(results)), file=console.file)
    )
