"""How wide columns are, in characters of the usual font, and how many lines a text takes in them."""

import math
import textwrap
from collections.abc import Sequence

from dbversus.report.formats.xlsx.looks import number_format
from dbversus.report.table import Cell, Column, Form, Link, Table, Value, plain

PAGE_WIDTH = 190.0
"""What can still be read on a page across."""
SENTENCE_WIDTH = 110.0
"""Notes under a table run over so many of its columns that they are at least so wide."""
_IN_VIEW = 66.0
"""What columns that stay in view may take together, so that others have room beside them."""
_USUAL = 8.43
"""Of a column whose width nobody sets."""
_NARROWEST, _WIDEST = 7.0, 60.0
_SPARE = 2.0
_LOOKED_AT = 2000
"""Rows that tell how wide a column is."""


def widths_of(tables: Sequence[Table]) -> list[float]:
    """Of the columns of a sheet with these tables one above the other."""
    count = max((len(table.columns) for table in tables), default=0)
    return [max(_width(table, place) for table in tables if place < len(table.columns)) for place in range(count)]


def _width(table: Table, place: int) -> float:
    column = table.columns[place]
    cells = max((_length(row[place], column) for row in table.rows[:_LOOKED_AT]), default=0)
    return min(max(cells, _title_width(column.title) + 1) + _SPARE, _WIDEST)


def _title_width(title: str) -> float:
    """A title folds: it takes its longest word, and three lines at most."""
    return max(_NARROWEST, *(len(word) for word in title.split() or [""]), math.ceil(len(title) / 3))


def _length(cell: Value | Cell | Link, column: Column) -> int:
    value = plain(cell)
    if isinstance(value, str):
        return max((len(line) for line in value.splitlines()), default=0)
    return 0 if value is None or not math.isfinite(value) else len(_shown(value, column.form))


def _shown(value: float, form: Form) -> str:
    decimals = number_format(form, value).partition(".")[2].count("0")
    return f"{value:,.{decimals}f}"


def places_for(widths: Sequence[float]) -> tuple[int, float]:
    """The last of the columns, from the first on, that a sentence runs over, and their width together.

    There are more than `widths` has where these are narrow.
    """
    width, place = 0.0, -1
    while width < SENTENCE_WIDTH:
        place += 1
        width += widths[place] if place < len(widths) else _USUAL
    return place, width


def in_view(leading: Sequence[float]) -> int:
    """How many of the first columns stay in view: those that leave room for others, and the first in any case."""
    return max(1, sum(sum(leading[: count + 1]) <= _IN_VIEW for count in range(len(leading))))


def lines_of(text: str, width: float) -> int:
    """Lines that a text takes in columns that are so wide together."""
    room = max(1, int(width))
    return sum(1 if len(line) <= room else len(textwrap.wrap(line, room)) for line in text.splitlines() or [""])
