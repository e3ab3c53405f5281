"""Two generations of two DBMSs, as the reference's spreadsheet has them: gold for throughput, silver for CPU per operation."""

from collections.abc import Iterator

from dbversus.report.formats.xlsx.looks import GOLD, SILVER
from dbversus.report.generations import words
from dbversus.report.model import Assessment
from dbversus.report.pairs import Generations
from dbversus.report.table import (
    NO,
    NOTHING,
    YES,
    Cell,
    Column,
    Form,
    Lines,
    Mean,
    Sheet,
    Table,
    Value,
    of_ratio,
)
from dbversus.stats.across.generations import MARKED, Change, TestShift
from dbversus.stats.means import Ratio, spread_of
from dbversus.stats.metrics import THROUGHPUT

_LOOKS = {"gold": GOLD, "silver": SILVER}
_ONE_RUN = "one run of each target: no verdict, in no mean"
_MEANS_NOTE = (
    "Geometric means are formulas over the rows that are said to be in them; the intervals beside them are those of dbversus, "
    "over blocks, and do not change with the table."
)


def of_assessment(assessment: Assessment) -> Sheet | None:
    return sheet(assessment.generations) if assessment.generations else None


def sheet(generations: Generations) -> Sheet:
    notes = [*words.sentences(generations), words.legend(generations), _MEANS_NOTE]
    return Sheet("Generations", words.title(generations), [_table(generations), Lines("Notes", notes)])


def _sides(metric: str) -> tuple[str, ...]:
    return ("old", "new", "shift") if metric in MARKED else ("old", "new")


def _in_mean(metric: str) -> str:
    return f"in {words.SHORT[metric]} mean"


def _table(generations: Generations) -> Table:
    columns = [Column("test")]
    for metric, short in words.SHORT.items():
        columns += [column for side in _sides(metric) for column in of_ratio(f"{short} {side}")]
        columns += [Column(words.METALS[metric]), Column(_in_mean(metric))] if metric in MARKED else []
    columns += [Column("blocks old", Form.COUNT), Column("blocks new", Form.COUNT), Column("left out")]
    shifts = generations.shifts
    rows = [list(_row(item, generations)) for item in shifts.judged]
    if shifts.load:
        rows.append(list(_row(TestShift(shifts.load.test, shifts.load.changes, _ONE_RUN), generations)))
    return Table(columns, rows, means=[_mean(generations)] if shifts.means else []).trimmed()


def _row(item: TestShift, generations: Generations) -> Iterator[Cell]:
    yield Cell(item.test)
    for metric in words.SHORT:
        change = words.change_of(item, metric)
        for side in _sides(metric):
            is_marked = side == "shift" and change.mark
            yield from _cells(getattr(change, side), _LOOKS[words.METALS[metric]] if is_marked else "")
        if metric in MARKED:
            yield Cell(words.mark(metric, change), _LOOKS[words.METALS[metric]] if change.mark else "")
            yield Cell(YES if item.test in generations.shifts.in_mean.get(metric, ()) else NO)
    throughput = words.change_of(item, THROUGHPUT)
    yield from (Cell(side.blocks if side else None) for side in (throughput.old, throughput.new))
    yield Cell(item.left_out)


def _cells(ratio: Ratio | None, look: str) -> list[Cell]:
    found = (ratio.value, *spread_of(ratio)) if ratio else NOTHING
    return [Cell(value, look) for value in found]


def _mean(generations: Generations) -> Mean:
    of: dict[str, str] = {}
    beside: dict[str, Value] = {}
    for metric, change in generations.shifts.means.items():
        for side in _sides(metric):
            name = f"{words.SHORT[metric]} {side}"
            of[f"{name} ratio"] = _in_mean(metric)
            beside |= _interval(name, change, side)
    return Mean(of, beside=beside)


def _interval(name: str, change: Change, side: str) -> dict[str, Value]:
    ratio = getattr(change, side)
    return {f"{name} ratio {end}": bound for end, bound in spread_of(ratio)._asdict().items()} if ratio else {}
