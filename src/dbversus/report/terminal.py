"""What all text for the terminal shares: plain tables and lines, whole when the output is piped."""

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from dbversus.printable import printable

# a pipe has no width
WITHOUT_LIMIT = 100_000
GAP = 2
# columns of these titles hold names; others fold before a name does
NAMES = frozenset({"test", "target", "base", "build", "config", "suite", "table"})
# a longer title folds: labels of targets are titles too
TITLE_WIDTH = 12
# what stands between a sign and its number, a number and its unit, the two ends of an interval
_INSEPARABLE = re.compile(
    r"(?<=[+−×~≤≥]) (?=\d)|(?<=\d) (?=(?:%|×|[µmn]?s|min|h|[kMG]?B|[a-z]+/s)(?!\w))|(?<=,) (?=[^][ ]+\])"
)
_NO_BREAK = "\N{NO-BREAK SPACE}"


class _CleanConsole(Console):
    """Styles and moves the cursor itself; no text that it is given does."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


def make_console(*, stderr: bool = False) -> Console:
    """For standard output or error. No markup: labels and servers' words may hold brackets."""
    stream = sys.stderr if stderr else sys.stdout
    return _CleanConsole(file=getattr(stream, "plain", stream), highlight=False, markup=False)


def say(console: Console, words: str, style: str = "") -> None:
    """One line of text, folded on a terminal. No markup: labels and servers' words may hold brackets."""
    lines = _folded(words, console.width) if console.is_terminal else [words]
    for line in lines:
        console.print(Text(line, style=style), soft_wrap=True)


def _folded(words: str, width: int) -> list[str]:
    """Lines of at most `width` characters; a number stays with its sign and its unit, an interval whole."""
    kept = _INSEPARABLE.sub(_NO_BREAK, words)
    parts = [textwrap.wrap(line, width, break_on_hyphens=False) or [""] for line in kept.split("\n")]
    return [line.replace(_NO_BREAK, " ") for part in parts for line in part]


def plain_table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for title in titles:
        table.add_column(Text(title), overflow="fold")
    return table


def print_table(console: Console, table: Table) -> None:
    """Whole, however it is shown: as wide as it needs to be in a pipe; folded, or in parts, on a narrow terminal."""
    options = console.options.update(max_width=WITHOUT_LIMIT)
    needed = Measurement.get(console, options, table).maximum
    if not console.is_terminal:
        _print_piped(console, table, max(needed, 1))
    elif needed <= console.width:
        console.print(table)
    else:
        for part in _parts(console, table):
            console.print(part)


def _print_piped(console: Console, table: Table, width: int) -> None:
    """Without the blanks that fill the last column."""
    width_before, console.width = console.width, width
    with console.capture() as printed:
        console.print(table)
    console.width = width_before
    for line in printed.get().splitlines():
        console.print(line.rstrip(), markup=False, highlight=False, soft_wrap=True)


def _parts(console: Console, table: Table) -> Iterator[Table]:
    """Tables that fit: columns fold to their longest word; those that still find no place follow in a further table.

    Each begins with the columns of names before the first other one.
    """
    wanted = [_limits(console, column) for column in table.columns]
    count = next((place for place, column in enumerate(table.columns) if not _is_name(column)), len(wanted))
    leading, rest = list(range(count)), list(range(count, len(wanted)))
    while True:
        chosen, used = list(leading), sum(wanted[place].minimum + GAP for place in leading)
        while rest and (used + wanted[rest[0]].minimum <= console.width or len(chosen) == len(leading)):
            used += wanted[rest[0]].minimum + GAP
            chosen.append(rest.pop(0))
        yield _part(table, chosen, _shared([wanted[place] for place in chosen], console.width))
        if not rest:
            return


def _limits(console: Console, column: Column) -> Measurement:
    """Least and greatest width of a column: names are not folded, other cells between words, titles anywhere."""
    cells = [_measured(console, cell) for cell in column.cells]
    title = _measured(console, column.header)
    greatest = max((cell.maximum for cell in cells), default=0)
    least = greatest if _is_name(column) else max((cell.minimum for cell in cells), default=0)
    return Measurement(max(least, min(title.minimum, TITLE_WIDTH)), max(greatest, title.maximum))


def _measured(console: Console, cell: RenderableType) -> Measurement:
    return Measurement.get(console, console.options.update(max_width=WITHOUT_LIMIT), cell)


def _is_name(column: Column) -> bool:
    return str(column.header) in NAMES


def _shared(limits: Sequence[Measurement], width: int) -> list[int]:
    """Widths: the least of each, and what is left to those that can use it, from the left."""
    spare = width - sum(limit.minimum + GAP for limit in limits) + GAP
    widths = []
    for limit in limits:
        more = max(0, min(spare, limit.maximum - limit.minimum))
        spare -= more
        widths.append(min(limit.minimum + more, width))
    return widths


def _part(table: Table, places: Sequence[int], widths: Sequence[int]) -> Table:
    part = Table(box=None, pad_edge=False, header_style=table.header_style, padding=(0, GAP, 0, 0))
    part.show_header = table.show_header
    columns = [table.columns[place] for place in places]
    for column, width in zip(columns, widths, strict=True):
        part.add_column(column.header, width=width, overflow="fold", style=column.style, justify=column.justify)
    for row in zip(*(column.cells for column in columns), strict=True):
        part.add_row(*row)
    return part
