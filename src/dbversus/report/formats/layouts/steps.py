"""`mrg.<step>` and `rel.<step>` of the Insert Benchmark, and the steps that `.some` has together."""

import re
from collections.abc import Callable, Sequence

from dbversus.importing.formats.insert import COLUMNS
from dbversus.report.model import LayoutPart, LayoutTest
from dbversus.report.parts.experiment.efficiency import relative_cell
from dbversus.report.parts.layouts.cells import fixed, line, number, rate

_RATES = ("ips", "qps")
_DECIMALS = {
    **dict.fromkeys(("rps", "csps", "cpupq", "p50", "p99"), 0),
    **dict.fromkeys(("rmbps", "wps", "wmbps", "cpups", "dbgb1", "dbgb2", "rss"), 1),
    **dict.fromkeys(("rpq", "rkbpq", "wpi", "wkbpi", "cspq", "maxop"), 3),
}
_LONG_S = 10
"""Response times from here on have one decimal."""
_NOT_IN_SOME = re.compile(r"q\d+\.1|q[46]00\.2")
"""`.some` of January 2021 has one of the two turns of a rate, and not all rates."""

Text = Callable[[LayoutPart, LayoutTest], str]


def absolute(part: LayoutPart, step: LayoutTest) -> str:
    """`mrg.<step>`."""
    return _text([line([*_cells(step, label), name]) for label, name in part.targets.items()])


def relative(part: LayoutPart, step: LayoutTest) -> str:
    """`rel.<step>`: without the base."""
    base, *others = part.targets
    of_base = _cells(step, base)
    lines = []
    for label in others:
        cells = zip(_cells(step, label), of_base, strict=True)
        lines.append(
            line([*(relative_cell(number(cell), number(first)) for cell, first in cells), part.targets[label]])
        )
    return _text(lines)


def some(part: LayoutPart, steps: Sequence[LayoutTest], text: Text) -> str:
    """`mrg.some` or `rel.some`: as `text` has each step, under its name."""
    shown = [step for step in steps if not _NOT_IN_SOME.fullmatch(step.name)]
    return "".join(f"\n{step.name}\n{text(part, step)}" for step in shown)


def _text(lines: Sequence[str]) -> str:
    return "\n".join([line([*COLUMNS, "tag"]), *lines]) + "\n"


def _cells(step: LayoutTest, label: str) -> list[str]:
    figures = step.figures.get(label, {})
    return [_cell(column, figures.get(column)) for column in COLUMNS]


def _cell(column: str, value: float | None) -> str:
    if column in _RATES:
        return rate(value)
    return fixed(value, 1 if column == "maxop" and value and value >= _LONG_S else _DECIMALS[column])
