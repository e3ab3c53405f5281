"""One test with several numbers of clients: its throughput over that with the fewest; a line per target, with whiskers."""

import math
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from dbversus.report.charts import ticks
from dbversus.report.charts.axes import Axis, across, upwards, x_axis, y_axis
from dbversus.report.charts.drawing import Point, chart, kind, series
from dbversus.report.words import ratio_text
from dbversus.stats.means import Ratio

FEWEST_NUMBERS = 3
"""Of clients: two points are no curve, and no axis has fewer labels."""
_LEAST_SPAN = math.log(1.2)
_SMALLEST = 1e-3
"""Ratio that an axis goes down to."""

Curves = Mapping[str, Mapping[int, Ratio]]
"""Label of a target → number of clients → its ratio."""


def growth_chart(curves: Curves, clients: Sequence[int], test: str, labels: Sequence[str]) -> Markup:
    """Both axes are logarithmic, so that twice the work with twice the clients is a straight line, which is dashed."""
    if len(clients) < FEWEST_NUMBERS or not curves:
        return Markup("")
    first, last = clients[0], clients[-1]
    room = math.log(last / first) * 0.04
    x = across(math.log(first) - room, math.log(last) + room)
    y = _y_axis_for(curves)
    values = ticks.logarithmic(math.exp(y.low), math.exp(y.high))
    shapes = [
        x_axis(x, [(math.log(count), f"{count:,}") for count in clients], "clients", grid=True),
        y_axis(y, [(math.log(value), f"{value:g}") for value in values], f"throughput, over that with {first}"),
        _straight(x, y, first),
    ]
    for label, of_target in curves.items():
        points: list[Point] = [(x.at(math.log(first)), y.at(0), str(first), "1")]
        points += [(x.at(math.log(count)), y.at(_log(one)), str(count), _said(one)) for count, one in of_target.items()]
        shapes += [
            *_whiskers(labels.index(label), of_target, x, y),
            series("curve", labels.index(label), label, points),
        ]
    return chart(_spoken(test, first, curves), "{at} clients: {say}", shapes)


def _log(one: Ratio) -> float:
    return _held(one.value)


def _held(value: float) -> float:
    return math.log(max(value, _SMALLEST))


def _y_axis_for(curves: Curves) -> Axis:
    logs = [_log(one) for of_target in curves.values() for one in of_target.values()]
    low, high = min(0.0, *logs), max(_LEAST_SPAN, *logs)
    room = (high - low) * 0.08
    return upwards(low - room, high + room)


def _straight(x: Axis, y: Axis, first: int) -> str:
    """From 1 on, as far as the picture goes."""
    reach = min(x.high - math.log(first), y.high)
    return f'<path class="as-cpu" d="M{x.at(math.log(first)):g} {y.at(0):g}L{x.at(math.log(first) + reach):g} {y.at(reach):g}"/>'


def _whiskers(index: int, of_target: Mapping[int, Ratio], x: Axis, y: Axis) -> Iterator[str]:
    pieces = [
        f"M{x.at(math.log(count)):g} {y.held(_held(one.low)):g}V{y.held(_held(one.high)):g}"
        for count, one in of_target.items()
        if one.low is not None and one.high is not None
    ]
    if pieces:
        yield f'<path class="whisker {kind(index)}" d="{"".join(pieces)}"/>'


def _said(one: Ratio) -> str:
    """`1.902 [1.850, 1.956]`"""
    return ratio_text(one.value, one)


def _spoken(test: str, first: int, curves: Curves) -> str:
    ends = [
        f"{label}: {_said(of_target[last])} with {last:,}"
        for label, of_target in curves.items()
        for last in (max(of_target),)
    ]
    return f"{test}, throughput over that with {first} by number of clients. {'; '.join(ends)}"
