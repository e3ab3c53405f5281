"""How the reference prints its numbers."""

from collections.abc import Iterable

from dbversus.report.parts.experiment.efficiency import UNKNOWN

WHOLE_FROM = 100
"""Smaller rates have decimals: a ratio of `3` and `4` would tell little."""


def rate(value: float | None) -> str:
    """Whole numbers, as the reference has them; small ones that are none with two decimals."""
    if value is None:
        return UNKNOWN
    return f"{value:.0f}" if value >= WHOLE_FROM or float(value).is_integer() else f"{value:.2f}"


def fixed(value: float | None, decimals: int) -> str:
    return UNKNOWN if value is None else f"{value:.{decimals}f}"


def number(cell: str) -> float | None:
    """What a printed cell says: ratios are those of printed figures."""
    return None if cell == UNKNOWN else float(cell)


def line(cells: Iterable[str]) -> str:
    return "\t".join(cells)
