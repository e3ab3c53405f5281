"""Response times of one test: which share of operations took at most so long, with room for the slowest of them."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from dbversus.report.charts import ticks
from dbversus.report.charts.axes import across, upwards, x_axis, y_axis
from dbversus.report.charts.drawing import KINDS, Point, chart, series, shared_at
from dbversus.report.model import LatencyFigures, TestPart
from dbversus.report.words import number

_SHARES = (0.0, 50.0, 90.0, 99.0, 99.9, 99.99)
_SHARES_OF_FEW = (0.0, 25.0, 50.0, 75.0)
_SHORTEST_US = 1e-3
_NARROWEST = 1.2
"""The axis ends at so many times its beginning, or later."""


def time_chart(test: TestPart, labels: Sequence[str]) -> Markup:
    """Empty where nothing was measured. `labels` of all targets, in their order."""
    curves = {label: of_target.curve for label, of_target in test.latency.items() if of_target.curve}
    if len(curves) > KINDS:
        curves = {label: curve[::2] for label, curve in curves.items()}
    if not curves:
        return Markup("")
    times = [max(us, _SHORTEST_US) for curve in curves.values() for _, us in curve]
    low, high = min(times), max(*times, min(times) * _NARROWEST)
    x = across(math.log(low), math.log(high))
    deepest = max(_nines(curve[-1][0]) for curve in curves.values())
    y = upwards(-0.05 * deepest, deepest * 1.03)
    shares = _SHARES if deepest >= _nines(90) else _SHARES_OF_FEW
    shapes = [
        x_axis(x, [(math.log(us), number_short(us)) for us in ticks.logarithmic(low, high)], "µs", grid=True),
        y_axis(y, ((_nines(share), f"{share:g}") for share in shares if y.holds(_nines(share))), "% of operations"),
    ]
    lines: dict[str, list[Point]] = {
        label: [
            (x.at(math.log(max(us, _SHORTEST_US))), y.at(_nines(share)), f"{share:.4g}", number(us))
            for share, us in curve
        ]
        for label, curve in curves.items()
    }
    at = shared_at(lines.values())
    shapes += [series("curve", labels.index(label), label, points, at=not at) for label, points in lines.items()]
    return chart(_spoken(test), "{at} % ≤ {say} µs", shapes, at=at)


def number_short(us: float) -> str:
    """`0.5`, `1,000`."""
    return f"{us:,.6g}"


def _nines(share: float) -> float:
    """90 % is 1, 99 % is 2."""
    return -math.log10(1 - share / 100)


def _spoken(test: TestPart) -> str:
    parts = [f"{label}: {_percentiles(of_target)}" for label, of_target in test.latency.items()]
    return f"Response time, share of operations at or below. {'; '.join(parts)}"


def _percentiles(latency: LatencyFigures) -> str:
    return ", ".join(f"p{rank:g} {number(of.value)} µs" for rank, of in latency.percentiles_us.items())
