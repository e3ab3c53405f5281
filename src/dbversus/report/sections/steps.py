"""The columns of the Insert Benchmark for tests that last, for programs; the summary of steps has them in reports."""

from collections.abc import Mapping, Sequence
from typing import Any

from dbversus.report.judged import Judged
from dbversus.report.parts.steps import columns
from dbversus.report.parts.steps.imported import PRINTED, imported_steps_part
from dbversus.report.section import Section
from dbversus.report.table import Column, Table
from dbversus.stats.values.imported import is_imported

LACKS = "has no test that lasts; --table steps needs a step, roles, or slots of a second or more."


def section(judged: Judged) -> Section | None:
    """Reports have it under the summary."""
    return None


def asked(judged: Judged) -> Section | None:
    names, lines = _of(judged)
    table = Table([Column(name) for name in names], [list(line.values()) for line in lines])
    return Section(title="Columns of the steps", data=[table]) if lines else None


def _of(judged: Judged) -> tuple[list[str], Sequence[Mapping[str, Any]]]:
    if is_imported(judged.results):
        part = imported_steps_part(judged.results, ())
        return list(PRINTED), part.lines if part else ()
    return list(columns.COLUMNS), columns.steps(judged.results)
