"""The frame of a chart: where values come to lie, grid lines, and the labels of both axes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from markupsafe import escape

from dbversus.stats.metrics import Floats

_LABEL_PX = 6.4
"""Of one character, at the size that report.css gives labels; digits are wider than most."""
_GAP_PX = 4

Tick = tuple[float, str]
"""Value, label."""


class Frame(NamedTuple):
    """Size of a picture, and where in it the axes lie, in the pixels that report.css gives texts their size for."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    def across(self, low: float, high: float) -> "Axis":
        return Axis(low, high, self.left, self.right)

    def upwards(self, low: float, high: float) -> "Axis":
        return Axis(low, high, self.bottom, self.top)


USUAL = Frame(332, 244, 46, 326, 20, 206)
LEFT, RIGHT, TOP, BOTTOM = USUAL[2:]


@dataclass(frozen=True)
class Axis:
    """Maps values from `low` to `high` to pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 1)

    def places(self, values: Floats) -> Floats:
        """As `at`, of many."""
        return np.round(self.start + (values - self.low) / (self.high - self.low) * (self.end - self.start), 1)

    def held(self, value: float) -> float:
        """As `at`, but never beyond the axis."""
        return self.at(min(max(value, self.low), self.high))

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


across, upwards = USUAL.across, USUAL.upwards


def x_axis(axis: Axis, ticks: Sequence[Tick], title: str, *, grid: bool, frame: Frame = USUAL) -> str:
    """Labels that would run into each other are left out; their grid lines stay."""
    lines = "".join(f"M{axis.at(value):g} {frame.top}V{frame.bottom}" for value, _ in ticks) if grid else ""
    texts = [_text(axis.at(value), frame.bottom + 15, label) for value, label in _apart(axis, ticks)]
    path = f'<path class="grid" d="{lines}"/>' if lines else ""
    heading = _text((frame.left + frame.right) / 2, frame.height - 5, title) if title else ""
    return f'{path}<g class="x">{"".join(texts)}{heading}</g>'


def y_axis(axis: Axis, ticks: Iterable[Tick], title: str, frame: Frame = USUAL) -> str:
    """With its title above it, so that nobody has to read sideways."""
    known = list(ticks)
    lines = "".join(f"M{frame.left} {axis.at(value):g}H{frame.right}" for value, _ in known)
    texts = "".join(_text(frame.left - 5, axis.at(value) + 4, label) for value, label in known)
    heading = f'<text class="title" x="0" y="10">{escape(title)}</text>'
    return f'<path class="grid" d="{lines}"/><g class="y">{texts}</g>{heading}'


def _text(x: float, y: float, label: str) -> str:
    return f'<text x="{x:g}" y="{y:g}">{escape(label)}</text>'


def width_of(label: str) -> float:
    """About so many pixels wide."""
    return len(label) * _LABEL_PX


def _apart(axis: Axis, ticks: Sequence[Tick]) -> list[Tick]:
    """From the right, since the last label may stand for all that is left of it."""
    kept: list[Tick] = []
    free_to = math.inf
    for value, label in reversed(ticks):
        half = width_of(label) / 2
        if axis.at(value) + half <= free_to:
            kept.append((value, label))
            free_to = axis.at(value) - half - _GAP_PX
    return kept[::-1]
