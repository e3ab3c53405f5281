"""Events of servers above the lines of a chart: a lane per kind of event and target, with its name and the target's mark."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import escape

from dbversus.report.charts.axes import BOTTOM, LEFT, TOP, Axis
from dbversus.report.charts.drawing import kind
from dbversus.report.model import ServerEvent

SHORT = {
    "checkpoint": "ckpt",
    "autovacuum": "vac",
    "autoanalyze": "anlz",
    "burst of writes": "write",
    "burst of background CPU": "cpu",
    "crash": "crash",
}
"""What has a lane, in their order, and how that is called beside it."""
MOST = 6
"""Lanes of a chart; more would leave no room for its lines. The table has all events."""
_HEIGHT = 11
_BELOW = 5
"""Pixels between the lowest lane and the highest label of the axis."""
_SHORTEST = 2.0
"""Pixels of what took less."""
_GAP = 1.0
"""Pixels between an event and one that begins as it ends."""


@dataclass(frozen=True)
class Lane:
    what: str
    index: int
    spans: tuple[tuple[float, float], ...]


def lanes_of(events: Sequence[ServerEvent], labels: Sequence[str]) -> list[Lane]:
    """The first of them, of events that are not wholly before or after the test's seconds."""
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for one in events:
        if one.what in SHORT and one.target in labels and one.placed not in ("before", "after"):
            found.setdefault((one.what, labels.index(one.target)), []).append((one.at_s, one.at_s + one.driven_s))
    order = sorted(found, key=lambda key: (list(SHORT).index(key[0]), key[1]))
    return [Lane(what, index, tuple(found[what, index])) for what, index in order[:MOST]]


def with_room(highest: float, number: int) -> float:
    """Where an axis has to end so that `number` lanes lie above `highest`."""
    taken = number * _HEIGHT + _BELOW if number else 0
    return highest * (BOTTOM - TOP) / (BOTTOM - TOP - taken)


def drawn(lanes: Sequence[Lane], x: Axis) -> Iterator[str]:
    for number, lane in enumerate(lanes):
        y = TOP + _HEIGHT * number + _HEIGHT / 2
        name = escape(SHORT[lane.what])
        yield f'<text class="lane" x="{LEFT - 13}" y="{y + 3.5:g}">{name}</text>'
        yield f'<polyline class="marked {kind(lane.index)}" points="{LEFT - 6},{y:g}"/>'
        yield f'<path class="event {kind(lane.index)}" d="{"".join(_bars(lane, x, y))}"/>'


def _bars(lane: Lane, x: Axis, y: float) -> Iterator[str]:
    for begin, end in lane.spans:
        left = min(x.held(begin), x.end - _SHORTEST)
        yield f"M{left:g} {y:g}H{max(x.held(end) - _GAP, left + _SHORTEST):g}"


def spoken(lanes: Sequence[Lane], labels: Sequence[str]) -> str:
    parts = [f"{len(lane.spans)} × {lane.what} of {labels[lane.index]}" for lane in lanes]
    return f". Server events: {'; '.join(parts)}" if parts else ""
