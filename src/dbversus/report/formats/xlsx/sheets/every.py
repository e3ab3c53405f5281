"""All sheets, in their order."""

from collections.abc import Callable, Sequence
from functools import partial

from dbversus.report.formats.xlsx.sheets import overview
from dbversus.report.formats.xlsx.sheets.comparisons import (
    claims,
    failures,
    generations,
    matrix,
    ratios,
    scaleup,
    sizes,
    steps,
    verdicts,
)
from dbversus.report.formats.xlsx.sheets.per_test import (
    causes,
    efficiency,
    figures,
    notes,
    objects,
    response,
    roles,
    seconds,
    statements,
)
from dbversus.report.formats.xlsx.sheets.setup import (
    differences,
    loads,
    surroundings,
)
from dbversus.report.formats.xlsx.table import Sheet
from dbversus.report.model import Assessment
from dbversus.stats.judged import JUDGEABLE_METRICS

_MAKERS: Sequence[Callable[[Assessment], Sheet | None]] = (
    verdicts.sheet,
    *(partial(ratios.sheet, metric) for metric in JUDGEABLE_METRICS),
    causes.sheet,
    failures.sheet,
    generations.of_assessment,
    claims.sheet,
    matrix.sheet,
    matrix.figures_sheet,
    steps.sheet,
    steps.columns_sheet,
    scaleup.sheet,
    scaleup.verdicts_sheet,
    sizes.sheet,
    efficiency.sheet,
    figures.sheet,
    response.sheet,
    roles.sheet,
    objects.sheet,
    objects.phases_sheet,
    objects.events_sheet,
    seconds.sheet,
    notes.sheet,
    statements.sheet,
    loads.sheet,
    differences.settings_sheet,
    differences.plans_sheet,
    surroundings.disturbance_sheet,
    surroundings.servers_sheet,
    surroundings.host_sheet,
)


def sheets_of(assessment: Assessment) -> list[Sheet]:
    """The overview, which names all others, then these."""
    found = [sheet for make in _MAKERS if (sheet := make(assessment))]
    return [overview.sheet(assessment, found), *found]
