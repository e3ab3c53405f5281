"""A figure over time in an SVG file of its own: a line per target, with axes, title and legend."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbversus.report.charts import ticks
from dbversus.report.charts.standing import NOTE_LETTER_PX, PAD_PX, TITLE_LETTER_PX, Theme, document, legend_of

_WIDTH_PX, _PLOT_PX, _LEFT_PX, _BOTTOM_PX = 760, 260, 76, 40

Points = Sequence[tuple[float, float]]
"""Rising in the first."""


@dataclass(frozen=True)
class Chart:
    """`unit` of the figures; `across`: what the first of each point is. `series`: name → its points, none of them under 0."""

    title: str
    note: str
    unit: str
    across: str
    series: Mapping[str, Points]

    def draw(self, theme: Theme) -> str:
        texts = max(TITLE_LETTER_PX * len(self.title), NOTE_LETTER_PX * len(self.note)) + 2 * PAD_PX
        width = math.ceil(max(_WIDTH_PX, texts))
        legend, top = legend_of(self.series, width, theme)
        places = [at for points in self.series.values() for at, _ in points]
        high = max((value for points in self.series.values() for _, value in points), default=0.0) or 1.0
        frame = _Frame(width, top, max(places, default=1.0) or 1.0, 1.05 * high)
        shapes = [*legend, *self._axes(frame), *self._lines(frame, theme)]
        return document(self.title, self.note, (width, math.ceil(top + _PLOT_PX + _BOTTOM_PX)), shapes, theme)

    def _axes(self, frame: "_Frame") -> Iterator[str]:
        for value in ticks.linear(0, frame.high):
            y = frame.y(value)
            yield f'<path class="{"grid" if value else "one"}" d="M{_LEFT_PX} {y:g}H{frame.width - PAD_PX}"/>'
            yield f'<text class="value" x="{_LEFT_PX - 6}" y="{y + 4:g}">{value:,.6g}</text>'
        for value in ticks.linear(0, frame.last):
            yield f'<text class="tick" x="{frame.x(value):g}" y="{frame.y(0) + 16:g}">{value:,g}</text>'
        yield f'<text class="far" x="{PAD_PX}" y="{frame.top - 6:g}">{self.unit}</text>'
        yield f'<text class="tick" x="{(_LEFT_PX + frame.width) / 2:g}" y="{frame.y(0) + 32:g}">{self.across}</text>'

    def _lines(self, frame: "_Frame", theme: Theme) -> Iterator[str]:
        for number, points in enumerate(self.series.values()):
            if points:
                path = "L".join(f"{frame.x(at):.1f} {frame.y(value):.1f}" for at, value in points)
                colour = theme.series[number % len(theme.series)]
                yield f'<path fill="none" stroke="{colour}" stroke-width="1.7" stroke-linejoin="round" d="M{path}"/>'


@dataclass(frozen=True)
class _Frame:
    width: float
    top: float
    last: float
    high: float

    def x(self, value: float) -> float:
        return _LEFT_PX + (self.width - PAD_PX - _LEFT_PX) * value / self.last

    def y(self, value: float) -> float:
        return self.top + _PLOT_PX * (1 - value / self.high)
