"""Pieces that charts share. Pictures are static SVG: report.css colours them, and report.js reads their points out.

Each target has a colour, a shape of its marks and a pattern of its lines, so that colour is never alone.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from markupsafe import Markup, escape

from dbversus.report.charts.axes import USUAL, Frame
from dbversus.stats.metrics import Floats
from dbversus.stats.model import Verdict

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

_GLYPHS = {
    Verdict.EQUIVALENT: "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    Verdict.REGRESSION: "m0 4.5l4.5-8h-9z",
    Verdict.IMPROVEMENT: "m0-4.5l4.5 8h-9z",
}
"""From the middle of a mark; all other verdicts have the circle, filled for a small change alone."""
_DOT = "M-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0z"

Point = tuple[float, float, str, str]
"""x, y, and what it says: of what, how much."""


def kind(index: int) -> str:
    """The class of the target at this place."""
    return f"t{index % KINDS}"


def shape(index: int) -> str:
    """The path of a mark of the target at this place, around its middle."""
    return _SHAPES[index % KINDS]


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


def series(how: str, index: int, name: str, points: Sequence[Point], *, at: bool = True) -> str:
    """A line or a row of marks; what each point says stands beside it, in order. `at`: and of what, unless the chart says it."""
    places = " ".join(f"{x:g},{y:g}" for x, y, _, _ in points)
    of_what = f' data-at="{escape("|".join(text for _, _, text, _ in points))}"' if at else ""
    said = escape("|".join(text for _, _, _, text in points))
    head = f'<polyline class="{how} {kind(index)}" points="{places}"{of_what} data-say="{said}">'
    return f"{head}<title>{escape(name)}</title></polyline>"


def shared_at(lines: Iterable[Sequence[Point]]) -> list[str]:
    """Of what the points of all lines speak, where each line has these from the first on; else empty."""
    texts = [[text for _, _, text, _ in points] for points in lines]
    longest = max(texts, key=len, default=[])
    return longest if all(own == longest[: len(own)] for own in texts) else []


def dots(index: int, x: Floats, y: Floats) -> str:
    """Corners of a line that is not drawn, in whole pixels from the one before: five bytes a dot, and reports have 20,000."""
    pixels = np.rint(np.column_stack((x, y))).astype(int)
    steps = np.diff(pixels, axis=0, prepend=np.zeros((1, 2), dtype=int)).tolist()
    path = " ".join(f"{across} {down}" for across, down in steps).replace(" -", "-")
    return f'<path class="dots {kind(index)}" d="m{path}"/>' if path else ""


def glyphs(marks: Iterable[tuple[Verdict, float, float]]) -> Iterator[str]:
    """Marks of verdicts at x, y, a path for each kind: worse points down, better up, what is decided is filled."""
    by_verdict: dict[Verdict, list[str]] = {}
    for verdict, x, y in marks:
        shape = _GLYPHS.get(verdict, _GLYPHS[Verdict.EQUIVALENT])
        by_verdict.setdefault(verdict, []).append(f"M{x:g} {y:g}{shape}")
    for verdict, pieces in by_verdict.items():
        yield f'<path class="glyph {str(verdict).replace(" ", "-")}" d="{"".join(pieces)}"/>'


def chart(spoken: str, words: str, shapes: Iterable[str], frame: Frame = USUAL, at: Sequence[str] = ()) -> Markup:
    """`words`: how a point is read out, with {at} and {say}; `at`: of what points speak, where their lines do not tell.

    Texts in `shapes` are escaped where they are made.
    """
    texts = f'aria-label="{escape(spoken)}" data-words="{escape(words)}"'
    texts += f' data-at="{escape("|".join(at))}"' if at else ""
    box = f'viewBox="0 0 {frame.width} {frame.height}"'
    return Markup(f'<svg class="plot" {box} role="img" {texts}>{"".join(shapes)}</svg>')
