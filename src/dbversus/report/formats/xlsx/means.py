"""Geometric means by formula: lines under a table, each with one that says over how many rows it is."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xlsxwriter.utility import xl_range_abs, xl_rowcol_to_cell

from dbversus.report.table import MEAN, YES, Mean, Table, Value

MEAN_OVER = "tests in the mean"
MOST_WEIGHED = 10_000_000
"""Cells that all means of a table look at; a program that opens the file goes through them each time anything changes."""

_Logs = Mapping[tuple[Value, ...], Sequence[float]]


class Formula(NamedTuple):
    """Over arrays; `value`: what it comes to, for programs that do not calculate."""

    text: str
    value: Value


Line = list[Value | Formula]


def count_that_fit(table: Table) -> int:
    """How many of a table's means a program can still calculate quickly."""
    if not table.rows or not table.means:
        return 0
    widest = max(len(mean.of) for mean in table.means)
    return min(len(table.means), MOST_WEIGHED // (widest * len(table.rows)))


def lines(table: Table, first: int, row: int) -> Iterator[Line]:
    """Two per mean, from `row` on, of those that fit; `first`: that of the table's first line, counted from 0."""
    logs: dict[tuple[str, str, tuple[str, ...]], _Logs] = {}
    for number, mean in enumerate(table.means[: count_that_fit(table)]):
        for title, by in mean.of.items():
            key = title, by, tuple(mean.where)
            if key not in logs:
                logs[key] = table.logs(*key)
        of_mean = {title: logs[title, by, tuple(mean.where)] for title, by in mean.of.items()}
        yield from _Place(table, mean, first, row + 2 * number).lines(of_mean)


@dataclass(frozen=True)
class _Place:
    """A mean in `row`, of a table whose lines begin in row `first`."""

    table: Table
    mean: Mean
    first: int
    row: int

    def lines(self, logs: Mapping[str, _Logs]) -> tuple[Line, Line]:
        """`logs` by title, and what a row holds."""
        means: Line = []
        counts: Line = []
        for place, column in enumerate(self.table.columns):
            title = column.title
            if title in self.mean.of:
                own = logs[title].get(tuple(self.mean.where.values()), ())
                means.append(self._mean(place, own))
                counts.append(Formula(f"=SUM(IF({self._condition(place)},1,0))", len(own)))
            else:
                known = self.mean.where.get(title, MEAN if place == 0 else None)
                means.append(self.mean.beside.get(title, known))
                counts.append(self.mean.where.get(title, MEAN_OVER if place == 0 else None))
        return means, counts

    def _mean(self, place: int, logs: Sequence[float]) -> Formula:
        condition = self._condition(place)
        sums = f"SUM(IF({condition},LN({self._column(place)}),0))/SUM(IF({condition},1,0))"
        return Formula(f'=IFERROR(EXP({sums}),"")', math.exp(math.fsum(logs) / len(logs)) if logs else "")

    def _condition(self, place: int) -> str:
        """Which rows count, as a product of arrays. Texts of others are in cells, and never in a formula."""
        own = self._column(place)
        parts = [f"ISNUMBER({own})", f"({own}>0)"]
        for name, value in self.mean.where.items():
            where = self.table.place(name)
            both = self._column(where), xl_rowcol_to_cell(self.row, where, col_abs=True)
            # EXACT tells capitals apart; of numbers LibreOffice says that none are the same
            parts.append(f"EXACT({both[0]},{both[1]})" if isinstance(value, str) else f"({both[0]}={both[1]})")
        if by := self.mean.of[self.table.columns[place].title]:
            parts.append(f'({self._column(self.table.place(by))}="{YES}")')
        return "*".join(parts)

    def _column(self, place: int) -> str:
        found: str = xl_range_abs(self.first, place, self.first + len(self.table.rows) - 1, place)
        return found
