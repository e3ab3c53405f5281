"""What servers count of single objects, what they held when phases began, and what they did of their own accord."""

from collections.abc import Iterator

from dbversus.report.formats.tables import events_table, objects_table
from dbversus.report.formats.xlsx.table import (
    Cell,
    Column,
    Form,
    Lines,
    Sheet,
    Table,
    Value,
    interval_cells,
    with_interval,
)
from dbversus.report.model import Assessment, ObjectLine

_PER_OP, _AT_END = "per operation", "at the end"


def sheet(assessment: Assessment) -> Sheet | None:
    columns = [Column("test"), Column("when"), Column("object"), Column("figure"), Column("target")]
    columns += [*with_interval("value"), Column("n", Form.COUNT)]
    rows = [
        [test.name, when, *row]
        for test in assessment.tests
        if test.objects
        for when, lines in ((_PER_OP, test.objects.per_op), (_AT_END, test.objects.at_end))
        for line in lines
        for row in _rows(line)
    ]
    if not rows:
        return None
    notes = objects_table.notes_of_all(assessment.tests, most=None)
    title = "Reads, writes, rows, sizes, caches and gauges, by object"
    return Sheet("Objects", title, [Table(columns, rows).trimmed(), Lines("Notes", notes)])


def phases_sheet(assessment: Assessment) -> Sheet | None:
    columns = [Column("phase"), Column("object"), Column("figure"), Column("target")]
    columns += [*with_interval("value"), Column("n", Form.COUNT)]
    rows = [[part.name, *row] for part in assessment.phases for line in part.lines for row in _rows(line)]
    if not rows:
        return None
    notes = Lines("Notes", [objects_table.PHASES_NOTE])
    return Sheet("Phases", objects_table.AT_PHASES, [Table(columns, rows).trimmed(), notes])


def _rows(line: ObjectLine) -> Iterator[list[Cell | Value]]:
    for label, estimate in line.estimates.items():
        head = [f"{line.kind} {line.object}", objects_table.figure_words(line), label]
        yield [*head, *interval_cells(estimate), estimate.n]


def events_sheet(assessment: Assessment) -> Sheet | None:
    columns = [Column("test"), Column("target"), Column("what"), Column("at, s", Form.NUMBER)]
    columns += [Column("driven, s", Form.NUMBER), Column("took, s", Form.NUMBER), Column("where"), Column("as told")]
    rows = [
        [test.name, one.target, one.what, one.at_s, one.driven_s, one.took_s, one.placed, one.words]
        for test in assessment.tests
        for one in test.events
    ]
    if not rows:
        return None
    table = Table(columns, rows, lead=2).trimmed()
    return Sheet("Server events", "Server events of the first block", [table, Lines("Notes", [events_table.NOTE])])
