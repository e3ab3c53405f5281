"""The efficiency plane: a mark per test, throughput over the base's upwards, CPU per operation over the base's across."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from dbversus.report.charts import ticks
from dbversus.report.charts.axes import Axis, Frame, width_of, x_axis, y_axis
from dbversus.report.charts.drawing import Point, chart, glyphs, series
from dbversus.report.parts.overview import plane as parts
from dbversus.report.parts.overview.plane import Plane
from dbversus.report.words import finding_text
from dbversus.stats.model import Finding, Verdict
from dbversus.units import count_of

FRAME = Frame(440, 344, 46, 434, 20, 306)
MOST_NAMES = 8
_LEAST_SPAN, _MOST_SPAN = math.log(1.1), math.log(100)
"""Of an axis, from 1 to either side, in logarithms."""
_TEXT_PX, _MARK_PX = 11, 6
"""Height of a name, and how far a mark reaches from its middle."""


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def within(self, other: "Box") -> bool:
        across = other.left <= self.left and self.right <= other.right
        return across and other.top <= self.top and self.bottom <= other.bottom


_PAPER = Box(FRAME.left, FRAME.top, FRAME.right, FRAME.bottom)


def plane_chart(plane: Plane) -> Markup:
    """All tests of one target."""
    points = sorted(plane.points, key=lambda point: _log(point.cpu))
    x = FRAME.across(*_span([point.cpu for point in points]))
    y = FRAME.upwards(*_span([point.throughput for point in points]))
    places = {point.test: (x.at(_log(point.cpu)), y.at(_log(point.throughput))) for point in points}
    said: list[Point] = [(*places[point.test], point.test, _said(point, plane.cpu_title)) for point in points]
    named = {point.test: places[point.test] for point in parts.outliers(plane, MOST_NAMES)}
    shapes = [
        _bands(points[0], x, y),
        x_axis(x, _ticks(x), f"{plane.cpu_title}, target over base", grid=True, frame=FRAME),
        y_axis(y, _ticks(y), "throughput, target over base", FRAME),
        _lines(x, y),
        *_regions(y),
        *glyphs((_drawn_as(point), *places[point.test]) for point in points),
        *_names(named, list(places.values()), _region_boxes(y)),
        series("points", 1, plane.target, said),
    ]
    return chart(_spoken(plane), "{at}: {say}", shapes, FRAME)


def _log(finding: Finding) -> float:
    """ln of the ratio, as far as an axis may reach."""
    return min(max(math.log(finding.ratio or 1), -_MOST_SPAN), _MOST_SPAN)


def _span(findings: Sequence[Finding]) -> tuple[float, float]:
    low = min(-_LEAST_SPAN, *map(_log, findings))
    high = max(_LEAST_SPAN, *map(_log, findings))
    room = (high - low) * 0.08
    return low - room, high + room


def _ticks(axis: Axis) -> list[tuple[float, str]]:
    values = ticks.logarithmic(math.exp(axis.low), math.exp(axis.high))
    return [(math.log(value), f"{value:g}") for value in values]


def _drawn_as(point: parts.Point) -> Verdict:
    """Slower ones point down, faster ones up; filled circles take more or less CPU alone."""
    if point.slower:
        return Verdict.REGRESSION
    if point.faster:
        return Verdict.IMPROVEMENT
    return Verdict.UNDECIDED if point.region == parts.SAME else Verdict.EQUIVALENT


def _said(point: parts.Point, cpu_title: str) -> str:
    """`throughput 0.870 [0.850, 0.890], CPU/op 1.163 [1.140, 1.186]; slower by CPU`"""
    figures = [f"throughput {finding_text(point.throughput)}", f"{cpu_title} {finding_text(point.cpu)}"]
    if point.io and point.io.ratio:
        figures.append(f"IO/op {finding_text(point.io)}")
    return f"{', '.join(figures)}; {point.region}"


def _bands(point: parts.Point, x: Axis, y: Axis) -> str:
    """The margins of both ratios."""
    left, right = (x.held(side * math.log1p(point.cpu.margin)) for side in (-1, 1))
    bottom, top = (y.held(side * math.log1p(point.throughput.margin)) for side in (-1, 1))
    upright = f'<rect class="band" x="{left:g}" y="{FRAME.top}" width="{right - left:g}" height="{FRAME.bottom - FRAME.top}"/>'
    flat = f'<rect class="band" x="{FRAME.left}" y="{top:g}" width="{FRAME.right - FRAME.left}" height="{bottom - top:g}"/>'
    return upright + flat


def _lines(x: Axis, y: Axis) -> str:
    """Where each ratio is 1; and, dashed, where the time per operation changes as the CPU does."""
    first, last = max(x.low, -y.high), min(x.high, -y.low)
    ones = f"M{FRAME.left} {y.at(0):g}H{FRAME.right}M{x.at(0):g} {FRAME.top}V{FRAME.bottom}"
    as_cpu = f"M{x.at(first):g} {y.at(-first):g}L{x.at(last):g} {y.at(-last):g}"
    return f'<path class="one" d="{ones}"/><path class="as-cpu" d="{as_cpu}"/>'


def _region_places(y: Axis) -> list[tuple[str, bool, float]]:
    """Name, whether at the right edge, and its base line."""
    top, middle, bottom = FRAME.top + 12, y.at(0) - 5, FRAME.bottom - 6
    return [
        ("faster by CPU", False, top),
        ("faster by less waiting or IO", True, top),
        ("less CPU", False, middle),
        ("more CPU", True, middle),
        ("slower by waiting or IO", False, bottom),
        ("slower by CPU", True, bottom),
    ]


def _regions(y: Axis) -> Iterator[str]:
    """Their names along the edges."""
    for name, right, at in _region_places(y):
        place, anchor = (FRAME.right - 5, "end") if right else (FRAME.left + 5, "start")
        yield f'<text class="region" x="{place}" y="{at:g}" text-anchor="{anchor}">{name}</text>'


def _region_boxes(y: Axis) -> Iterator[Box]:
    for name, right, at in _region_places(y):
        width = width_of(name) + 5
        left = FRAME.right - width if right else FRAME.left
        yield Box(left, at - _TEXT_PX, left + width, at + 2)


def _names(
    named: dict[str, tuple[float, float]], marks: Sequence[tuple[float, float]], others: Iterable[Box]
) -> Iterator[str]:
    """Beside their marks, where they lie over no other mark and no other text; else left out."""
    taken = [*others, *(Box(x - _MARK_PX, y - _MARK_PX, x + _MARK_PX, y + _MARK_PX) for x, y in marks)]
    for name, (x, y) in named.items():
        for anchor, at_x, at_y, box in _sides(x, y, width_of(name)):
            if box.within(_PAPER) and not any(box.meets(other) for other in taken):
                taken.append(box)
                yield f'<text class="name" x="{at_x:g}" y="{at_y:g}" text-anchor="{anchor}">{escape(name)}</text>'
                break


def _sides(x: float, y: float, width: float) -> Iterator[tuple[str, float, float, Box]]:
    """Right, left, above and below in three ways: anchor, place, and the room that a text of so many pixels takes there."""
    away, half = _MARK_PX + 1, _TEXT_PX / 2
    yield "start", x + away, y + 4, Box(x + away, y - half, x + away + width, y + half)
    yield "end", x - away, y + 4, Box(x - away - width, y - half, x - away, y + half)
    for at in (y - away - half, y + away + half):
        yield "middle", x, at + 4, Box(x - width / 2, at - half, x + width / 2, at + half)
        yield "end", x + away, at + 4, Box(x + away - width, at - half, x + away, at + half)
        yield "start", x - away, at + 4, Box(x - away, at - half, x - away + width, at + half)


def _spoken(plane: Plane) -> str:
    counts = [(region, sum(point.region == region for point in plane.points)) for region in parts.REGIONS]
    said = "; ".join(f"{region}: {count_of(count, 'test')}" for region, count in counts if count)
    return f"Throughput against CPU per operation, {plane.target} over the base. {said}"
