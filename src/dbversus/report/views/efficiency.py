"""Hardware use per operation, in the form of the reference method."""

from dbversus.report.parts.experiment import efficiency
from dbversus.report.views.registry import Shown
from dbversus.results.stored import Results


def show(results: Results) -> Shown:
    return Shown(*efficiency.flat(results), lambda console: console.print(efficiency.text(results), soft_wrap=True))
