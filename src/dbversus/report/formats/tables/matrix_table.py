"""Tables of texts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from dbversus.report.terminal import plain_table, print_table, say


class Table(NamedTuple):
    """Texts for any report. `uncounted`: rows whose figures do not count; they are grey, and say why."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    uncounted: frozenset[int] = frozenset()


def show(make: Callable[[bool], Sequence[Table]], console: Console) -> None:
    """Prints the tables that `make` makes with intervals, or without where the terminal is too narrow for them."""
    found = make(True)
    if console.is_terminal and any(_width(table, console) > console.width for table in found):
        found = make(False)
    for table in found:
        say(console, table.title, "bold")
        print_table(console, _rich(table))
        console.print()


def _rich(table: Table) -> RichTable:
    made = plain_table(*table.columns)
    for place, row in enumerate(table.rows):
        made.add_row(*(Text(cell) for cell in row), style="dim" if place in table.uncounted else "")
    return made


def _width(table: Table, console: Console) -> int:
    return console.measure(_rich(table), options=console.options.update(max_width=100_000)).maximum
