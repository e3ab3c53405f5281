"""The summaries of steps and their columns, the same in every report: steps as columns, targets as lines."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from rich.console import Console

from dbversus.report.formats.tables.matrix_table import Table, show
from dbversus.report.model import Estimate, Step, StepCell, StepsPart
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
from dbversus.report.terminal import say
from dbversus.report.words import SIGNS, number, rounded, spread
from dbversus.report.words import ratio as show_ratio
from dbversus.stats.model import Verdict

UNKNOWN = "NA"
NOTHING = "–"
FEW_LINES = 8
"""So many lines of columns are shown at once; more are folded away."""

MARKS: Mapping[str, str] = {
    HIGH: "▲",
    LOW: "▼",
    FASTER: "▲",
    SLOWER: "▼",
    BELOW: SIGNS[Verdict.SLA_FAILED],
    VOID: SIGNS[Verdict.SLA_FAILED],
}
"""Signs beside the colours, for those who do not tell these apart."""

RATES, RATIOS, INSERTS = "Rate of each step", "Rate against the base", "Insert rate while queries are run, rows/s"
NOTES = {
    RATES: (
        "Mean over blocks, or over the runs of an import [95 % interval] or (range). "
        "▲ green: in the highest quarter between the lowest and the highest rate of a step; "
        "▼ red: in the lowest, unless that is within 20 % of the highest; both rank, where a target is shown to differ from the "
        "base. "
        f"{MARKS[VOID]} grey: a role missed its SLA, and the rate does not count."
    ),
    RATIOS: (
        "Ratio of throughput [interval of the verdicts]. ▲ blue: a change whose whole interval lies above 1.05; ▼ yellow: below "
        "0.95. What has no interval has no colour."
    ),
    INSERTS: f"{MARKS[BELOW]} red: below what the SLA asks for. The last line is the rate that was asked for, where it is known.",
}


class Cell(NamedTuple):
    """`mark`: one of MARKS, or empty."""

    text: str
    mark: str = ""
    interval: str = ""

    @property
    def signed(self) -> str:
        """Without the interval."""
        return f"{MARKS[self.mark]} {self.text}" if self.mark else self.text

    @property
    def words(self) -> str:
        """What the mark means, where that has to be said in the cell."""
        return str(Verdict.SLA_FAILED) if self.mark == VOID else ""

    @property
    def whole(self) -> str:
        return " ".join(part for part in (self.signed, self.interval, self.words) if part)


class Summary(NamedTuple):
    """A table of cells with a note on its colours; the first cell of a row is the target's label."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    note: str

    @property
    def plain(self) -> Table:
        return Table(self.title, self.columns, [[cell.whole for cell in row] for row in self.rows])


def summaries(part: StepsPart, base: str, intervals: bool = True) -> list[Summary]:
    """Rates; ratios where there is more than one target; insert rates where rows come while queries are run."""
    labels = list(dict.fromkeys(label for step in part.steps for label in step.cells))
    marks = {step.name: standings(step, base) for step in part.steps}

    def rate(step: Step, label: str, cell: StepCell) -> Cell:
        return _estimate(cell.rate, marks[step.name].get(label, ""), intervals)

    def ratio(step: Step, label: str, cell: StepCell) -> Cell:
        if label == base:
            return Cell("1", VOID if cell.sla_failed else "")
        if cell.finding is None:
            return Cell(NOTHING, ratio_mark(step, base, label))
        between = spread(cell.finding) if intervals else ""
        return Cell(show_ratio(cell.finding.ratio), ratio_mark(step, base, label), between)

    with_units = [f"{step.name}, {step.unit}" for step in part.steps]
    names = [step.name for step in part.steps]
    found = [_summary(RATES, with_units, part.steps, labels, rate)] if labels else []
    if len(labels) > 1:
        found.append(_summary(RATIOS, names, part.steps, labels, ratio))
    if rated := [step for step in part.steps if has_inserts(step)]:
        found.append(_inserts(rated, labels, intervals))
    return found


def _inserts(steps: Sequence[Step], labels: Sequence[str], intervals: bool) -> Summary:
    def inserts(step: Step, label: str, cell: StepCell) -> Cell:
        if cell.inserts_per_s is None:
            return Cell(NOTHING)
        return _estimate(cell.inserts_per_s, insert_mark(step, label), intervals)

    summary = _summary(INSERTS, [step.name for step in steps], steps, labels, inserts)
    if all(step.target_per_s is None for step in steps):
        return summary
    asked = [Cell("asked for"), *(Cell(number(step.target_per_s)) for step in steps)]
    return summary._replace(rows=[*summary.rows, asked])


def has_inserts(step: Step) -> bool:
    """Whether rows come while queries are run."""
    return any(cell.inserts_per_s is not None for cell in step.cells.values())


def _estimate(estimate: Estimate, mark: str, intervals: bool) -> Cell:
    return Cell(number(estimate.value), mark, spread(estimate, number) if intervals else "")


def _summary(
    title: str,
    columns: Sequence[str],
    steps: Sequence[Step],
    labels: Sequence[str],
    cell_of: Callable[[Step, str, StepCell], Cell],
) -> Summary:
    rows = [
        [
            Cell(label),
            *(cell_of(step, label, step.cells[label]) if label in step.cells else Cell(NOTHING) for step in steps),
        ]
        for label in labels
    ]
    return Summary(title, ["target", *columns], rows, NOTES[title])


def columns_table(part: StepsPart) -> Table:
    """A line per step and target; without columns that are known nowhere."""
    names = shown_columns(part)
    return Table("Columns of the steps", names, [[_text(line[name]) for name in names] for line in part.lines])


def shown_columns(part: StepsPart) -> list[str]:
    return [name for name in part.columns if any(line[name] not in (None, "") for line in part.lines)]


def legend(part: StepsPart) -> list[tuple[str, str]]:
    """What the shown columns are, with their units."""
    return [(name, part.columns[name]) for name in shown_columns(part) if part.columns[name]]


def _text(value: Any) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, int):
        return f"{value:,}"
    return number(value) if isinstance(value, float) else str(value)


def render(part: StepsPart, base: str, console: Console) -> None:
    """The summaries for the terminal; intervals are left out where it is too narrow for them."""
    show(lambda intervals: [one.plain for one in summaries(part, base, intervals)], console)
    for one in summaries(part, base):
        say(console, f"{one.title}: {one.note}", "dim")


def as_json(part: StepsPart, base: str) -> dict[str, Any]:
    """Plain dicts, with the marks of the summaries."""
    return {
        "steps": [_json_step(step, base) for step in part.steps],
        "columns": {name: what for name, what in part.columns.items() if what},
        "lines": [dict(line) for line in part.lines],
    }


def _json_step(step: Step, base: str) -> dict[str, Any]:
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


def flat(part: StepsPart) -> tuple[list[str], list[tuple[Any, ...]]]:
    """For pipes: a line per figure and target, a column per step; `figure` says what the line has."""
    labels = list(dict.fromkeys(label for step in part.steps for label in step.cells))
    figures: Mapping[str, Callable[[StepCell], Any]] = {
        "rate": lambda cell: cell.rate.value,
        "rate_low": lambda cell: cell.rate.low,
        "rate_high": lambda cell: cell.rate.high,
        "rate_least": lambda cell: cell.rate.least,
        "rate_most": lambda cell: cell.rate.most,
        "blocks": lambda cell: cell.rate.n,
        "ratio": lambda cell: cell.finding.ratio if cell.finding else None,
        "ratio_low": lambda cell: cell.finding.low if cell.finding else None,
        "ratio_high": lambda cell: cell.finding.high if cell.finding else None,
        "ratio_least": lambda cell: cell.finding.least if cell.finding else None,
        "ratio_most": lambda cell: cell.finding.most if cell.finding else None,
        "inserts_per_s": lambda cell: cell.inserts_per_s.value if cell.inserts_per_s else None,
        "sla_failed": lambda cell: cell.sla_failed,
    }
    rows: list[tuple[Any, ...]] = []
    for figure, value_of in figures.items():
        for label in labels:
            values = [value_of(step.cells[label]) if label in step.cells else None for step in part.steps]
            if any(value is not None for value in values):
                rows.append((label, figure, *map(rounded, values)))
    rows.append(("", "unit", *(step.unit for step in part.steps)))
    rows.append(("", "inserts_asked_per_s", *(step.target_per_s for step in part.steps)))
    return ["target", "figure", *(step.name for step in part.steps)], rows
