"""Two generations of two DBMSs, as the reference has them: gold for throughput, silver for CPU per operation."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dbversus.report.judged import Judged
from dbversus.report.pairs import Generations, of_experiment
from dbversus.report.section import Part, Section
from dbversus.report.table import MEAN, NO, YES, Cell, Column, Form, Mean, Row, Table, Value
from dbversus.report.words import ratio_text
from dbversus.stats.across.generations import MARKED, Change, Mark, TestShift
from dbversus.stats.means import CONFIDENCE, Ratio, spread_of
from dbversus.stats.metrics import CPU, DISK_READ_BYTES, DISK_READS, THROUGHPUT

LACKS = "has no older and newer version of each of two DBMSs; --table generations needs them (docs/modes.md)."
SHORT = {THROUGHPUT: "qps", CPU: "cpu/o", DISK_READS: "r/o", DISK_READ_BYTES: "rKB/o"}
"""The reference's names of the metrics."""

SIGNS = {Mark.GAIN: "▲", Mark.LOSS: "▼"}
METALS = {THROUGHPUT: "gold", CPU: "silver"}
_SHIFTED = {THROUGHPUT: "throughput", CPU: "CPU per operation"}
_NONE = Change(None, None)
_ONE_RUN = "one run of each target: no verdict, in no mean"
_MEANS_NOTE = (
    "Geometric means are formulas over the rows that are said to be in them; the intervals beside them are those of dbversus, "
    "over blocks, and do not change with the table."
)


def section(judged: Judged) -> Section | None:
    found = of_experiment(judged.results)
    return section_of(found) if found else None


def section_of(found: Generations) -> Section:
    said, notes = sentences(found), [legend(found)]
    return Section(
        title=f"Two generations: {title(found)}",
        sentences=said,
        tables=[_for_eyes(found, list(SHORT))],
        notes=notes,
        data=[_for_programs(found), _of_sheet(found, [*said, *notes, _MEANS_NOTE])],
        on_terminal=Part([_for_eyes(found, MARKED)], notes),
        content=_content(found),
        name="generations",
        is_exact=True,
    )


def _for_eyes(found: Generations, metrics: Sequence[str]) -> Table:
    """A line per test, and one for the geometric means. Of the marked `metrics` alone, titles say what a sign is of."""
    is_whole = len(metrics) > len(MARKED)
    columns = [
        Column(f"{SHORT[metric]} {side}", Form.RATIO, spread=True) for metric in metrics for side in _sides(metric)
    ]
    rows: list[Row] = [
        [
            item.test,
            *(_shown(item, metric, side, is_whole) for metric in metrics for side in _sides(metric)),
            blocks_of(item),
        ]
        for item in lines(found)
    ]
    return Table([Column("test"), *columns, Column("blocks")], rows)


def _sides(metric: str) -> tuple[str, ...]:
    return ("old", "new", "shift") if metric in MARKED else ("old", "new")


def _shown(item: TestShift, metric: str, side: str, is_whole: bool) -> Cell:
    change = change_of(item, metric)
    cell = _cell(getattr(change, side))
    if side != "shift" or not change.mark:
        return cell
    return cell._replace(look=METALS[metric], sign=mark(metric, change) if is_whole else SIGNS[change.mark])


def _cell(ratio: Ratio | None) -> Cell:
    return Cell(ratio.value, spread=spread_of(ratio)) if ratio else Cell(None)


def _ratio_columns(metric: str) -> list[Column]:
    names = [f"{SHORT[metric]} {side}" for side in _sides(metric)]
    return [Column(f"{name} ratio", Form.RATIO, spread=True, name=name, ends=f"{name} ") for name in names]


_LAST = (Column("blocks old", Form.COUNT), Column("blocks new", Form.COUNT), Column("left out"))


def _last(item: TestShift) -> Row:
    change = change_of(item, THROUGHPUT)
    return [*(side.blocks if side else None for side in (change.old, change.new)), item.left_out]


def _for_programs(found: Generations) -> Table:
    """A line per test, one for the geometric means, and one for a load that was done once."""
    # the load has a line of its own behind the means: one run, judged by nobody
    items = [*lines(found), *([found.shifts.load] if found.shifts.load else [])]
    columns = [Column("test")]
    for metric in SHORT:
        columns += [*_ratio_columns(metric), *([Column(METALS[metric])] if metric in MARKED else [])]
    rows: list[Row] = []
    for item in items:
        row: list[Cell | Value] = [item.test]
        for metric in SHORT:
            change = change_of(item, metric)
            row += [_cell(getattr(change, side)) for side in _sides(metric)]
            row += [str(change.mark)] if metric in MARKED else []
        rows.append([*row, *_last(item)])
    return Table([*columns, *_LAST], rows)


def _of_sheet(found: Generations, notes: Sequence[str]) -> Table:
    """Without a line for the geometric means, which are formulas; a column says which rows are in them."""
    shifts = found.shifts
    columns = [Column("test")]
    for metric in SHORT:
        columns += _ratio_columns(metric)
        columns += [Column(METALS[metric]), Column(_in_mean(metric))] if metric in MARKED else []
    rows = [_sheet_row(item, found) for item in shifts.judged]
    if shifts.load:
        rows.append(_sheet_row(TestShift(shifts.load.test, shifts.load.changes, _ONE_RUN), found))
    means = [_mean(found)] if shifts.means else []
    return Table([*columns, *_LAST], rows, means=means, title=title(found), notes=notes, sheet="Generations")


def _sheet_row(item: TestShift, found: Generations) -> Row:
    row: list[Cell | Value] = [item.test]
    for metric in SHORT:
        change = change_of(item, metric)
        row += [_shown(item, metric, side, is_whole=True) for side in _sides(metric)]
        if metric in MARKED:
            row.append(Cell(mark(metric, change), METALS[metric] if change.mark else ""))
            row.append(YES if item.test in found.shifts.in_mean.get(metric, ()) else NO)
    return [*row, *_last(item)]


def _in_mean(metric: str) -> str:
    return f"in {SHORT[metric]} mean"


def _mean(found: Generations) -> Mean:
    of: dict[str, str] = {}
    beside: dict[str, Value] = {}
    for metric, change in found.shifts.means.items():
        for side in _sides(metric):
            name = f"{SHORT[metric]} {side} ratio"
            of[name] = _in_mean(metric)
            if ratio := getattr(change, side):
                beside |= {f"{name} {end}": bound for end, bound in spread_of(ratio)._asdict().items()}
    return Mean(of, beside=beside)


def title(generations: Generations) -> str:
    old, new = generations.old, generations.new
    return f"{old.second} against {old.first} (old), {new.second} against {new.first} (new)"


def sentences(generations: Generations) -> list[str]:
    """The geometric means, and how many tests shifted, with the tests that are left out; the notes come last."""
    said = [_mean_sentence(generations, metric) for metric in MARKED if metric in generations.shifts.means]
    said += [_mark_sentence(generations, metric) for metric in MARKED]
    left_out = [item for item in generations.shifts.judged if item.left_out]
    said += [f"{item.test}: {item.left_out}; in no mean and without marks." for item in left_out]
    said += [_load_sentence(generations.shifts.load)] if generations.shifts.load else []
    return [*said, *generations.notes]


def legend(generations: Generations) -> str:
    return (
        f"Ratios are second/first of each pair [{CONFIDENCE:.0%} interval of one look at all blocks; those of verdicts hold at "
        "every look], shift is new/old. "
        "Gold (throughput) and silver (CPU per operation): the whole interval of the shift lies beyond "
        f"{_margin(generations)}; ▲ in favour of {generations.new.second}, ▼ of {generations.new.first}. "
        "r/o: read calls per operation, rKB/o: kB read from storage per operation; 1 where both read next to nothing, "
        "inf where only the second reads."
    )


def _load_sentence(load: TestShift) -> str:
    """Loading is done once for each target: figures, but nothing to judge by."""
    figures = [
        f"{_SHIFTED[metric]} {cell(change.old)} in the old generation and {cell(change.new)} in the new"
        for metric in MARKED
        if (change := load.changes.get(metric))
    ]
    return f"Load, one run of each target (n = 1, no verdict, in no mean): {'; '.join(figures)}."


def _margin(generations: Generations) -> str:
    return f"{generations.shifts.margin * 100:g} %"


def _mean_sentence(generations: Generations, metric: str) -> str:
    mean, count = generations.shifts.means[metric], generations.shifts.tests_in_mean[metric]
    over = "1 test" if count == 1 else f"{count} tests"
    return (
        f"Geometric mean of the ratios in {_SHIFTED[metric]} over {over}: {cell(mean.old)} in the old generation, "
        f"{cell(mean.new)} in the new, shift {cell(mean.shift)}."
    )


def _mark_sentence(generations: Generations, metric: str) -> str:
    shifts = generations.shifts
    gains, losses = (len(shifts.marked(metric, mark)) for mark in (Mark.GAIN, Mark.LOSS))
    return (
        f"{METALS[metric].capitalize()}: {_SHIFTED[metric]} shifted by more than {_margin(generations)} in favour of "
        f"{generations.new.second} in {gains} of {len(shifts.judged)} tests, of {generations.new.first} in {losses}."
    )


def cell(value: Ratio | None) -> str:
    """`1.081 [1.070, 1.092]`, or a dash."""
    if value is None:
        return "–"
    return ratio_text(value.value, value)


def mark(metric: str, change: Change) -> str:
    """`gold ▲`; empty without a mark."""
    return f"{METALS[metric]} {SIGNS[change.mark]}" if change.mark else ""


def lines(generations: Generations) -> list[TestShift]:
    """One per test, and a last one for the geometric means."""
    return [*generations.shifts.judged, TestShift(MEAN, generations.shifts.means)]


def change_of(item: TestShift, metric: str) -> Change:
    return item.changes.get(metric, _NONE)


def blocks_of(item: TestShift) -> str:
    """`4`, or `4 / 6` where the generations have different numbers of blocks; empty for the geometric means."""
    if item.test == MEAN:
        return ""
    change = change_of(item, THROUGHPUT)
    counts = [side.blocks for side in (change.old, change.new) if side is not None]
    return " / ".join(map(str, dict.fromkeys(counts))) or "–"


def _content(generations: Generations) -> dict[str, Any]:
    """Plain dicts and lists; an infinite ratio is the text "inf"."""
    shifts = generations.shifts
    return {
        "old": {"first": generations.old.first, "second": generations.old.second},
        "new": {"first": generations.new.first, "second": generations.new.second},
        "margin": shifts.margin,
        "confidence": CONFIDENCE,
        "tests": [
            {"test": item.test, "left_out": item.left_out, "metrics": _changes_json(item.changes)}
            for item in shifts.judged
        ],
        "load": _changes_json(shifts.load.changes) if shifts.load else None,
        "geometric_means": _changes_json(shifts.means),
        "tests_in_means": shifts.tests_in_mean,
        "notes": list(generations.notes),
    }


def _changes_json(changes: Mapping[str, Change]) -> dict[str, Any]:
    return {
        metric: {
            "old": _ratio_json(change.old),
            "new": _ratio_json(change.new),
            "shift": _ratio_json(change.shift),
            "mark": str(change.mark),
        }
        for metric, change in changes.items()
    }


def _ratio_json(value: Ratio | None) -> dict[str, Any] | None:
    if value is None:
        return None
    plain: float | str = "inf" if math.isinf(value.value) else value.value
    return {"ratio": plain, **spread_of(value)._asdict(), "blocks": value.blocks}
