"""A flame graph of one side of a profile: who calls whom, as wide as it costs, coloured by what changed."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from markupsafe import Markup, escape

Stack = tuple[str, ...]

WIDTH, ROW = 1080, 17
LEAST_PX = 1.0
"""What is narrower is left out, with all that it calls."""
_MOST_ROWS = 48
_LETTER_PX = 6.4
_LEAST_LETTERS = 3
_TRUNK = 0.98
"""Of the whole: who has as much, and calls one function alone, is passed over at the root: main, and the like."""


@dataclass
class _Node:
    cost: float = 0.0
    calls: "dict[str, _Node]" = field(default_factory=lambda: defaultdict(_Node))


def draw_flame(stacks: Mapping[Stack, float], changes: Mapping[str, float], most_us: float, whole_us: float) -> Markup:
    """`stacks`: microseconds per operation. `changes`: of functions, where they are shown; others are grey.

    `most_us` is as wide as the picture, and a change of `whole_us` has the full colour.
    """
    root = _trunk_left_out(_tree(stacks))
    places = [one for name, node in _in_order(root) for one in _rows(name[1], node, 0, name[0], WIDTH / most_us)]
    rows = 1 + max((row for _, row, _, _, _ in places), default=0)
    shapes = "".join(_shape(*place, rows, changes, whole_us) for place in places)
    spoken = f"Flame graph, {root.cost:,.0f} µs per operation"
    return Markup(
        f'<svg class="flame" viewBox="0 0 {WIDTH} {rows * ROW}" role="img" aria-label="{spoken}">{shapes}</svg>'
    )


def _tree(stacks: Mapping[Stack, float]) -> _Node:
    root = _Node()
    for stack, cost in stacks.items():
        node = root
        node.cost += cost
        for name in stack:
            node = node.calls[name]
            node.cost += cost
    return root


def _trunk_left_out(root: _Node) -> _Node:
    node = root
    while node.calls and (widest := max(node.calls.values(), key=lambda one: one.cost)).cost >= _TRUNK * root.cost:
        if not widest.calls:
            break
        node = widest
    return node


def _in_order(node: _Node) -> Iterator[tuple[tuple[float, str], _Node]]:
    """What it calls, by name, so that the two sides of a profile look alike; each with what comes before it."""
    before = 0.0
    for name, one in sorted(node.calls.items()):
        yield (before, name), one
        before += one.cost


def _rows(
    name: str, node: _Node, row: int, begin: float, scale: float
) -> Iterator[tuple[str, int, float, float, float]]:
    """Name, row, left, width and cost of a function and of all that it calls."""
    width = node.cost * scale
    if width < LEAST_PX or row >= _MOST_ROWS:
        return
    yield name, row, begin * scale, width, node.cost
    for (before, called), one in _in_order(node):
        yield from _rows(called, one, row + 1, begin + before, scale)


def _shape(
    name: str,
    row: int,
    left: float,
    width: float,
    cost: float,
    rows: int,
    changes: Mapping[str, float],
    whole_us: float,
) -> str:
    change = changes.get(name)
    look = "same" if change is None else "more" if change > 0 else "less"
    depth = "" if change is None else f' fill-opacity="{0.25 + 0.75 * min(1.0, abs(change) / (whole_us or 1.0)):.2f}"'
    said = f"{name}: {cost:,.4g} µs/op here" + (
        "" if change is None else f"; {change:+,.4g} against the base, all together"
    )
    top = (rows - 1 - row) * ROW
    box = (
        f'<rect class="{look}" x="{left:.1f}" y="{top}" width="{max(width - 0.5, 0.5):.1f}" height="{ROW - 1}"{depth}/>'
    )
    letters = int((width - 4) / _LETTER_PX)
    label = name if len(name) <= letters else f"{name[: letters - 1]}…"
    text = f'<text x="{left + 3:.1f}" y="{top + 12}">{escape(label)}</text>' if letters >= _LEAST_LETTERS else ""
    return f"<g><title>{escape(said)}</title>{box}{text}</g>"
