"""The columns of the Insert Benchmark, for tests that last."""

from dbversus.errors import UsageError
from dbversus.report.parts.steps import columns
from dbversus.report.views.registry import Shown
from dbversus.report.words import rounded
from dbversus.results.read import Results


def show(results: Results) -> Shown:
    lines = columns.steps(results)
    if not lines:
        raise UsageError(
            f"{results.directory} has no test that lasts; --table steps needs a step, roles, or slots of a second or more."
        )
    return Shown(list(columns.COLUMNS), [tuple(rounded(value) for value in line.values()) for line in lines])
