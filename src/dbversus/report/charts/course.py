"""A test that lasts, second by second of driven time: throughput, and the slowest response; a line per target."""

from collections.abc import Mapping, Sequence
from operator import attrgetter

from markupsafe import Markup

from dbversus.report.charts import lanes, ticks
from dbversus.report.charts.axes import across, upwards, x_axis, y_axis
from dbversus.report.charts.drawing import Point, chart, series
from dbversus.report.model import Course, Second, ServerEvent
from dbversus.report.words import number

RATE, SLOWEST = "rate", "slowest_ms"
"""Figures of a second."""
_FEWEST_SECONDS = 3
_MOST_POINTS = 150
"""A line of more is drawn by the worst second of each stretch."""


def is_drawn(course: Course) -> bool:
    """Whether a target did anything in enough seconds for a line: not what is done once, nor what has no statement there."""
    return any(sum(second.rate > 0 for second in seconds) >= _FEWEST_SECONDS for seconds in course.targets.values())


def course_title(course: Course, figure: str) -> str:
    what = "Throughput" if figure == RATE else "Slowest response"
    whose = f"{course.role}: {what.lower()}" if course.role else what
    return f"{whose} over time, first block"


def course_chart(course: Course, figure: str, labels: Sequence[str], events: Sequence[ServerEvent] = ()) -> Markup:
    """Empty where no second has the figure, RATE or SLOWEST. `labels` of all targets, in their order."""
    lines = {label: _line(seconds, figure) for label, seconds in course.targets.items()}
    values = [value for line in lines.values() for _, value in line]
    if not values or not max(values):
        return Markup("")
    unit = course.unit if figure == RATE else "ms"
    x = across(0, max(at_s for line in lines.values() for at_s, _ in line) + 1)
    above = lanes.lanes_of(events, labels)
    highest = max(values) * 1.05
    y = upwards(0, lanes.with_room(highest, len(above)))
    shapes = [
        x_axis(x, [(at_s, f"{at_s:,g}") for at_s in ticks.linear(x.low, x.high)], "s of driven time", grid=True),
        y_axis(y, [(value, f"{value:,.6g}") for value in ticks.linear(0, highest)], unit),
        *lanes.drawn(above, x),
    ]
    for label, line in lines.items():
        points: list[Point] = [(x.at(at_s), y.at(value), f"{at_s:g}", number(value)) for at_s, value in line]
        shapes.append(series("curve", labels.index(label), label, points))
    spoken = f"{course_title(course, figure)}. {_ranges(lines, unit)}{lanes.spoken(above, labels)}"
    return chart(spoken, f"second {{at}}: {{say}} {unit}", shapes)


def _line(seconds: Sequence[Second], figure: str) -> list[tuple[float, float]]:
    value_of, worst = attrgetter(figure), min if figure == RATE else max
    known = [(second.at_s, value_of(second)) for second in seconds if value_of(second) is not None]
    stretch = -(-len(known) // _MOST_POINTS) or 1
    pieces = [known[begin : begin + stretch] for begin in range(0, len(known), stretch)]
    return [worst(piece, key=lambda point: point[1]) for piece in pieces]


def _ranges(lines: Mapping[str, Sequence[tuple[float, float]]], unit: str) -> str:
    parts = [
        f"{label}: {number(min(value for _, value in line))} to {number(max(value for _, value in line))} {unit}"
        for label, line in lines.items()
        if line
    ]
    return "; ".join(parts)
