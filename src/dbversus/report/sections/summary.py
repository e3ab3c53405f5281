"""The summaries of steps as the Insert Benchmark has them, steps as columns and targets as lines; and all columns of steps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dbversus.report.judged import Judged
from dbversus.report.model import Step, StepCell, StepsPart
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
from dbversus.report.section import Section
from dbversus.report.table import Cell, Column, Form, Row, Table, figure_cell, ratio_cell
from dbversus.report.words import SIGNS
from dbversus.stats.model import Verdict

LACKS = "has no test that is a step; --table summary needs one (docs/suites/clients.md)."
SLA_FAILED = SIGNS[Verdict.SLA_FAILED]
_MARKS: Mapping[str, tuple[str, str]] = {
    "": ("", ""),
    HIGH: ("▲", "highest quarter"),
    LOW: ("▼", "lowest quarter"),
    FASTER: ("▲", "faster"),
    SLOWER: ("▼", "slower"),
    BELOW: (SLA_FAILED, "below the SLA"),
    VOID: (SLA_FAILED, str(Verdict.SLA_FAILED)),
}
"""Signs beside the colours, for those who do not tell these apart, and words for both."""

RATES, RATIOS, INSERTS = "Rate of each step", "Rate against the base", "Insert rate while queries are run, rows/s"
_COLUMNS = "Columns of the steps"
_NOTES = {
    RATES: (
        "Mean over blocks, or over the runs of an import [95 % interval] or (range). "
        "▲ green: in the highest quarter between the lowest and the highest rate of a step; "
        "▼ red: in the lowest, unless that is within 20 % of the highest; both rank, where a target is shown to differ from the "
        f"base. {SLA_FAILED} grey: a role missed its SLA, and the rate does not count."
    ),
    RATIOS: (
        "Ratio of throughput [interval of the verdicts]. ▲ blue: a change whose whole interval lies above 1.05; ▼ yellow: below "
        "0.95. What has no interval has no colour."
    ),
    INSERTS: f"{SLA_FAILED} red: below what the SLA asks for. The last line is the rate that was asked for, where it is known.",
}
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
    """Rates; ratios where there is more than one target; insert rates where rows come while queries are run."""
    labels = _labels(part)
    marks = {step.name: standings(step, base) for step in part.steps}

    def rate(step: Step, label: str, cell: StepCell) -> Cell:
        return _marked(figure_cell(cell.rate), marks[step.name].get(label, ""))

    def ratio(step: Step, label: str, cell: StepCell) -> Cell:
        of_base = label == base
        mark = (VOID if cell.sla_failed else "") if of_base else ratio_mark(step, base, label)
        return _marked(Cell("1") if of_base else ratio_cell(cell.finding), mark)

    found = [_table(RATES, part.steps, labels, Form.NUMBER, rate, lambda step: step.unit)] if labels else []
    if len(labels) > 1:
        found.append(_table(RATIOS, part.steps, labels, Form.RATIO, ratio))
    rated = [step for step in part.steps if any(cell.inserts_per_s is not None for cell in step.cells.values())]
    return [*found, _inserts(rated, labels)] if rated else found


def _inserts(steps: Sequence[Step], labels: Sequence[str]) -> Table:
    def inserts(step: Step, label: str, cell: StepCell) -> Cell:
        return _marked(figure_cell(cell.inserts_per_s), insert_mark(step, label))

    made = _table(INSERTS, steps, labels, Form.NUMBER, inserts)
    if all(step.target_per_s is None for step in steps):
        return made
    asked: Row = ["asked for", *(Cell(step.target_per_s) for step in steps)]
    return made.with_rows([*made.rows, asked])


def _table(
    title: str,
    steps: Sequence[Step],
    labels: Sequence[str],
    form: Form,
    cell_of: Callable[[Step, str, StepCell], Cell],
    unit: Callable[[Step], str] = lambda _: "",
) -> Table:
    columns = [Column(step.name, form, unit(step), spread=True, is_marked=True) for step in steps]
    rows: list[Row] = [
        [label, *(cell_of(step, label, step.cells[label]) if label in step.cells else Cell(None) for step in steps)]
        for label in labels
    ]
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
    marks = standings(step, base)
    return {
        "name": step.name,
        "unit": step.unit,
        "inserts_asked_per_s": step.target_per_s,
        "sla": step.sla,
        "targets": {
            label: {
                "rate": asdict(cell.rate),
                "inserts_per_s": asdict(cell.inserts_per_s) if cell.inserts_per_s else None,
                "sla_failed": cell.sla_failed,
                "marks": {
                    "rate": marks.get(label, ""),
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
