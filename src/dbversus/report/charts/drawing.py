"""Pieces that charts share. Pictures are static SVG: report.css colours them, and report.js reads their points out.

Each target has a colour, a shape of its marks and a pattern of its lines, so that colour is never alone.
"""

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from dbversus.report.charts.axes import HEIGHT, WIDTH

KINDS = 8
"""Of colours, shapes and patterns; they begin again after that."""
_SHAPES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M0-6L6 0L0 6L-6 0z",
    "M-4.5-4.5h9v9h-9z",
    "M0-6L6 5h-12z",
    "M0 6L6-5h-12z",
    "M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
    "M-6-3L-3-6L0-3L3-6L6-3L3 0L6 3L3 6L0 3L-3 6L-6 3L-3 0z",
    "M-3.5-6h7v12h-7z",
)

_DOT = "M-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0z"

Point = tuple[float, float, str, str]
"""x, y, and what it says: of what, how much."""


def kind(index: int) -> str:
    """The class of the target at this place."""
    return f"t{index % KINDS}"


def marks() -> Markup:
    """The shapes, once for the whole page: report.css has charts refer to them."""
    markers = [_marker(f"mark{index}", index, 12, shape) for index, shape in enumerate(_SHAPES)]
    markers += [_marker(f"dot{index}", index, 14, _DOT) for index in range(KINDS)]
    return Markup(f'<svg class="marks" width="0" height="0" aria-hidden="true">{"".join(markers)}</svg>')


def _marker(name: str, index: int, size: int, shape: str) -> str:
    sizes = f'viewBox="-7 -7 14 14" markerWidth="{size}" markerHeight="{size}" markerUnits="userSpaceOnUse"'
    return f'<marker id="{name}" class="{kind(index)}" {sizes}><path d="{shape}"/></marker>'


def legend(index: int) -> Markup:
    """Line and mark of a target."""
    name = kind(index)
    line = f'<polyline class="curve {name}" points="0,6 28,6"/><polyline class="marked {name}" points="14,6"/>'
    return Markup(f'<svg class="legend-key" viewBox="0 0 28 12" aria-hidden="true">{line}</svg>')


def series(how: str, index: int, name: str, points: Sequence[Point]) -> str:
    """A line or a row of marks; what each point says stands beside it, in order."""
    places = " ".join(f"{x:g},{y:g}" for x, y, _, _ in points)
    at = escape("|".join(text for _, _, text, _ in points))
    said = escape("|".join(text for _, _, _, text in points))
    head = f'<polyline class="{how} {kind(index)}" points="{places}" data-at="{at}" data-say="{said}">'
    return f"{head}<title>{escape(name)}</title></polyline>"


def dots(index: int, points: Iterable[tuple[float, float]]) -> str:
    """Corners of a line that is not drawn, in whole pixels from the one before: five bytes a dot, and reports have 20,000."""
    steps, at_x, at_y = [], 0, 0
    for x, y in points:
        steps.append(f"{round(x) - at_x} {round(y) - at_y}")
        at_x, at_y = round(x), round(y)
    path = " ".join(steps).replace(" -", "-")
    return f'<path class="dots {kind(index)}" d="m{path}"/>' if path else ""


def chart(spoken: str, words: str, shapes: Iterable[str]) -> Markup:
    """`words`: how a point is read out, with {at} and {say}. Texts in `shapes` are escaped where they are made."""
    texts = f'aria-label="{escape(spoken)}" data-words="{escape(words)}"'
    return Markup(f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" {texts}>{"".join(shapes)}</svg>')
