"""Ratios as small inline pictures: a dot with whiskers on a logarithmic scale that all rows of a column share."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from dbversus.stats.model import Finding, Verdict

WIDTH, HEIGHT = 176, 18
_PAD = 7
_TICKS = (1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)
_SPAN_AT_LEAST, _SPAN_AT_MOST = math.log(1.1), math.log(4)
_OPEN = (Verdict.UNDECIDED, Verdict.UNSTABLE)


@dataclass(frozen=True)
class Scale:
    """Maps a ratio to x; `span` is the ln of the largest ratio that is shown in place."""

    span: float

    def x(self, value: float) -> float:
        share = min(max(math.log(value) / self.span, -1.0), 1.0) if value > 0 else -1.0
        return round(WIDTH / 2 + share * (WIDTH / 2 - _PAD), 1)

    def holds(self, value: float) -> bool:
        return value > 0 and abs(math.log(value)) <= self.span

    @property
    def ticks(self) -> list[float]:
        """The largest round ratio that fits, its inverse, and 1."""
        fitting = [tick for tick in _TICKS if math.log(tick) <= self.span] or [math.exp(self.span)]
        return [1 / fitting[-1], 1.0, fitting[-1]]


def scale_for(findings: Iterable[Finding]) -> Scale:
    """Wide enough for the intervals of what is decided, and single ratios; outliers beyond are cut off with an arrow."""
    shown = [item for item in findings if item.verdict not in _OPEN]
    bounds = [
        bound for item in shown for bound in (item.low or item.ratio, item.high or item.ratio) if bound and bound > 0
    ]
    reach = max((abs(math.log(bound)) for bound in bounds), default=0.0) * 1.08
    return Scale(min(max(reach, _SPAN_AT_LEAST), _SPAN_AT_MOST))


def axis(scale: Scale) -> Markup:
    """The scale's ticks, for the head of the column."""
    texts = [f'<text x="{scale.x(tick)}" y="11" text-anchor="middle">{tick:.2g}</text>' for tick in scale.ticks]
    return _svg("axis", 14, texts)


def picture(finding: Finding, scale: Scale) -> Markup:
    """Dot, whiskers and the margin as a band; the numbers stand beside it, so it is hidden from screen readers."""
    if finding.ratio is None:
        return Markup("")
    low, high = finding.low or finding.ratio, finding.high or finding.ratio
    left, right = scale.x(1 / (1 + finding.margin)), scale.x(1 + finding.margin)
    middle = HEIGHT / 2
    ends = "".join(f"M{scale.x(bound):g} {middle - 3:g}v6" for bound in (low, high) if scale.holds(bound))
    shapes = [
        f'<path class="band" d="M{left:g} 0H{right:g}V{HEIGHT}H{left:g}z"/><path class="one" d="M{WIDTH / 2:g} 0v{HEIGHT}"/>',
        f'<path class="whisker" d="M{scale.x(low):g} {middle:g}H{scale.x(high):g}{ends}"/>',
        *(_arrow(bound, middle) for bound in (low, high) if not scale.holds(bound)),
    ]
    if scale.holds(finding.ratio):
        shapes.append(f'<circle cx="{scale.x(finding.ratio):g}" cy="{middle:g}" r="3.5"/>')
    return _svg(str(finding.verdict).replace(" ", "-"), HEIGHT, shapes)


def _svg(kind: str, height: int, shapes: Iterable[str]) -> Markup:
    """Nothing but numbers and our own names goes in here, so nothing needs escaping."""
    head = f'<svg class="forest {kind}" viewBox="0 0 {WIDTH} {height}" aria-hidden="true">'
    return Markup(f"{head}{''.join(shapes)}</svg>")


def _arrow(bound: float, middle: float) -> str:
    """For an interval that goes on beyond the scale."""
    tip, back = (WIDTH - 1, WIDTH - 7) if bound > 1 else (1, 7)
    return f'<path class="arrow" d="M{tip} {middle:g}L{back} {middle - 4:g}V{middle + 4:g}z"/>'
