"""Two generations for the terminal: the narrower it is, the less is shown beside the shifts."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dbversus.report.generations import words
from dbversus.report.pairs import Generations
from dbversus.report.terminal import plain_table, print_table, say
from dbversus.stats.across.generations import MARKED, Change, TestShift
from dbversus.stats.metrics import DISK_READ_BYTES, DISK_READS

# least widths for: intervals of shifts; both generations' ratios; their intervals, and IO
SHIFT_INTERVALS, BOTH_RATIOS, EVERYTHING = 96, 140, 270
_STYLES = {"gold": "bold yellow", "silver": "bold cyan"}


def render(generations: Generations, console: Console) -> None:
    say(console, f"Two generations: {words.title(generations)}", "bold")
    for sentence in words.sentences(generations):
        say(console, sentence)
    console.print()
    print_table(console, _table(generations, console.width if console.is_terminal else EVERYTHING))
    console.print()
    say(console, words.legend(generations), "dim")


def _table(generations: Generations, width: int) -> Table:
    shown = (*MARKED, DISK_READS, DISK_READ_BYTES) if width >= EVERYTHING else MARKED
    table = plain_table("test", *(title for metric in shown for title in _titles(metric, width)), "blocks")
    for item in words.lines(generations):
        table.add_row(*_line(item, shown, width), Text(words.blocks_of(item)))
    return table


def _titles(metric: str, width: int) -> Sequence[str]:
    short = words.SHORT[metric]
    sides = [f"{short} old", f"{short} new"] if width >= BOTH_RATIOS else []
    return [*sides, f"{short} shift", words.METALS[metric]] if metric in MARKED else sides


def _line(item: TestShift, shown: Sequence[str], width: int) -> list[Text]:
    cells = [cell for metric in shown for cell in _cells(metric, words.change_of(item, metric), width)]
    return [Text(item.test), *cells]


def _cells(metric: str, change: Change, width: int) -> list[Text]:
    sides = [Text(words.cell(side, width >= EVERYTHING)) for side in (change.old, change.new)]
    if metric not in MARKED:
        return sides
    style = _STYLES[words.METALS[metric]] if change.mark else ""
    shift = Text(words.cell(change.shift, width >= SHIFT_INTERVALS), style=style)
    # the column's title says which metal, so the sign is enough
    return [*(sides if width >= BOTH_RATIOS else []), shift, Text(words.SIGNS.get(change.mark, ""), style=style)]
