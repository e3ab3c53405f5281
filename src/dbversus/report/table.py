"""What a table holds, as data: numbers as numbers, with how they are shown. Knows neither reports nor the formats of files."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import NamedTuple, Protocol

from dbversus.stats.means import Spread, Spreading, spread_of

SOFT = "soft"
"""The look of what does not count."""

MEAN = "geometric mean"
"""Of a line that is not a test."""

YES, NO = "yes", "no"
"""Of a column that says which rows count in means."""
IN_MEANS = "in means"
MEANS_NOTE = (
    f"Geometric means are formulas over the rows with “{YES}” in “{IN_MEANS}”: edit that column, and they follow. They have no "
    "interval, since tests are not repetitions; ratios of 0 and inf have no logarithm and are in none."
)

FEW_LINES = 8
"""A folded table with so many lines is open."""

NOTHING = (None,) * (1 + len(Spread._fields))
"""In the columns of a figure and its spread."""

Value = str | bool | float | None
"""None, and what is not a number: an empty cell; an infinite number: the text `inf`."""


class Form(Enum):
    """How a column's numbers are shown; texts are shown as they are in any."""

    TEXT = auto()
    NUMBER = auto()  # four significant digits
    RATIO = auto()  # three decimals
    SHARE = auto()  # percent
    COUNT = auto()  # whole, thousands apart


class Column(NamedTuple):
    """`title` is told apart from all others of its table, and says the unit; where there is a `spread`, `unit` does.

    `spread`: each cell has one, which eyes see beside its value, and for which sheets and programs have columns. `name`: what
    programs call it, its title if that is empty; `ends`: what the names of the columns of its spread begin with. `is_marked`:
    sheets have a column beside it with the words for its looks.
    """

    title: str
    form: Form = Form.TEXT
    unit: str = ""
    spread: bool = False
    name: str = ""
    ends: str = ""
    is_marked: bool = False

    @property
    def heading(self) -> str:
        return f"{self.title}, {self.unit}" if self.unit else self.title

    @property
    def parts(self) -> "list[Column]":
        """Those of sheets: the column itself or one for its value and one for each of a Spread; and one for words."""
        titles = with_interval(self.title, self.unit, self.form) if self.spread else [self]
        names = (self.name, *(f"{self.ends}{end}" for end in Spread._fields))
        values = [column._replace(name=name, is_marked=False) for column, name in zip(titles, names, strict=False)]
        return [*values, *([Column(f"{self.title} is")] if self.is_marked else [])]


class Cell(NamedTuple):
    """A value with a colour (`looks.LOOKS`); a word of its own stands in it, or in a cell of the same row.

    `sign`: before the value, and `remark`: after it, for eyes. `word`: what the look means, of a column that is marked.
    """

    value: Value
    look: str = ""
    spread: Spread = Spread()
    sign: str = ""
    remark: str = ""
    word: str = ""


class Link(NamedTuple):
    """The name of a sheet, which leads there."""

    sheet: str


Row = Sequence[Value | Cell | Link]


@dataclass(frozen=True)
class Mean:
    """A line under a table with geometric means, made by formulas, and one with how many rows they are over.

    `of`: title of a column → title of the column that says YES where a row counts; "": all count. They are over rows that have
    the same values as this line in all columns of `where`. `beside`: what else stands in this line.
    """

    of: Mapping[str, str]
    where: Mapping[str, Value] = field(default_factory=dict)
    beside: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """`lead`: the first columns, which stay in view. `notes`: what is to be known of it. `sheet`: the name of its sheet.

    `is_folded`: pages and Markdown open it on demand, and the terminal leaves it out. `legend`: what its columns are. `bars`:
    titles of columns of ratios of which a spreadsheet has a chart, a group of bars per line.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    lead: int = 1
    means: Sequence[Mean] = ()
    title: str = ""
    notes: Sequence[str] = ()
    sheet: str = ""
    is_folded: bool = False
    legend: Sequence[tuple[str, str]] = ()
    bars: Sequence[str] = ()

    def with_rows(self, rows: "Sequence[Row]") -> "Table":
        return replace(self, rows=rows)

    @property
    def is_long(self) -> bool:
        """So long that it is folded away where it may be."""
        return self.is_folded and len(self.rows) > FEW_LINES

    @property
    def is_marked(self) -> bool:
        return any(column.is_marked for column in self.columns)

    def spread_out(self) -> "Table":
        """With columns for the ends of intervals, as sheets and programs have them."""
        return replace(
            self,
            columns=[part for column in self.columns for part in column.parts],
            rows=[
                [one for column, cell in zip(self.columns, row, strict=True) for one in _parts(column, cell)]
                for row in self.rows
            ],
            lead=sum(len(column.parts) for column in self.columns[: self.lead]),
        )

    def plain(self) -> "tuple[list[str], list[tuple[Value, ...]]]":
        """Names of columns and values of rows, for programs."""
        table = self.spread_out()
        return [column.name or column.title for column in table.columns], [tuple(map(plain, row)) for row in table.rows]

    def trimmed(self) -> "Table":
        """Without columns in which no row has anything. As it is where it has no rows."""
        if not self.rows:
            return self
        return self._of_columns(
            [place for place in range(len(self.columns)) if any(_is_known(row[place]) for row in self.rows)]
        )

    def cut(self, rows: int, columns: int) -> "Table":
        """The first so many of both."""
        table = replace(self, rows=self.rows[:rows])
        return table if len(self.columns) <= columns else table._of_columns(range(columns))

    def _of_columns(self, kept: Sequence[int]) -> "Table":
        """A mean of a column that is gone is none."""
        columns = [self.columns[place] for place in kept]
        titles = {column.title for column in columns}
        means = [
            replace(mean, of={title: by for title, by in mean.of.items() if title in titles}) for mean in self.means
        ]
        return replace(
            self,
            columns=columns,
            rows=[[row[place] for place in kept] for row in self.rows],
            lead=sum(place < self.lead for place in kept),
            means=[mean for mean in means if mean.of],
        )

    def place(self, title: str) -> int:
        """Where a column is."""
        return next(place for place, column in enumerate(self.columns) if column.title == title)

    def logs(self, title: str, by: str, names: Sequence[str]) -> dict[tuple[Value, ...], list[float]]:
        """ln of a column's values in rows that count in its mean, by what they hold in the columns `names`."""
        own, counts = self.place(title), self.place(by) if by else None
        where = [self.place(name) for name in names]
        found: dict[tuple[Value, ...], list[float]] = {}
        for row in self.rows:
            value = plain(row[own])
            if counts is not None and plain(row[counts]) != YES:
                continue
            if isinstance(value, int | float) and 0 < value < math.inf:
                found.setdefault(tuple(plain(row[place]) for place in where), []).append(math.log(value))
        return found


@dataclass(frozen=True)
class Lines:
    """Sentences, each in a line of its own, under a heading. `verbatim`: as they are typed, like a command."""

    title: str
    lines: Sequence[str]
    verbatim: bool = False


@dataclass(frozen=True)
class Sheet:
    """`name` is ours, never of others: at most 31 characters, none of []:*?/\\, and told apart from all other sheets.

    A sheet that begins with a table keeps the table's header in view, and can be filtered.
    """

    name: str
    title: str
    parts: Sequence[Table | Lines]


class Estimated(Spreading, Protocol):
    """A value with the ends of its interval, or of the range of its blocks; None: not known."""

    @property
    def value(self) -> float | None: ...


class Compared(Spreading, Protocol):
    """A ratio with the ends of its interval, or of the range of its blocks; None: not known."""

    @property
    def ratio(self) -> float | None: ...


def plain(cell: Value | Cell | Link) -> Value:
    """Without its colour."""
    return cell.value if isinstance(cell, Cell) else cell.sheet if isinstance(cell, Link) else cell


def _parts(column: Column, cell: Value | Cell | Link) -> Sequence[Value | Cell | Link]:
    """Its value and its spread, in cells of their own."""
    if not (column.spread or column.is_marked):
        return (cell,)
    whole = cell if isinstance(cell, Cell) else Cell(plain(cell))
    values = [Cell(one, whole.look) for one in (whole.value, *(whole.spread if column.spread else ()))]
    word = [Cell(f"{whole.sign} {whole.word}".strip(), whole.look)] if column.is_marked else []
    return [*values, *word]


def _is_known(cell: Value | Cell | Link) -> bool:
    value = plain(cell)
    return value not in (None, "") and value == value


def with_interval(name: str, unit: str = "", form: Form = Form.NUMBER) -> list[Column]:
    """A column for a figure, and those of a Spread."""
    ends = f", {unit}" if unit else ""
    return [Column(f"{name}{part}{ends}", form) for part in ("", *(f" {end}" for end in Spread._fields))]


def of_ratio(name: str) -> list[Column]:
    """A column for a ratio, and those of a Spread."""
    return with_interval(f"{name} ratio" if name else "ratio", form=Form.RATIO)


def interval_cells(estimate: Estimated | None, factor: float = 1.0, look: str = "") -> list[Cell]:
    """For the columns of `with_interval`, times `factor`; also for a ratio that is an estimate."""
    found = NOTHING if estimate is None else (estimate.value, *spread_of(estimate))
    return [Cell(value if value is None else value * factor, look) for value in found]


def ratio_cells(compared: Compared | None, look: str = "") -> list[Cell]:
    """For the columns of `of_ratio`."""
    found = NOTHING if compared is None else (compared.ratio, *spread_of(compared))
    return [Cell(value, look) for value in found]


def figure_cell(estimate: Estimated | None, factor: float = 1.0, look: str = "") -> Cell:
    """For a column with a spread, times `factor`; also for a ratio that is an estimate."""
    if estimate is None:
        return Cell(None, look)
    value, *ends = (one if one is None else one * factor for one in (estimate.value, *spread_of(estimate)))
    return Cell(value, look, Spread(*ends))


def ratio_cell(compared: Compared | None, look: str = "") -> Cell:
    """For a column with a spread."""
    return Cell(None, look) if compared is None else Cell(compared.ratio, look, spread_of(compared))
