"""Draws the picture of docs/protocol.md as SVG: slots of a block, their ratios, blocks, a verdict."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 960, 470
TOP, MIDDLE, BOTTOM = 80, 255, 425
LEFT, SPLIT, RIGHT = 62, 590, 675

STYLE = """
  svg { --card: #ffffff; --ink: #1f2328; --mute: #59636e; --line: #d1d9e0; --base: #0969da; --target: #bc4c00; --band: #ddf4e4 }
  @media (prefers-color-scheme: dark) {
    svg { --card: #0d1117; --ink: #e6edf3; --mute: #9198a1; --line: #3d444d; --base: #58a6ff; --target: #f0883e; --band: #14351f }
  }
  text { font: 13px system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; fill: var(--ink) }
  .title { font-weight: 600; font-size: 14px }
  .mute { fill: var(--mute) }
  .end { text-anchor: end }
  .mid { text-anchor: middle }
  .card { fill: var(--card); stroke: var(--line) }
  .band { fill: var(--band) }
  .grid { stroke: var(--line); stroke-width: 1 }
  .base { fill: var(--card); stroke: var(--base); stroke-width: 1.8 }
  .target { fill: var(--target); stroke: var(--target); stroke-width: 1.8 }
  .out { fill: var(--card); stroke: var(--mute); stroke-width: 1.2 }
  .mean { stroke: var(--target); stroke-width: 2 }
"""


@dataclass(frozen=True)
class Shown:
    """A ratio with its interval."""

    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Figures:
    """What is drawn. `kept`: rows of the middle half; `first_look`: blocks that revealed the change; `margin`: a share."""

    base: Sequence[float]
    target: Sequence[float]
    kept: Sequence[bool]
    blocks: Sequence[float]
    first_look: int
    result: Shown
    margin: float


@dataclass(frozen=True)
class Scale:
    """A linear map from data to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def picture(figures: Figures) -> str:
    parts = [*_slots(figures), *_ratios(figures), *_blocks(figures)]
    body = "\n".join(parts)
    label = "From slots to a verdict: CPU per operation of each slot, the ratio of each row, the value of each block"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n'
        f'<style>{STYLE}</style>\n<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>\n'
        f"{body}\n</svg>\n"
    )


def _slots(figures: Figures) -> Iterable[str]:
    """CPU per operation of each slot, row by row."""
    most = max(*figures.base, *figures.target)
    least = min(*figures.base, *figures.target)
    y = Scale(least, most, MIDDLE - 60, TOP)
    x = _x_of_rows(len(figures.base))
    yield _text(LEFT - 40, 30, "1  One block: a slot of each server per row", "title")
    yield _text(LEFT - 40, 50, "server CPU per operation, µs; slots of 20 ms", "mute")
    yield from _key(figures)
    yield from _grid(y, [300, 400, 500], LEFT, SPLIT, str)
    for row, (base, target) in enumerate(zip(figures.base, figures.target, strict=True)):
        yield _circle(x(row), y(base), "base")
        yield _circle(x(row), y(target), "target")


def _key(figures: Figures) -> Iterable[str]:
    yield _circle(SPLIT - 250, 46, "base") + _text(SPLIT - 240, 50, "PostgreSQL 11")
    yield _circle(SPLIT - 120, 46, "target") + _text(SPLIT - 110, 50, "PostgreSQL 13")


def _ratios(figures: Figures) -> Iterable[str]:
    """The ratio of each row; those that the midmean leaves out are hollow."""
    ratios = [target / base for base, target in zip(figures.base, figures.target, strict=True)]
    y, x = Scale(min(ratios), max(ratios), BOTTOM, MIDDLE + 20), _x_of_rows(len(ratios))
    mean = figures.blocks[0]
    yield _text(LEFT - 40, MIDDLE - 25, "2  Ratio of each row; the middle half counts", "title")
    yield _text(LEFT - 40, MIDDLE - 5, "13 ÷ 11; hollow: left out", "mute")
    yield from _grid(y, [0.8, 1.0, 1.2, 1.4], LEFT, SPLIT, lambda value: f"{value:.1f}")
    for row, (ratio, kept) in enumerate(zip(ratios, figures.kept, strict=True)):
        yield _circle(x(row), y(ratio), "target" if kept else "out")
    yield _line(LEFT, y(mean), SPLIT, y(mean), "mean")
    yield _text(SPLIT + 6, y(mean) + 4, f"{mean:.3f}")
    yield _text(
        (LEFT + SPLIT) / 2, BOTTOM + 30, f"{len(ratios)} rows in the order in which they were measured", "mute mid"
    )


def _blocks(figures: Figures) -> Iterable[str]:
    """Blocks as the points that they are, and the verdict with its interval beside the margin."""
    found = figures.result
    y = Scale(1 / (1 + figures.margin) - 0.01, found.high + 0.005, BOTTOM, TOP)
    x = Scale(0, len(figures.blocks) + 0.6, RIGHT + 20, WIDTH - 45)
    low, high = y(1 + figures.margin), y(1 / (1 + figures.margin))
    yield _text(RIGHT - 20, 30, "3  Blocks, and the verdict", "title")
    yield _text(RIGHT - 20, 50, "13 ÷ 11, server CPU per operation", "mute")
    yield f'<rect class="band" x="{RIGHT}" y="{low:.1f}" width="{WIDTH - 20 - RIGHT}" height="{high - low:.1f}"/>'
    yield from _grid(y, [1.0, 1.05, 1.1], RIGHT, WIDTH - 20, lambda value: f"{value:.2f}")
    yield _text(RIGHT + 10, y(1.0) - 8, f"margin: ± {100 * figures.margin:.0f} %", "mute")
    for number, value in enumerate(figures.blocks):
        yield _circle(x(number), y(value), "out" if number < figures.first_look else "target")
    at = x(len(figures.blocks) + 0.6)
    yield _line(at, y(found.low), at, y(found.high), "mean") + _circle(at, y(found.ratio), "target", 6)
    yield _text(WIDTH - 22, y(found.high) - 10, f"{found.ratio:.3f} [{found.low:.3f}, {found.high:.3f}]", "end")
    first, fresh = (x(0) + x(figures.first_look - 1)) / 2, (x(figures.first_look) + x(len(figures.blocks) - 1)) / 2
    yield _text(first, BOTTOM + 18, "revealed", "mute mid") + _text(fresh, BOTTOM + 18, "measured again", "mute mid")
    yield _text(at, BOTTOM + 18, "verdict", "mute mid")


def _x_of_rows(rows: int) -> Scale:
    return Scale(0, rows - 1, LEFT + 12, SPLIT - 12)


def _grid(y: Scale, values: Iterable[float], left: float, right: float, said: Callable[[float], str]) -> Iterable[str]:
    for value in values:
        yield _line(left, y(value), right, y(value), "grid") + _text(left - 8, y(value) + 4, said(value), "mute end")


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(words)}</text>'


def _circle(x: float, y: float, kind: str, radius: float = 4) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" class="{kind}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'
