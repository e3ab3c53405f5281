"""All sheets, in their order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from dbversus.report.formats.xlsx.sheets import overview
from dbversus.report.formats.xlsx.sheets.comparisons import (
    failures,
    ratios,
    verdicts,
)
from dbversus.report.formats.xlsx.sheets.per_test import (
    figures,
    notes,
    seconds,
    statements,
)
from dbversus.report.formats.xlsx.sheets.setup import (
    differences,
    loads,
    surroundings,
)
from dbversus.report.model import Assessment
from dbversus.report.section import Section
from dbversus.report.table import Lines, Sheet
from dbversus.stats.judged import JUDGEABLE_METRICS


def of_sections(assessment: Assessment) -> Iterator[Sheet]:
    for section in assessment.sections:
        yield from of_section(section)


def of_section(section: Section) -> Iterator[Sheet]:
    """A sheet for each name that its tables have."""
    for name in dict.fromkeys(table.sheet for table in (*section.tables, *section.data) if table.sheet):
        yield _sheet(section, name)


def _sheet(section: Section, name: str) -> Sheet:
    """What is said of tables, or of all of them, stands below; a table that is alone gives the sheet its title."""
    own = [table for table in (*section.tables, *section.data) if table.sheet == name]
    many = len(own) > 1
    notes = [f"{table.title}: {note}" if many else note for table in own for note in table.notes] or section.notes
    title = section.title if many else own[0].title or section.title
    tables = [replace(table.spread_out().trimmed(), title=table.title if many else "") for table in own]
    legends = [Lines("Columns", [f"{one}: {what}" for one, what in table.legend]) for table in own if table.legend]
    return Sheet(name, title, [*tables, *([Lines("Notes", notes)] if notes else []), *legends])


_MAKERS: Sequence[Callable[[Assessment], Iterable[Sheet] | Sheet | None]] = (
    verdicts.sheet,
    *(partial(ratios.sheet, metric) for metric in JUDGEABLE_METRICS),
    failures.sheet,
    of_sections,
    figures.sheet,
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
    made = [make(assessment) for make in _MAKERS]
    found = [sheet for one in made for sheet in ([one] if isinstance(one, Sheet) else one or ())]
    return [overview.sheet(assessment, found), *found]
