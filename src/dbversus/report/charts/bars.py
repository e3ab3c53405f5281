"""Rates as bars in an SVG file of its own: a group of bars per step, each against the longest of its step, since units differ."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import escape

from dbversus.report.charts.standing import (
    LETTER_PX,
    NOTE_LETTER_PX,
    PAD_PX,
    TITLE_LETTER_PX,
    Theme,
    document,
    legend_of,
)
from dbversus.report.model import Estimate
from dbversus.report.words import estimate_text

_PLOT_PX, _BAR_PX, _GAP_PX = 380, 15, 12
_VALUE_PX = 230


@dataclass(frozen=True)
class Chart:
    """`rows`: names of steps → their units, in order. `series`: name → step → rate, with its interval."""

    title: str
    note: str
    rows: Mapping[str, str]
    series: Mapping[str, Mapping[str, Estimate]]

    def draw(self, theme: Theme) -> str:
        names = [_named(name, unit) for name, unit in self.rows.items()]
        left = LETTER_PX * max(map(len, names), default=0) + 2 * PAD_PX
        texts = max(TITLE_LETTER_PX * len(self.title), NOTE_LETTER_PX * len(self.note)) + 2 * PAD_PX
        width = math.ceil(max(left + _PLOT_PX + _VALUE_PX + PAD_PX, texts))
        legend, top = legend_of(self.series, width, theme)
        row_px = _BAR_PX * len(self.series) + _GAP_PX
        height = math.ceil(top + row_px * len(names) + PAD_PX)
        shapes = [*legend, *self._bars(theme, left, top, row_px)]
        return document(self.title, self.note, (width, height), shapes, theme)

    def _bars(self, theme: Theme, left: float, top: float, row_px: float) -> Iterator[str]:
        for place, (row, unit) in enumerate(self.rows.items()):
            y = top + row_px * place
            yield f'<text x="{PAD_PX}" y="{y + row_px / 2:g}">{escape(_named(row, unit))}</text>'
            rates = {number: own[row] for number, own in enumerate(self.series.values()) if row in own}
            longest = max((one.value or 0.0 for one in rates.values()), default=0.0) or 1.0
            for number, one in rates.items():
                length = _PLOT_PX * (one.value or 0.0) / longest
                at, colour = y + _BAR_PX * number, theme.series[number % len(theme.series)]
                yield f'<rect x="{left:g}" y="{at:g}" width="{length:.1f}" height="{_BAR_PX - 3}" fill="{colour}"/>'
                yield f'<text x="{left + length + 6:.1f}" y="{at + 10:g}">{escape(estimate_text(one))}</text>'


def _named(row: str, unit: str) -> str:
    return f"{row}, {unit}" if unit else row
