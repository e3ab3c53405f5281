"""A test that lasts, second by second of driven time: throughput, and the slowest response; a line per target."""

from collections.abc import Mapping, Sequence
from operator import attrgetter

from markupsafe import Markup

from dbversus.report.charts import ticks
from dbversus.report.charts.axes import across, upwards, x_axis, y_axis
from dbversus.report.charts.drawing import Point, chart, series
from dbversus.report.model import Second, TestPart
from dbversus.report.words import number

COURSES: Mapping[str, str] = {
    "ops_per_s": "Throughput over time, seconds of the first block",
    "slowest_ms": "Slowest response over time, seconds of the first block",
}
"""Figure of a second → title of its chart."""
_UNITS = {"ops_per_s": "operations/s", "slowest_ms": "ms"}
FEWEST_SECONDS = 3
_MOST_POINTS = 300
"""A line of more is drawn by the worst second of each stretch."""


def course_chart(test: TestPart, figure: str, labels: Sequence[str]) -> Markup:
    """Empty where no second has the figure, one of COURSES. `labels` of all targets, in their order."""
    lines = {label: _line(seconds, figure) for label, seconds in test.timeline.items()}
    values = [value for line in lines.values() for _, value in line]
    if not values or not max(values):
        return Markup("")
    x = across(0, max(at_s for line in lines.values() for at_s, _ in line) + 1)
    y = upwards(0, max(values) * 1.05)
    shapes = [
        x_axis(x, [(at_s, f"{at_s:,g}") for at_s in ticks.linear(x.low, x.high)], "s of driven time", grid=True),
        y_axis(y, [(value, f"{value:,.6g}") for value in ticks.linear(y.low, y.high)], _UNITS[figure]),
    ]
    for label, line in lines.items():
        points: list[Point] = [(x.at(at_s), y.at(value), f"{at_s:g}", number(value)) for at_s, value in line]
        shapes.append(series("curve", labels.index(label), label, points))
    return chart(_spoken(lines, figure), f"second {{at}}: {{say}} {_UNITS[figure]}", shapes)


def _line(seconds: Sequence[Second], figure: str) -> list[tuple[float, float]]:
    value_of, worst = attrgetter(figure), min if figure == "ops_per_s" else max
    known = [(second.at_s, value_of(second)) for second in seconds if value_of(second) is not None]
    stretch = -(-len(known) // _MOST_POINTS) or 1
    pieces = [known[begin : begin + stretch] for begin in range(0, len(known), stretch)]
    return [worst(piece, key=lambda point: point[1]) for piece in pieces]


def _spoken(lines: Mapping[str, Sequence[tuple[float, float]]], figure: str) -> str:
    parts = [
        f"{label}: {number(min(value for _, value in line))} to {number(max(value for _, value in line))} {_UNITS[figure]}"
        for label, line in lines.items()
        if line
    ]
    return f"{COURSES[figure]}. {'; '.join(parts)}"
