"""A calibration for the terminal."""

from rich.console import Console
from rich.text import Text

from dbversus.calibration.model import Calibration
from dbversus.report.calibration import tables
from dbversus.report.terminal import plain_table, print_table, say


def render(calibration: Calibration, console: Console) -> None:
    say(console, tables.title(calibration), "bold")
    for sentence in tables.sentences(calibration):
        say(console, sentence)
    for table in tables.tables(calibration):
        console.print()
        say(console, table.title, "bold")
        shown = plain_table(*table.columns)
        for row in table.rows:
            shown.add_row(*map(Text, row))
        print_table(console, shown)
    console.print()
