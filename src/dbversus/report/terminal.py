"""What all text for the terminal shares: plain tables and lines, whole when the output is piped."""

from rich.console import Console
from rich.table import Table
from rich.text import Text


def say(console: Console, words: str, style: str = "") -> None:
    """One line of text. No markup: labels and servers' words may hold brackets."""
    console.print(Text(words, style=style), soft_wrap=not console.is_terminal)


def print_table(console: Console, table: Table) -> None:
    """A pipe has no width: there the table is as wide as it needs to be."""
    if console.is_terminal:
        console.print(table)
        return
    width_before = console.width
    console.width = console.measure(table, options=console.options.update(max_width=100_000)).maximum
    console.print(table)
    console.width = width_before


def plain_table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in titles:
        table.add_column(Text(title), no_wrap=True)
    return table
