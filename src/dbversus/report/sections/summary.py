"""The summaries of steps: what each does, how fast it was on each target, and against the base; and all columns of steps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dbversus.report.judged import Judged
from dbversus.report.model import Step, StepCell, StepsPart
from dbversus.report.parts.steps.summary import BELOW, FASTER, SLOWER, VOID, insert_mark, rate_mark, ratio_mark
from dbversus.report.section import Section
from dbversus.report.table import Cell, Column, Form, Row, Table, figure_cell, ratio_cell
from dbversus.report.words import SIGNS
from dbversus.stats.model import Verdict

LACKS = "has no test that is a step; --table summary needs one (docs/suites/clients.md)."
SLA_FAILED = SIGNS[Verdict.SLA_FAILED]
_MARKS: Mapping[str, tuple[str, str]] = {
    "": ("", ""),
    FASTER: (SIGNS[Verdict.IMPROVEMENT], str(Verdict.IMPROVEMENT)),
    SLOWER: (SIGNS[Verdict.REGRESSION], str(Verdict.REGRESSION)),
    BELOW: (SLA_FAILED, "below the SLA"),
    VOID: (SLA_FAILED, str(Verdict.SLA_FAILED)),
}
"""Signs beside the colours, for those who do not tell these apart, and words for both."""

RATES, RATIOS, INSERTS = "Rate of each step", "Rate against the base", "Insert rate while queries are run, rows/s"
WORDS = "What the steps do"
_COLUMNS = "Columns of the steps"
_OF_RATES = (
    "Mean over blocks, or over the runs of an import [95 % interval] or (range). "
    f"{SLA_FAILED}: a role missed its SLA, and the rate does not count."
)
_OF_RATIOS = (
    "Ratios are of throughput, with the intervals and signs of its verdicts; what has no sign differs by little, or is not shown "
    "to."
)
_NOTES = {
    RATES: _OF_RATES,
    RATIOS: _OF_RATIOS,
    INSERTS: f"{SLA_FAILED}: below what the SLA asks for.",
}
CellOf = Callable[[Step, str, StepCell], Cell]
MOST_COLUMNS = 4
"""Targets that stand beside each other, a line per step; more stand below each other, a column per step."""
_ENDS = ("low", "high", "least", "most")
_FIGURES: Mapping[str, str] = {
    "rate": "rate.value",
    **{f"rate_{end}": f"rate.{end}" for end in _ENDS},
    "blocks": "rate.n",
    "ratio": "finding.ratio",
    **{f"ratio_{end}": f"finding.{end}" for end in _ENDS},
    "inserts_per_s": "inserts_per_s.value",
    "sla_failed": "sla_failed",
}
"""Of the lines for programs: where they are in a StepCell."""
_TEXTS = ("test", "target", "sla")


def section(judged: Judged) -> Section | None:
    part = judged.steps
    return of_steps(part, judged.labels[0]) if part and (part.steps or part.lines) else None


def asked(judged: Judged) -> Section | None:
    return section(judged) if judged.steps and judged.steps.steps else None


def of_steps(part: StepsPart, base: str) -> Section:
    columns = [_columns_table(part)] if part.lines else []
    return Section(
        title="The steps", tables=[*summaries(part, base), *columns], data=[_flat(part)], content=_content(part, base)
    )


def summaries(part: StepsPart, base: str) -> list[Table]:
    """Rates, and ratios where there is more than one target; insert rates where rows come while queries are run."""
    labels = _labels(part)
    rated = [step for step in part.steps if any(cell.inserts_per_s is not None for cell in step.cells.values())]
    if not labels:
        return []
    if len(labels) > MOST_COLUMNS:
        return _below_each_other(part, base, labels, rated)
    return [_beside_each_other(part, base, labels), *([_inserts_by_step(rated, labels)] if rated else [])]


def _beside_each_other(part: StepsPart, base: str, labels: Sequence[str]) -> Table:
    def ratio(step: Step, label: str, cell: StepCell) -> Cell:
        return _ratio(step, base, label, cell)

    others = [label for label in labels if label != base]
    units, titles = (any(getattr(step, name) for step in part.steps) for name in ("unit", "title"))
    columns = [
        Column("step"),
        *(Column(label, Form.NUMBER, spread=True, is_marked=True) for label in labels),
        *(Column(_ratio_title(label, base, others), Form.RATIO, spread=True, is_marked=True) for label in others),
        *([Column("unit")] if units else []),
        *([Column("what it does")] if titles else []),
    ]
    rows: list[Row] = [
        [
            step.name,
            *_cells(step, labels, _rate),
            *_cells(step, others, ratio),
            *([step.unit] if units else []),
            *([step.title] if titles else []),
        ]
        for step in part.steps
    ]
    notes = [_OF_RATES, *([_OF_RATIOS] if others else [])]
    return Table(columns, rows, title=RATES, notes=notes, sheet="Steps")


def _ratio_title(label: str, base: str, others: Sequence[str]) -> str:
    return f"÷ {base}" if len(others) == 1 else f"{label} ÷ {base}"


def _cells(step: Step, labels: Sequence[str], cell_of: CellOf) -> list[Cell]:
    return [cell_of(step, label, step.cells[label]) if label in step.cells else Cell(None) for label in labels]


def _rate(step: Step, label: str, cell: StepCell) -> Cell:
    return _marked(figure_cell(cell.rate), rate_mark(step, label))


def _ratio(step: Step, base: str, label: str, cell: StepCell) -> Cell:
    return _marked(ratio_cell(cell.finding), ratio_mark(step, base, label))


def _inserts_by_step(steps: Sequence[Step], labels: Sequence[str]) -> Table:
    """Columns by target, and what was asked for where that is known."""
    is_asked = any(step.target_per_s is not None for step in steps)
    columns = [
        Column("step"),
        *(Column(label, Form.NUMBER, spread=True, is_marked=True) for label in labels),
        *([Column("asked for", Form.NUMBER)] if is_asked else []),
    ]
    rows: list[Row] = [
        [
            step.name,
            *_cells(step, labels, _inserts),
            *([Cell(step.target_per_s)] if is_asked else []),
        ]
        for step in steps
    ]
    return Table(columns, rows, title=INSERTS, notes=[_NOTES[INSERTS]], sheet="Steps")


def _inserts(step: Step, label: str, cell: StepCell) -> Cell:
    return _marked(figure_cell(cell.inserts_per_s), insert_mark(step, label))


def _below_each_other(part: StepsPart, base: str, labels: Sequence[str], rated: Sequence[Step]) -> list[Table]:
    def ratio(step: Step, label: str, cell: StepCell) -> Cell:
        return _marked(Cell("1"), rate_mark(step, base)) if label == base else _ratio(step, base, label, cell)

    words = [[step.name, step.title] for step in part.steps if step.title]
    found = [
        *([Table([Column("step"), Column("what it does")], words, title=WORDS, sheet="Steps")] if words else []),
        _table(RATES, part.steps, labels, Form.NUMBER, _rate, lambda step: step.unit),
        _table(RATIOS, part.steps, labels, Form.RATIO, ratio),
    ]
    if not rated:
        return found
    made = _table(INSERTS, rated, labels, Form.NUMBER, _inserts)
    asked: Row = ["asked for", *(Cell(step.target_per_s) for step in rated)]
    return [*found, made if all(step.target_per_s is None for step in rated) else made.with_rows([*made.rows, asked])]


def _table(
    title: str,
    steps: Sequence[Step],
    labels: Sequence[str],
    form: Form,
    cell_of: CellOf,
    unit: Callable[[Step], str] = lambda _: "",
) -> Table:
    columns = [Column(step.name, form, unit(step), spread=True, is_marked=True) for step in steps]
    rows: list[Row] = [[label, *(_cells(step, [label], cell_of)[0] for step in steps)] for label in labels]
    return Table([Column("target"), *columns], rows, title=title, notes=[_NOTES[title]], sheet="Steps")


def _marked(cell: Cell, mark: str) -> Cell:
    sign, word = _MARKS[mark]
    return cell._replace(look=mark, sign=sign, word=word, remark=word if mark == VOID else "")


def _labels(part: StepsPart) -> list[str]:
    return list(dict.fromkeys(label for step in part.steps for label in step.cells))


def _columns_table(part: StepsPart) -> Table:
    """A line per step and target; without columns that are known nowhere."""
    names = [name for name in part.columns if any(line[name] not in (None, "") for line in part.lines)]
    columns = [Column(name, _form(name)) for name in names]
    legend = [(name, part.columns[name]) for name in names if part.columns[name]]
    rows = [[line[name] for name in names] for line in part.lines]
    return Table(columns, rows, lead=2, title=_COLUMNS, sheet="Step columns", is_folded=True, legend=legend)


def _form(name: str) -> Form:
    return Form.TEXT if name in _TEXTS else Form.COUNT if name == "blocks" else Form.NUMBER


def _content(part: StepsPart, base: str) -> dict[str, Any]:
    return {
        "steps": [_step_content(step, base) for step in part.steps],
        "columns": {name: what for name, what in part.columns.items() if what},
        "lines": [dict(line) for line in part.lines],
    }


def _step_content(step: Step, base: str) -> dict[str, Any]:
    return {
        "name": step.name,
        "title": step.title,
        "unit": step.unit,
        "inserts_asked_per_s": step.target_per_s,
        "sla": step.sla,
        "targets": {
            label: {
                "rate": asdict(cell.rate),
                "inserts_per_s": asdict(cell.inserts_per_s) if cell.inserts_per_s else None,
                "sla_failed": cell.sla_failed,
                "marks": {
                    "rate": rate_mark(step, label),
                    "ratio": ratio_mark(step, base, label),
                    "inserts": insert_mark(step, label),
                },
            }
            for label, cell in step.cells.items()
        },
    }


def _at(cell: StepCell | None, path: str) -> Any:
    found: Any = cell
    for name in path.split("."):
        found = None if found is None else getattr(found, name)
    return found


def _flat(part: StepsPart) -> Table:
    """For programs: a line per figure and target, a column per step; `figure` says what the line has."""
    rows: list[Row] = []
    for figure, path in _FIGURES.items():
        for label in _labels(part):
            values = [_at(step.cells.get(label), path) for step in part.steps]
            if any(value is not None for value in values):
                rows.append([label, figure, *values])
    rows.append(["", "unit", *(step.unit for step in part.steps)])
    rows.append(["", "inserts_asked_per_s", *(step.target_per_s for step in part.steps)])
    names = [step.name for step in part.steps]
    return Table([Column(name) for name in ("target", "figure", *names)], rows)
