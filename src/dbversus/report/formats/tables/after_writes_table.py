"""The tables of tests before and after the writes, the same in every report; and plain, for JSON."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from dbversus.report.formats.tables.matrix_table import Table
from dbversus.report.model import AfterWrites, AfterWritesLine
from dbversus.report.parts.each_test.after_writes import has_intervals, is_apart
from dbversus.report.parts.overview.block_logs import METRICS
from dbversus.report.parts.overview.shades import shade
from dbversus.report.words import SHORT_TITLES, ratio_text
from dbversus.stats.means import CONFIDENCE, Ratio, spread_of
from dbversus.stats.metrics import metric_named

TITLE = "Tests after the writes against before them"


class Cell(NamedTuple):
    """A ratio with its interval; `shade` where the interval leaves 1 out."""

    text: str
    shade: str = ""


def columns(part: AfterWrites) -> list[str]:
    titles = [SHORT_TITLES[name] for name in METRICS]
    over = [f"{title}, over base's" for title in titles] if _compared(part) else []
    return ["test", "target", *(f"{title} after ÷ before" for title in titles), *over, "blocks"]


def rows(part: AfterWrites) -> list[list[Cell]]:
    return [_row(line, _compared(part)) for line in part.lines]


def _row(line: AfterWritesLine, compared: bool) -> list[Cell]:
    kinds = (line.ratios, line.against_base) if compared else (line.ratios,)
    cells = [_cell(name, ratios.get(name)) for ratios in kinds for name in METRICS]
    blocks = min(one.blocks for one in line.ratios.values())
    return [Cell(line.after), Cell(line.target), *cells, Cell(str(blocks))]


def _compared(part: AfterWrites) -> bool:
    return any(line.against_base for line in part.lines)


def _cell(metric: str, value: Ratio | None) -> Cell:
    if value is None:
        return Cell("–")
    text = ratio_text(value.value, value)
    better = metric_named(metric).higher_is_better
    return Cell(text, shade(value.value, higher_is_better=better) if is_apart(value) else "")


def table(part: AfterWrites) -> Table:
    return Table(TITLE, columns(part), [[cell.text for cell in row] for row in rows(part)])


def note(part: AfterWrites) -> str:
    """What the figures are."""
    intervals = f" [{CONFIDENCE:.0%} interval over blocks that have both]" if has_intervals(part) else ""
    said = (
        "After ÷ before: the same statements on the same target, after the writes of the suite and before "
        f"them{intervals}. It shows what writes leave behind: fragmentation, dead rows, debt not yet paid, and what became warm. "
        "The two are measured minutes apart, so what the host did between is in it."
    )
    if _compared(part):
        pairs = ", from pairs of the same rows, in which most of that cancels" if intervals else ""
        said += f" Over base's: that ratio over the base's{pairs}."
    return f"{said} They describe; none is a verdict."


def as_json(part: AfterWrites) -> list[dict[str, Any]]:
    return [
        {
            "before": line.before,
            "after": line.after,
            "target": line.target,
            "ratios": _ratios_json(line.ratios),
            "over_base": _ratios_json(line.against_base),
        }
        for line in part.lines
    ]


def _ratios_json(ratios: Mapping[str, Ratio]) -> dict[str, Any]:
    return {
        name: {"ratio": one.value, **spread_of(one)._asdict(), "blocks": one.blocks} for name, one in ratios.items()
    }
