"""The summaries of steps, a column per step and a line per target, and all columns of the Insert Benchmark."""

from collections.abc import Mapping, Sequence

from dbversus.report.formats import steps_table
from dbversus.report.formats.steps_table import MARKS
from dbversus.report.formats.xlsx.table import (
    Cell,
    Column,
    Form,
    Lines,
    Sheet,
    Table,
    interval_cells,
    of_ratio,
    ratio_cells,
    with_interval,
)
from dbversus.report.model import Assessment, Step
from dbversus.report.parts.steps.summary import (
    BELOW,
    FASTER,
    HIGH,
    LOW,
    SLOWER,
    VOID,
    insert_mark,
    ratio_mark,
    standings,
)
from dbversus.stats.model import Verdict

_MARK_WORDS: Mapping[str, str] = {
    HIGH: "highest quarter",
    LOW: "lowest quarter",
    FASTER: "faster",
    SLOWER: "slower",
    BELOW: "below the SLA",
    VOID: str(Verdict.SLA_FAILED),
}
_TEXTS = ("test", "target", "sla")
_COUNTS = ("blocks",)

Cells = list[Cell]


def sheet(assessment: Assessment) -> Sheet | None:
    """Rates, ratios to the base, and insert rates while queries are run."""
    part = assessment.steps
    labels = list(dict.fromkeys(label for step in part.steps for label in step.cells)) if part else []
    if not part or not labels:
        return None
    base = assessment.base.label
    tables = [_rates(part.steps, labels)]
    if len(labels) > 1:
        tables.append(_ratios(part.steps, labels, base))
    if rated := [step for step in part.steps if step.target_per_s is not None]:
        tables.append(_inserts(rated, labels))
    notes = [f"{table.title}: {steps_table.NOTES[table.title]}" for table in tables]
    return Sheet("Steps", "The steps, target by target", [*tables, Lines("Notes", notes)])


def _rates(steps: Sequence[Step], labels: Sequence[str]) -> Table:
    columns = [Column("target")]
    rows = [[Cell(label)] for label in labels]
    for step in steps:
        columns += [*with_interval(step.name, step.unit), Column(f"{step.name} is")]
        marks = standings(step)
        for label, row in zip(labels, rows, strict=True):
            mark = marks.get(label, "")
            cell = step.cells.get(label)
            row += [*interval_cells(cell.rate if cell else None, look=mark), _word(mark)]
    return Table(columns, rows, title=steps_table.RATES).trimmed()


def _ratios(steps: Sequence[Step], labels: Sequence[str], base: str) -> Table:
    columns = [Column("target")]
    rows = [[Cell(label)] for label in labels]
    for step in steps:
        columns += [*of_ratio(step.name), Column(f"{step.name} is")]
        for label, row in zip(labels, rows, strict=True):
            cell = step.cells.get(label)
            mark = ratio_mark(step, base, label) if cell else ""
            row += [*ratio_cells(cell.finding if cell else None, mark), _word(mark)]
    return Table(columns, rows, title=steps_table.RATIOS).trimmed()


def _inserts(steps: Sequence[Step], labels: Sequence[str]) -> Table:
    """The last line is the rate that was asked for."""
    columns = [Column("target")]
    rows = [[Cell(label)] for label in labels]
    asked = [Cell("asked for")]
    for step in steps:
        columns += [*with_interval(step.name, "rows/s"), Column(f"{step.name} is")]
        for label, row in zip(labels, rows, strict=True):
            cell = step.cells.get(label)
            mark = insert_mark(step, label) if cell else ""
            row += [*interval_cells(cell.inserts_per_s if cell else None, look=mark), _word(mark)]
        asked += [Cell(step.target_per_s), Cell(None), Cell(None), Cell("")]
    return Table(columns, [*rows, asked], title=steps_table.INSERTS).trimmed()


def _word(mark: str) -> Cell:
    return Cell(f"{MARKS[mark]} {_MARK_WORDS[mark]}" if mark else "", mark)


def columns_sheet(assessment: Assessment) -> Sheet | None:
    part = assessment.steps
    if not part or not part.lines:
        return None
    names = steps_table.shown_columns(part)
    columns = [Column(name, _form(name)) for name in names]
    rows = [[line[name] for name in names] for line in part.lines]
    legend = [f"{name}: {what}" for name, what in steps_table.legend(part)]
    return Sheet("Step columns", "Columns of the steps", [Table(columns, rows, lead=2), Lines("Columns", legend)])


def _form(name: str) -> Form:
    return Form.TEXT if name in _TEXTS else Form.COUNT if name in _COUNTS else Form.NUMBER
