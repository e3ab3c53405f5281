"""The columns of the Insert Benchmark, for tests that last."""

from collections.abc import Mapping, Sequence
from typing import Any

from dbversus.errors import UsageError
from dbversus.report.parts.steps import columns
from dbversus.report.parts.steps.imported import PRINTED, imported_steps_part
from dbversus.report.views.registry import Shown
from dbversus.report.words import rounded
from dbversus.results.stored import Results
from dbversus.stats.values.imported import is_imported


def show(results: Results) -> Shown:
    names, lines = _of_import(results) if is_imported(results) else (list(columns.COLUMNS), columns.steps(results))
    if not lines:
        raise UsageError(
            f"{results.directory} has no test that lasts; --table steps needs a step, roles, or slots of a second or more."
        )
    return Shown(names, [tuple(rounded(value) for value in line.values()) for line in lines])


def _of_import(results: Results) -> tuple[list[str], Sequence[Mapping[str, Any]]]:
    part = imported_steps_part(results, ())
    return list(PRINTED), part.lines if part else ()
