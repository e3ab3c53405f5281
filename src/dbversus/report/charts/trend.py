"""One test over all targets in their order: its ratio to the base with whiskers; small, to stand beside those of other tests."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from dbversus.report.charts import ticks
from dbversus.report.charts.axes import Axis, Frame, width_of, x_axis, y_axis
from dbversus.report.charts.drawing import KINDS, chart, glyphs, series
from dbversus.report.parts.overview.heat import Cell, Heat, Row
from dbversus.report.words import ratio, short_labels
from dbversus.stats.model import CHANGES, DECIDED
from dbversus.units import count_of

FRAME = Frame(272, 140, 36, 266, 18, 118)
_LEAST_SPAN = math.log(1.1)
_MOST_SPAN = math.log(50)
"""Of an axis, from 1 to either side, in logarithms."""
_GAP_PX = 5


@dataclass(frozen=True)
class Targets:
    """All of them, the base first, as the axis names them; `key`: what numbers stand for, where names are too long for it."""

    ticks: tuple[str, ...]
    dbms: tuple[str, ...]
    key: tuple[str, ...]


def targets_of(labels: Sequence[str], dbms: Sequence[str]) -> Targets:
    short = short_labels(labels)
    room = (FRAME.right - FRAME.left) / max(len(labels), 1)
    if all(width_of(label) + _GAP_PX <= room for label in short):
        return Targets(tuple(short), tuple(dbms), ())
    numbers = tuple(str(place + 1) for place in range(len(labels)))
    key = tuple(f"{number} {label}" for number, label in zip(numbers, labels, strict=True))
    return Targets(numbers, tuple(dbms), key)


def trend_chart(heat: Heat, row: Row, targets: Targets) -> Markup:
    """Empty where nothing is known of the test."""
    cells = dict(enumerate(row.cells, start=1))
    known = {place: cell for place, cell in cells.items() if cell.known}
    if not known:
        return Markup("")
    x, y = FRAME.across(-0.5, len(cells) + 0.5), _y_axis_for(list(known.values()))
    shapes = [
        _band(y, next(cell.finding.margin for cell in known.values() if cell.finding)),
        x_axis(x, [(float(place), name) for place, name in enumerate(targets.ticks)], "", grid=False, frame=FRAME),
        y_axis(y, [(math.log(value), f"{value:g}") for value in _y_ticks(y)], "ratio", FRAME),
        _lines(known, x, y, targets.dbms),
        *_whiskers(known, x, y),
        *glyphs((cell.verdict, x.at(place), y.at(_log(cell))) for place, cell in known.items()),
        *_spoilt(cells, x),
        series(
            "points",
            1,
            heat.title,
            [(x.at(n), y.at(_log(cell)), targets.ticks[n], cell.spoken) for n, cell in known.items()],
        ),
    ]
    return chart(_spoken(heat, row), "{at}: {say}", shapes, FRAME)


def _log(cell: Cell) -> float:
    """ln of the ratio, as far as an axis may reach."""
    assert cell.finding and cell.finding.ratio is not None
    return _held(cell.finding.ratio)


def _held(value: float) -> float:
    return min(max(math.log(value), -_MOST_SPAN), _MOST_SPAN) if value > 0 else -_MOST_SPAN


def _y_axis_for(cells: Sequence[Cell]) -> Axis:
    """Holds all ratios, and the intervals of what is decided; wild ones are cut off."""
    decided = [cell.finding for cell in cells if cell.finding and cell.verdict in DECIDED]
    bounds = [_held(bound) for one in decided for bound in (one.low, one.high) if bound is not None]
    shown = [*map(_log, cells), *bounds]
    low, high = min(-_LEAST_SPAN, *shown), max(_LEAST_SPAN, *shown)
    room = (high - low) * 0.06
    return FRAME.upwards(low - room, high + room)


def _y_ticks(y: Axis) -> list[float]:
    """Few, since the picture is small: every second where there are many, and 1."""
    found = ticks.logarithmic(math.exp(y.low), math.exp(y.high))
    apart = found if len(found) <= 5 else found[:: math.ceil(len(found) / 4)]
    return apart if len(apart) >= ticks.FEWEST else found


def _band(y: Axis, margin: float) -> str:
    top, bottom = y.held(math.log1p(margin)), y.held(-math.log1p(margin))
    left, width = FRAME.left, FRAME.right - FRAME.left
    line = f'<path class="one" d="M{left} {y.at(0):g}h{width}"/>'
    return f'<rect class="band" x="{left}" y="{top:g}" width="{width}" height="{bottom - top:g}"/>{line}'


def _lines(known: dict[int, Cell], x: Axis, y: Axis, dbms: Sequence[str]) -> str:
    """From target to target of the same DBMS, the base at 1 among them: from one DBMS to the next nothing goes on."""
    points = {0: y.at(0)} | {place: y.at(_log(cell)) for place, cell in known.items()}
    pieces = [
        f"M{x.at(first):g} {points[first]:g}L{x.at(second):g} {points[second]:g}"
        for first, second in pairwise(points)
        if dbms[first] == dbms[second]
    ]
    return f'<path class="trend" d="{"".join(pieces)}"/>' if pieces else ""


def _whiskers(known: dict[int, Cell], x: Axis, y: Axis) -> Iterator[str]:
    """One path: each from end to end, with a cap where the end is in the picture, and where there are few."""
    pieces, capped = [], len(known) <= KINDS
    for place, cell in known.items():
        low, high = (cell.finding.low, cell.finding.high) if cell.finding else (None, None)
        if low is None or high is None:
            continue
        ends, at = [_held(low), _held(high)], x.at(place)
        caps = "".join(f"M{at - 2:g} {y.at(end):g}h4" for end in ends if capped and y.holds(end))
        pieces.append(f"M{at:g} {y.held(ends[0]):g}V{y.held(ends[1]):g}{caps}")
    if pieces:
        yield f'<path class="trend" d="{"".join(pieces)}"/>'


def _spoilt(cells: dict[int, Cell], x: Axis) -> Iterator[str]:
    """The sign of what does not count, at the foot of the picture."""
    for place, cell in cells.items():
        if cell.spoilt:
            yield f'<text class="spoilt" x="{x.at(place):g}" y="{FRAME.bottom - 4}">{cell.text[0]}</text>'


def _spoken(heat: Heat, row: Row) -> str:
    values = [
        cell.finding.ratio for cell in row.cells if cell.known and cell.finding and cell.finding.ratio is not None
    ]
    changes = [
        count_of(number, str(verdict))
        for verdict in CHANGES
        if (number := sum(cell.verdict is verdict for cell in row.cells))
    ]
    span = f"{ratio(min(values))} to {ratio(max(values))}"
    first = f"{row.test}, {heat.title} over the base's, of {count_of(len(values), 'target')}: {span}"
    return "; ".join([first, *changes])
