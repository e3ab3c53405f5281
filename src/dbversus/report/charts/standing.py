"""Ratios as an SVG file that needs no style sheet: names on the left, a mark with its interval per series, a legend above."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import escape

from dbversus.report.charts import ticks
from dbversus.report.charts.drawing import shape
from dbversus.report.words import ratio
from dbversus.stats.model import DECIDED, Finding, Verdict

MOST_SERIES = 6
"""More are not told apart."""
LETTER_PX, NOTE_LETTER_PX, TITLE_LETTER_PX = 7.0, 6.0, 9.0
_PLOT_PX, PAD_PX, _MARK_PX, _LINE_PX, _ROW_GAP_PX = 470, 12, 13, 17, 7
_LEAST_SPAN, _MOST_SPAN, _WIDE_SPAN = math.log(1.1), math.log(10), math.log(1000)
"""From 1 to either side, in logarithms; what lies beyond is an arrow. The wide one is where much lies beyond the other."""
_MOST_BEYOND = 0.1
"""Of the ratios: outliers alone are cut off."""
_FILLED = (*DECIDED, Verdict.NOT_REPLICATED)
_VALUE_PX = 44
_STYLE = """
text{font:12px system-ui,"Segoe UI",Roboto,"Liberation Sans","DejaVu Sans",Arial,sans-serif;fill:%(text)s}
.title{font-size:15px;font-weight:600}.note,.tick,.far{fill:%(faint)s;font-size:11px}.tick{text-anchor:middle}
.value{font-size:10px;text-anchor:end}
.stripe{fill:%(stripe)s}.band{fill:%(band)s}.grid{stroke:%(grid)s}.one{stroke:%(one)s}
"""


@dataclass(frozen=True)
class Theme:
    """Colours as report.css has them. The paper is drawn, so that a page of another theme changes nothing."""

    paper: str
    text: str
    faint: str
    stripe: str
    band: str
    grid: str
    one: str
    series: tuple[str, ...]

    @property
    def style(self) -> str:
        return _STYLE % vars(self)


LIGHT = Theme(
    "#fcfcfa", "#1d2125", "#5b636b", "#f3f4f3", "#dfe3e3", "#dcdfe0", "#7d848a",
    ("#0d7a72", "#7646c9", "#94700a", "#bb2f78", "#47702a", "#2f6fb5"),
)  # fmt: skip
DARK = Theme(
    "#16191c", "#e4e7e9", "#a3abb2", "#1c2023", "#2c3235", "#33393d", "#8b9399",
    ("#4fc2b7", "#b394f0", "#d9b34a", "#f07fb4", "#97c46d", "#7fb2ee"),
)  # fmt: skip


@dataclass(frozen=True)
class Chart:
    """`rows`: their names, in order. `series`: name → row → finding; at most MOST_SERIES. `note`: how to read it, in a line.

    `joined`: rows follow each other, such as versions do, and a line joins the marks of a series.
    """

    title: str
    note: str
    rows: Sequence[str]
    series: Mapping[str, Mapping[str, Finding]]
    joined: bool = False

    def draw(self, theme: Theme) -> str:
        return draw(self, theme)

    @property
    def findings(self) -> list[Finding]:
        return [one for of_row in self.series.values() for one in of_row.values() if one.ratio]


@dataclass(frozen=True)
class _Frame:
    """Where things lie: the plot from `left` on, rows of `row_px` from `top` on; `low` and `high`: ln at its edges."""

    left: float
    top: float
    row_px: float
    low: float
    high: float

    def x(self, value: float) -> float:
        share = (math.log(value) - self.low) / (self.high - self.low)
        return round(self.left + min(max(share, 0.0), 1.0) * _PLOT_PX, 1)

    def holds(self, value: float) -> bool:
        return value > 0 and self.low <= math.log(value) <= self.high


def draw(chart: Chart, theme: Theme = LIGHT) -> str:
    left = LETTER_PX * max(map(len, chart.rows), default=0) + 2 * PAD_PX
    texts = max(TITLE_LETTER_PX * len(chart.title), NOTE_LETTER_PX * len(chart.note))
    width = math.ceil(max(left + _PLOT_PX + 2 * PAD_PX + _VALUE_PX, texts + 2 * PAD_PX))
    legend, top = legend_of(chart.series, width, theme)
    frame = _Frame(left, top, _MARK_PX * len(chart.series) + _ROW_GAP_PX, *_span(chart.findings))
    height = math.ceil(top + frame.row_px * len(chart.rows) + _LINE_PX + PAD_PX)
    shapes = [
        *legend,
        *_rows(chart, frame, width),
        *_grid(frame, len(chart.rows)),
        *(_joins(chart, frame, theme) if chart.joined else ()),
        *_marks(chart, frame, theme),
    ]
    return document(chart.title, chart.note, (width, height), shapes, theme)


def document(title: str, note: str, size: tuple[int, int], shapes: Iterable[str], theme: Theme) -> str:
    """The file, with its paper, title and note. `size`: width and height."""
    width, height = size
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    parts = [
        f"<title>{escape(title)}</title><style>{theme.style}</style>",
        f'<rect width="{width}" height="{height}" fill="{theme.paper}"/>',
        f'<text class="title" x="{PAD_PX}" y="22">{escape(title)}</text>',
        f'<text class="note" x="{PAD_PX}" y="39">{escape(note)}</text>',
        *shapes,
    ]
    return f"{head}{''.join(parts)}</svg>\n"


def legend_of(names: Iterable[str], width: float, theme: Theme) -> tuple[list[str], float]:
    """Its shapes, and where what stands below it begins."""
    legend = list(_legend(names, width, theme))
    return [shape for _, shape in legend], 48 + _LINE_PX * (1 + max((line for line, _ in legend), default=0)) + _LINE_PX


def _joins(chart: Chart, frame: _Frame, theme: Theme) -> Iterator[str]:
    for number, of_row in enumerate(chart.series.values()):
        points = [
            f"{frame.x(one.ratio):g} {_y(frame, row, number):g}"
            for row, name in enumerate(chart.rows)
            if (one := of_row.get(name)) and one.ratio
        ]
        colour = theme.series[number % len(theme.series)]
        yield f'<path fill="none" stroke="{colour}" stroke-opacity="0.5" d="M{"L".join(points)}"/>'


def _y(frame: _Frame, row: int, number: int) -> float:
    return frame.top + frame.row_px * row + _ROW_GAP_PX / 2 + _MARK_PX * (number + 0.5)


def _span(findings: Collection[Finding]) -> tuple[float, float]:
    """Wide enough for all ratios, and for lines but those of what is open, as far as an axis may reach."""
    ends = [
        end
        for one in findings
        for end in (one.ratio, *((one.low, one.high) if one.counted in _FILLED else ()))
        if end is not None and end > 0
    ]
    most = _most_span([one.ratio for one in findings if one.ratio])
    logs = [min(max(math.log(end), -most), most) for end in ends]
    low, high = min([-_LEAST_SPAN, *logs]), max([_LEAST_SPAN, *logs])
    room = 0.04 * (high - low)
    return low - room, high + room


def _most_span(ratios: Sequence[float]) -> float:
    beyond = sum(abs(math.log(ratio)) > _MOST_SPAN for ratio in ratios)
    return _WIDE_SPAN if beyond > _MOST_BEYOND * len(ratios) else _MOST_SPAN


def _legend(names: Iterable[str], width: float, theme: Theme) -> Iterator[tuple[int, str]]:
    """The line of each name, and its mark and text; a new line begins where one is full."""
    line, x = 0, float(PAD_PX)
    for number, name in enumerate(names):
        needed = 22 + LETTER_PX * len(name)
        if x > PAD_PX and x + needed > width - PAD_PX:
            line, x = line + 1, float(PAD_PX)
        y = 58 + _LINE_PX * line
        yield (
            line,
            f"{_mark(number, x + 6, y - 4, theme, filled=True)}<text x='{x + 16:g}' y='{y:g}'>{escape(name)}</text>",
        )
        x += needed + PAD_PX


def _rows(chart: Chart, frame: _Frame, width: float) -> Iterator[str]:
    """Names, every other row on a stripe, and the margin within which nothing has changed."""
    for number, name in enumerate(chart.rows):
        y = frame.top + frame.row_px * number
        if number % 2 == 0:
            yield f'<rect class="stripe" x="0" y="{y:g}" width="{width}" height="{frame.row_px:g}"/>'
        margins = [own[name].margin for own in chart.series.values() if name in own]
        if margins:
            start, end = frame.x(1 / (1 + max(margins))), frame.x(1 + max(margins))
            yield f'<rect class="band" x="{start:g}" y="{y:g}" width="{end - start:g}" height="{frame.row_px:g}"/>'
        yield f'<text x="{PAD_PX}" y="{y + frame.row_px / 2 + 4:g}">{escape(name)}</text>'


def _grid(frame: _Frame, rows: int) -> Iterator[str]:
    bottom = frame.top + frame.row_px * rows
    for value in sorted({1.0, *ticks.logarithmic(math.exp(frame.low), math.exp(frame.high))}):
        x = frame.x(value)
        yield f'<path class="{"one" if value == 1 else "grid"}" d="M{x:g} {frame.top:g}V{bottom:g}"/>'
        for y in (frame.top - 5, bottom + 14):
            yield f'<text class="tick" x="{x:g}" y="{y:g}">{value:g}</text>'


def _marks(chart: Chart, frame: _Frame, theme: Theme) -> Iterator[str]:
    """With the ratio at the end of each line."""
    for number, of_row in enumerate(chart.series.values()):
        for row, name in enumerate(chart.rows):
            if (finding := of_row.get(name)) and finding.ratio:
                y = _y(frame, row, number)
                yield from _one(finding, number, y, frame, theme)
                x = frame.left + _PLOT_PX + _VALUE_PX
                yield f'<text class="value" x="{x:g}" y="{y + 3.5:g}">{_short(finding.ratio)}</text>'


def _short(value: float) -> str:
    """Two decimals are enough beside a mark."""
    return f"{value:.2f}" if 0.1 <= value < 100 else ratio(value)


def _one(finding: Finding, number: int, y: float, frame: _Frame, theme: Theme) -> Iterator[str]:
    value = finding.ratio or 1.0
    colour = theme.series[number % len(theme.series)]
    if finding.low and finding.high:
        yield f'<path stroke="{colour}" stroke-width="1.5" d="M{frame.x(finding.low):g} {y:g}H{frame.x(finding.high):g}"/>'
        yield from (_tip(end, y, frame, colour) for end in (finding.low, finding.high) if not frame.holds(end))
    if frame.holds(value):
        yield _mark(number, frame.x(value), y, theme, filled=finding.counted in _FILLED)
        return
    edge, way = frame.x(value), 1 if value > 1 else -1
    yield f'<path class="beyond" fill="{colour}" d="M{edge + 7 * way:g} {y:g}l{-7 * way} -4v8z"/>'


def _tip(end: float, y: float, frame: _Frame, colour: str) -> str:
    """Of a line that goes on beyond the axis."""
    back = -5 if end > 1 else 5
    path = f"M{frame.x(end) + back:g} {y - 4:g}L{frame.x(end):g} {y:g}L{frame.x(end) + back:g} {y + 4:g}"
    return f'<path class="tip" fill="none" stroke="{colour}" stroke-width="1.5" d="{path}"/>'


def _mark(number: int, x: float, y: float, theme: Theme, *, filled: bool) -> str:
    colour = theme.series[number % len(theme.series)]
    fill = colour if filled else theme.paper
    place = f"translate({x:g} {y:g}) scale(0.85)"
    return f'<path d="{shape(number)}" transform="{place}" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'
