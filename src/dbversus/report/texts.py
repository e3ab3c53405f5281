"""Tables as eyes see them: texts in which a figure has its interval beside it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from dbversus.printable import printable
from dbversus.report.section import Part, Section
from dbversus.report.table import SOFT, Cell, Column, Form, Link, Table, Value, plain
from dbversus.report.terminal import plain_table, print_table, say
from dbversus.report.words import number, percent, ratio, spread

UNKNOWN = "–"


class Shown(NamedTuple):
    """A cell: its value with a sign, its interval and a remark, and its colour."""

    text: str
    spread: str = ""
    look: str = ""
    remark: str = ""

    @property
    def whole(self) -> str:
        """In one line."""
        return " ".join(filter(None, (self.text, self.spread, self.remark))).replace("\n", "; ")

    @property
    def short(self) -> str:
        """Without the interval."""
        return " ".join(filter(None, (self.text, self.remark)))


def headings(table: Table) -> list[str]:
    return [column.heading for column in table.columns]


def shown_rows(table: Table) -> list[list[Shown]]:
    return [[_shown(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]


def texts(table: Table, intervals: bool = True) -> list[list[str]]:
    return [[cell.whole if intervals else cell.short for cell in row] for row in shown_rows(table)]


def _shown(cell: Value | Cell | Link, column: Column) -> Shown:
    one = cell if isinstance(cell, Cell) else Cell(plain(cell))
    text = f"{one.sign} {_text(one.value, column.form)}".strip()
    low, high = one.spread.low, one.spread.high
    # where all blocks count the same, an interval says no more than the figure
    agree = column.form is Form.NUMBER and low is not None and low == high
    return Shown(
        text, "" if agree else spread(one.spread, ratio if column.form is Form.RATIO else number), one.look, one.remark
    )


def _text(value: Value, form: Form) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, str):
        return value
    if form is Form.RATIO:
        return ratio(value)
    if form is Form.SHARE:
        return percent(value)
    return f"{value:,}" if form is Form.COUNT else number(value)


def is_soft(row: Sequence[Shown]) -> bool:
    """Whether a row is grey, since it does not count."""
    return bool(row) and row[0].look == SOFT


def verbatim(text: str) -> Callable[[Console], None]:
    """Prints a text as it is, whatever the width."""
    return lambda console: print(printable(text), file=console.file)


def print_section(console: Console, section: Section, shown: Part) -> None:
    """For the terminal; `shown`: what it is to have of the tables."""
    if section.sentences or not all(table.title for table in shown.tables):
        say(console, section.title, "bold")
    for line in section.sentences:
        say(console, line)
    print_tables(console, shown.tables)
    for line in shown.notes:
        say(console, line, "yellow" if section.is_broken else "dim")
    console.print()


def print_tables(console: Console, tables: Sequence[Table]) -> None:
    """With intervals, or without where the terminal is too narrow for them."""
    tables = [table for table in tables if not table.is_folded]
    made = [_rich(table, intervals=True) for table in tables]
    if console.is_terminal and any(_width(one, console) > console.width for one in made):
        made = [_rich(table, intervals=False) for table in tables]
    for table, one in zip(tables, made, strict=True):
        if table.title:
            say(console, table.title, "bold")
        print_table(console, one)
        for note in table.notes:
            say(console, note, "dim")
        console.print()


def _rich(table: Table, *, intervals: bool) -> RichTable:
    made = plain_table(*headings(table))
    for row in shown_rows(table):
        cells = (Text(cell.whole if intervals else cell.short) for cell in row)
        made.add_row(*cells, style="dim" if is_soft(row) else "")
    return made


def _width(table: RichTable, console: Console) -> int:
    return console.measure(table, options=console.options.update(max_width=100_000)).maximum
