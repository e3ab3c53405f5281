"""The summaries of steps, a column per step and a line per target, and all columns of the Insert Benchmark."""

from collections.abc import Callable, Mapping, Sequence

from dbversus.report.formats.tables import steps_table
from dbversus.report.formats.tables.steps_table import MARKS
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
from dbversus.report.table import (
    NOTHING,
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
_ASKED_FOR = "asked for"

Columns = Callable[[Step], list[Column]]
Cells = Callable[[Step, str], list[Cell]]
"""Of a step, and of a target in it."""


def sheet(assessment: Assessment) -> Sheet | None:
    """Rates, ratios to the base, and insert rates while queries are run."""
    part = assessment.steps
    labels = list(dict.fromkeys(label for step in part.steps for label in step.cells)) if part else []
    if not part or not labels:
        return None
    tables = [_table(steps_table.RATES, part.steps, labels, _rate_columns, _rate_beside(assessment.base.label))]
    if len(labels) > 1:
        tables.append(_table(steps_table.RATIOS, part.steps, labels, _ratio_columns, _ratio_to(assessment.base.label)))
    if rated := [step for step in part.steps if steps_table.has_inserts(step)]:
        tables.append(_inserts(rated, labels))
    notes = [f"{table.title}: {steps_table.NOTES[table.title]}" for table in tables]
    return Sheet("Steps", "The steps, target by target", [*tables, Lines("Notes", notes)])


def _table(title: str, steps: Sequence[Step], labels: Sequence[str], columns: Columns, cells: Cells) -> Table:
    head = [Column("target"), *(column for step in steps for column in columns(step))]
    rows = [[Cell(label), *(cell for step in steps for cell in cells(step, label))] for label in labels]
    return Table(head, rows, title=title).trimmed()


def _rate_columns(step: Step) -> list[Column]:
    return [*with_interval(step.name, step.unit), _is(step)]


def _rate_beside(base: str) -> Cells:
    def cells(step: Step, label: str) -> list[Cell]:
        mark = standings(step, base).get(label, "")
        cell = step.cells.get(label)
        return [*interval_cells(cell.rate if cell else None, look=mark), _word(mark)]

    return cells


def _ratio_columns(step: Step) -> list[Column]:
    return [*of_ratio(step.name), _is(step)]


def _ratio_to(base: str) -> Cells:
    def cells(step: Step, label: str) -> list[Cell]:
        cell = step.cells.get(label)
        mark = ratio_mark(step, base, label) if cell else ""
        return [*ratio_cells(cell.finding if cell else None, mark), _word(mark)]

    return cells


def _inserts(steps: Sequence[Step], labels: Sequence[str]) -> Table:
    """The last line is the rate that was asked for, where that is known."""

    def cells(step: Step, label: str) -> list[Cell]:
        if label == _ASKED_FOR:
            return [Cell(step.target_per_s), *map(Cell, NOTHING)]
        cell = step.cells.get(label)
        mark = insert_mark(step, label) if cell else ""
        return [*interval_cells(cell.inserts_per_s if cell else None, look=mark), _word(mark)]

    def columns(step: Step) -> list[Column]:
        return [*with_interval(step.name, "rows/s"), _is(step)]

    asked = [_ASKED_FOR] if any(step.target_per_s is not None for step in steps) else []
    return _table(steps_table.INSERTS, steps, [*labels, *asked], columns, cells)


def _is(step: Step) -> Column:
    """Of the words for marks."""
    return Column(f"{step.name} is")


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
