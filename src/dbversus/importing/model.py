"""What a reader of a format is given, and what it says of a file."""

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from struct import Struct
from typing import NamedTuple, TypeVar

from dbversus.printable import printable
from dbversus.private import without_secrets

T = TypeVar("T")
UNKNOWN_LINE = "unknown"
"""Kind of a kept line that its format's reader could not tell."""
SAME_RUN = 0
"""Number of a run in a file that goes on with that of the file before it."""
MISSING = ("NA", "-nan", "nan", "NaN", "null", "")
_MOST_NUMBERS, _MOST_LINES = 3_500_000, 50_000
_LINES_REMEMBERED, _SHORT_LINE = 4_000, 2_000


class Metric(NamedTuple):
    """A figure by the name that its source gives it, and its unit."""

    name: str
    unit: str


class Place(NamedTuple):
    """What a figure is of. `relative`: it is divided by that of `base` (None: not known which).

    `run`: the number of the run in its file; None: a summary, which does not tell of which run its figures are.
    """

    test: str
    target: str
    clients: int | None = None
    relative: bool = False
    base: str | None = None
    run: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A file. `shown`: its path as people are told; `name`: without what says how it is packed.

    `target`: whose figures it has, where it does not tell: its folder's name, or what was asked for. `test`: what was asked for
    as the name of its test; empty: its name says it. `column_clients`: clients of the columns of summaries that do not tell
    (empty: 1, 2, 3 …). `encoding`: of what is not UTF-8.
    """

    path: str
    shown: str
    name: str
    target: str
    bytes: int = 0
    column_clients: tuple[int, ...] = ()
    test: str = ""
    encoding: str = ""


class FileFacts(NamedTuple):
    """`format` None: the file was not read, `problem` says why. `compared_with`: the file that its ratios are made from."""

    path: str
    format: str | None
    bytes: int
    lines: int
    problem: str
    compared_with: str | None = None
    figures: int = 0
    unknown_lines: int = 0


def remembered(said_of: Callable[[str], T]) -> Callable[[str], T]:
    """What is said of a line, remembered for lines that are short: thousands of runs print the same ones."""
    memo = lru_cache(maxsize=_LINES_REMEMBERED)(said_of)

    @wraps(said_of)
    def known(line: str) -> T:
        return memo(line) if len(line) < _SHORT_LINE else said_of(line)

    return known


@remembered
def _to_keep(line: str) -> str:
    return without_secrets(printable(line))


class _Numbered(dict[Metric, int]):
    """Gives what is new the next number."""

    def __missing__(self, metric: Metric) -> int:
        number = self[metric] = len(self)
        return number


_PACKED = Struct("7d").pack
"""Seven numbers as bytes: an array takes them in half the time that it takes the numbers."""
FIELDS = ("file", "place", "metric", "line", "second", "value", "decimals")
"""Of a figure in a sheet. The first three are positions in `files`, `places` and `metrics`; what is not known is NaN."""


@dataclass(slots=True)
class Sheet:
    """What was read of some files: figures, and the lines that were kept as they are.

    `figures` has the numbers of FIELDS for each figure, one after the other: appending them at once is what makes a million
    files quick to read. `when_full` takes the contents over, in the middle of a file, when they have become many.
    `reading`: path of the file that is being read.
    """

    files: list[FileFacts] = field(default_factory=list)
    reading: str = ""
    places: dict[Place, int] = field(default_factory=dict)
    metrics: _Numbered = field(default_factory=_Numbered)
    figures: "array[float]" = field(default_factory=lambda: array("d"))
    kept: list[tuple[int, int, str, str]] = field(default_factory=list)
    when_full: "Callable[[Sheet], None] | None" = None
    unknown_lines: int = 0
    _figures_passed_on: int = 0

    @property
    def paths(self) -> list[str]:
        """Of the files by number, with the one that is being read."""
        return [*(facts.path for facts in self.files), self.reading]

    @property
    def figures_read(self) -> int:
        return self._figures_passed_on + len(self.figures) // len(FIELDS)

    def place_of(
        self,
        test: str,
        target: str,
        clients: int | None = None,
        relative: bool = False,
        base: str | None = None,
        run: int | None = None,
    ) -> int:
        """Position of a place, entered when it is new. Names lose what is not printable."""
        shown_base = None if base is None else printable(base)
        clean = Place(printable(test), printable(target), clients, relative, shown_base, run)
        return self.places.setdefault(clean, len(self.places))

    def run_of(self, source: Source, test: str, clients: int | None = None, number: int = 1) -> int:
        """Position of the place of one run, the first in its file unless `number` says otherwise."""
        return self.place_of(source.test or test, source.target, clients, run=number)

    def add(self, place: int, metric: Metric, line: int, text: str, second: float = math.nan) -> None:
        """One figure as printed; a text that is no number makes the line an unknown one."""
        try:
            value = float(text)
        except ValueError:
            if text not in MISSING:
                self.keep(line, f"{metric.name} is {text!r}, which is no number", UNKNOWN_LINE)
                return
            value = math.nan
        point = text.find(".")
        decimals = len(text) - 1 - point if point >= 0 else 0
        number = self.metrics[metric]
        self.figures.frombytes(_PACKED(len(self.files), place, number, line, second, value, decimals))
        if len(self.figures) >= _MOST_NUMBERS:
            self._pass_on()

    def keep(self, line: int, text: str, kind: str) -> None:
        """A line as it is, without passwords."""
        self.unknown_lines += kind == UNKNOWN_LINE
        self.kept.append((len(self.files), line, kind, _to_keep(text)))
        if len(self.kept) >= _MOST_LINES:
            self._pass_on()

    def unknown(self, line: int, text: str) -> None:
        self.keep(line, text, UNKNOWN_LINE)

    def _pass_on(self) -> None:
        if self.when_full is None:
            return
        self.when_full(self)
        self._figures_passed_on = self.figures_read
        del self.figures[:]
        self.kept.clear()
