"""Sheets as XlsxWriter has them: where cells, formulas and notes stand, what stays in view, and how all of it is printed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from xlsxwriter.utility import xl_range_abs, xl_rowcol_to_cell

from dbversus.report.formats.xlsx import looks
from dbversus.report.formats.xlsx.looks import LOOKS, Look, number_format
from dbversus.report.formats.xlsx.table import YES, Cell, Column, Form, Lines, Link, Mean, Sheet, Table, Value, plain
from dbversus.report.formats.xlsx.text import cell_text
from dbversus.report.formats.xlsx.widths import PAGE_WIDTH, lines_of, places_for, widths_of
from dbversus.report.generations.words import MEAN

MEAN_OVER = "tests in the mean"
MOST_ROWS = 200_000
"""Of one table; a program that opens the file has to hold them all."""
MOST_COLUMNS = 16_384
"""Of any sheet, by its format."""
_LINE_POINTS = 15.0
_TALLEST_POINTS = 409.0
"""No row can be taller."""
_A4 = 9
_FORMULA = ("=", "+", "-", "@")


class Book:
    """Adds sheets to a workbook of XlsxWriter."""

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook
        self._formats: dict[tuple[tuple[str, Any], ...], Any] = {}

    def add(self, sheet: Sheet) -> None:
        made = self._workbook.add_worksheet(sheet.name)
        widths = widths_of([part for part in sheet.parts if isinstance(part, Table)])
        for place, width in enumerate(widths):
            made.set_column(place, place, width)
        page = _Page(self, made, widths)
        page.text(sheet.title, looks.TITLE)
        for number, part in enumerate(sheet.parts):
            if isinstance(part, Lines):
                page.lines(part)
            else:
                page.table(part, main=number == 0)
        _set_up_print(made, sum(widths))

    def format(self, look: Look) -> Any:
        """XlsxWriter's format for a look; each once."""
        key = tuple(sorted(look.items()))
        if key not in self._formats:
            self._formats[key] = self._workbook.add_format({"valign": "top", **look})
        return self._formats[key]


class _Page:
    """One sheet, filled from the top down."""

    def __init__(self, book: Book, made: Any, widths: Sequence[float]) -> None:
        self._book, self._made, self._widths, self._row = book, made, widths, 0

    def text(self, text: str, look: Look) -> None:
        """A line that may run over the cells beside it."""
        self._put(self._row, 0, text, look)
        self._row += 1

    def lines(self, part: Lines) -> None:
        self._row += 1
        if part.title:
            self.text(part.title, looks.HEADING)
        last, width = places_for(self._widths)
        look = looks.VERBATIM if part.verbatim else looks.SENTENCE
        for line in map(cell_text, part.lines):
            if last:
                self._made.merge_range(self._row, 0, self._row, last, "", self._book.format(look))
            self._put(self._row, 0, line, look)
            height = _LINE_POINTS * lines_of(line, width)
            self._made.set_row(self._row, min(height, _TALLEST_POINTS))
            self._row += 1

    def table(self, whole: Table, main: bool) -> None:
        """`main`: the one whose header stays in view, and whose rows can be filtered."""
        columns = whole.columns[:MOST_COLUMNS]
        table = replace(whole, columns=columns, rows=[row[: len(columns)] for row in whole.rows[:MOST_ROWS]])
        if table.title or not main:
            self._row += not main
            self.text(table.title, looks.HEADING)
        header, last = self._row, self._row + len(table.rows)
        for place, column in enumerate(table.columns):
            self._put(header, place, column.title, _header(column))
        for number, row in enumerate(table.rows, start=header + 1):
            for place, cell in enumerate(row):
                self._cell(number, place, cell, table.columns[place].form)
        self._row = last + 1
        if main:
            self._made.freeze_panes(header + 1, table.lead)
            self._made.autofilter(header, 0, max(last, header + 1), len(table.columns) - 1)
            self._made.repeat_rows(header)
            self._made.repeat_columns(0, table.lead - 1)
        for what, left_out in (
            ("lines", len(whole.rows) - len(table.rows)),
            ("columns", len(whole.columns) - len(table.columns)),
        ):
            if left_out:
                self.text(f"{left_out:,} more {what} are left out here; report.json has them.", {"bold": True})
        for mean in table.means if table.rows else ():
            self._mean(table, mean, header + 1, last)

    def _mean(self, table: Table, mean: Mean, first: int, last: int) -> None:
        """A line of means, and under it over how many rows they are."""
        row = self._row
        for place, column in enumerate(table.columns):
            known = mean.where.get(column.title, mean.beside.get(column.title, MEAN if place == 0 else None))
            over = mean.where.get(column.title, MEAN_OVER if place == 0 else None)
            if column.title not in mean.of:
                self._cell(row, place, known, column.form, looks.MEAN)
                self._cell(row + 1, place, over, column.form)
                continue
            condition = _condition(table, mean, column.title, first, last, row)
            values = xl_range_abs(first, place, last, place)
            logs = list(table.logs(mean, column.title))
            mean_of = math.exp(math.fsum(logs) / len(logs)) if logs else None
            formula = f'=IFERROR(EXP(SUM(IF({condition},LN({values}),0))/SUM(IF({condition},1,0))),"")'
            look = {**looks.MEAN, "num_format": number_format(Form.RATIO, mean_of or 1.0)}
            self._formula(row, place, formula, look, "" if mean_of is None else mean_of)
            self._formula(row + 1, place, f"=SUM(IF({condition},1,0))", {"num_format": "0"}, len(logs))
        self._row += 2

    def _formula(self, row: int, place: int, formula: str, look: Look, value: Value) -> None:
        """Over an array; `value` is shown by programs that do not calculate."""
        self._made.write_array_formula(row, place, row, place, f"{{{formula}}}", self._book.format(look), value)

    def _cell(self, row: int, place: int, cell: Value | Cell | Link, form: Form, look: Look | None = None) -> None:
        look = look or {}
        if isinstance(cell, Link):
            self._made.write_url(row, place, f"internal:'{cell.sheet}'!A1", self._book.format(looks.LINK), cell.sheet)
            return
        if isinstance(cell, Cell):
            look = {**look, **LOOKS[cell.look]}
        value = plain(cell)
        if isinstance(value, int | float) and math.isfinite(value):
            shown = {**look, "num_format": number_format(form, value)}
            self._made.write_number(row, place, value, self._book.format(shown))
        elif isinstance(value, str) and value:
            self._put(row, place, value, {**look, "text_wrap": True})
        elif isinstance(value, float) and math.isinf(value):
            self._put(row, place, "inf", {**look, "align": "right"})
        elif look:
            self._made.write_blank(row, place, None, self._book.format(look))

    def _put(self, row: int, place: int, text: str, look: Look) -> None:
        """Text, and never anything else: nothing that it begins with makes a formula of it, nor does editing it."""
        shown = cell_text(text)
        quoted: Mapping[str, Any] = {"quote_prefix": True} if shown.startswith(_FORMULA) else {}
        self._made.write_string(row, place, shown, self._book.format({**look, **quoted}))


def _header(column: Column) -> Look:
    return looks.HEADER if column.form is Form.TEXT else {**looks.HEADER, "align": "right"}


def _condition(table: Table, mean: Mean, title: str, first: int, last: int, row: int) -> str:
    """Which rows a mean is over, as a product of arrays. Texts of others are in cells, and never in a formula."""

    def column(place: int) -> str:
        found: str = xl_range_abs(first, place, last, place)
        return found

    own = column(table.place(title))
    parts = [f"ISNUMBER({own})", f"({own}>0)"]
    for name in mean.where:
        place = table.place(name)
        parts.append(f"EXACT({column(place)},{xl_rowcol_to_cell(row, place, col_abs=True)})")
    if by := mean.of[title]:
        parts.append(f'({column(table.place(by))}="{YES}")')
    return "*".join(parts)


def _set_up_print(made: Any, width: float) -> None:
    """Landscape A4: as wide as a page where that can be read, else over as many pages as it takes."""
    made.set_landscape()
    made.set_paper(_A4)
    made.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
    made.fit_to_pages(max(1, math.ceil(width / PAGE_WIDTH)), 0)
    made.set_footer("&L&A&R&P / &N")
