"""Sheets as XlsxWriter has them: where cells, formulas and notes stand, what stays in view, and how all of it is printed."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dbversus.report.charts.standing import LIGHT
from dbversus.report.formats.xlsx import looks, means
from dbversus.report.formats.xlsx.looks import LOOKS, Look, number_format
from dbversus.report.formats.xlsx.means import Formula
from dbversus.report.formats.xlsx.text import cell_text
from dbversus.report.formats.xlsx.widths import PAGE_WIDTH, in_view, lines_of, places_for, widths_of
from dbversus.report.table import NO, YES, Cell, Column, Form, Lines, Link, Sheet, Table, Value, plain
from dbversus.units import count_of

MOST_ROWS = 200_000
"""Of one table; a program that opens the file has to hold them all."""
MOST_COLUMNS = 16_384
"""Of any sheet, by its format."""
_LINE_POINTS = 15.0
_TALLEST_POINTS = 409.0
"""No row can be taller."""
_BUTTON = 2.0
"""What the button of a filter takes of a header, in characters."""
_A4 = 9
_BAR_PX, _CHART_ROOM_PX, _CHART_WIDTH_PX = 14, 130, 900
_LEAST_SPAN, _MOST_SPAN = 1.1, 64.0
MOST_BARS = 400
"""Of a chart: more cannot be told apart."""
_FORMULA = ("=", "+", "-", "@")
_RATIO = number_format(Form.RATIO, 1.0)


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
        headers = []
        for number, part in enumerate(sheet.parts):
            if isinstance(part, Lines):
                page.lines(part)
            else:
                headers.append((page.table(part, main=number == 0), part))
        for header, table in headers:
            page.bars(sheet, table, header)
        # texts of digits alone are meant to be texts
        made.ignore_errors({"number_stored_as_text": "A1:XFD1048576"})
        has_main = bool(sheet.parts) and isinstance(sheet.parts[0], Table)
        _set_up_print(made, math.ceil(sum(widths) / PAGE_WIDTH) if has_main else 1)

    def chart(self) -> Any:
        """Bars from left to right."""
        return self._workbook.add_chart({"type": "bar"})

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

    def bars(self, sheet: Sheet, table: Table, header: int) -> None:
        """A chart of the program's own, below everything else: it follows the cells. `header`: the line of the table's header."""
        titles = [title for title in table.bars if any(column.title == title for column in table.columns)]
        if not titles or not table.rows or len(titles) * len(table.rows) > MOST_BARS:
            return
        chart = self._book.chart()
        first, last = header + 1, header + len(table.rows)
        for number, title in enumerate(titles):
            place = table.place(title)
            chart.add_series(
                {
                    "name": [sheet.name, header, place],
                    "categories": [sheet.name, first, 0, last, 0],
                    "values": [sheet.name, first, place, last, place],
                    "fill": {"color": LIGHT.series[number % len(LIGHT.series)]},
                    "gap": 60,
                }
            )
        chart.set_title({"name": sheet.title, "overlay": False, "name_font": {"size": 12}})
        low, high = _ends(table, titles)
        scale = {"log_base": 2, "min": low, "max": high, "num_format": "0.00"}
        chart.set_x_axis({"crossing": 1, "label_position": "low", **scale})
        chart.set_y_axis({"reverse": True, "label_position": "low", "crossing": "max"})
        chart.set_legend({"position": "top"})
        height = _CHART_ROOM_PX + _BAR_PX * (len(titles) + 1) * len(table.rows)
        chart.set_size({"width": _CHART_WIDTH_PX, "height": height})
        self._made.insert_chart(self._row + 1, 0, chart, {"description": sheet.title})

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
            self._heighten(self._row, lines_of(line, width))
            self._row += 1

    def table(self, whole: Table, main: bool) -> int:
        """`main`: the one whose header stays in view, and whose rows can be filtered. Gives the line of the header."""
        table = whole.cut(MOST_ROWS, MOST_COLUMNS)
        if table.title or not main:
            self._row += not main
            self.text(table.title, looks.HEADING)
        header, last = self._row, self._row + len(table.rows)
        for place, column in enumerate(table.columns):
            self._put(header, place, column.title, {**_header(column), **_beside(place, column.form)})
        titles = (
            lines_of(column.title, width - _BUTTON) for column, width in zip(table.columns, self._widths, strict=False)
        )
        self._heighten(header, max(titles, default=1))
        for number, row in enumerate(table.rows, start=header + 1):
            for place, cell in enumerate(row):
                self._cell(number, place, cell, table.columns[place].form)
            self._heighten(number, max(map(_lines, row, self._widths), default=1))
        self._row = last + 1
        if main:
            lead = in_view(self._widths[: table.lead])
            self._made.freeze_panes(header + 1, lead)
            self._made.autofilter(header, 0, max(last, header + 1), len(table.columns) - 1)
            self._made.repeat_rows(header)
            self._made.repeat_columns(0, lead - 1)
        for what, left_out in (
            ("line", len(whole.rows) - len(table.rows)),
            ("column", len(whole.columns) - len(table.columns)),
        ):
            if left_out:
                self.text(f"Left out here: {count_of(left_out, what)}, which report.json has.", {"bold": True})
        self._means(table, header + 1)
        return header

    def _heighten(self, row: int, lines: int) -> None:
        """Not every program finds out by itself how high a row has to be."""
        if lines > 1:
            self._made.set_row(row, min(_LINE_POINTS * lines, _TALLEST_POINTS))

    def _means(self, table: Table, first: int) -> None:
        for by in dict.fromkeys(by for mean in table.means for by in mean.of.values() if by):
            place, last = table.place(by), first + len(table.rows) - 1
            self._made.data_validation(first, place, last, place, {"validate": "list", "source": [YES, NO]})
        for number, line in enumerate(means.lines(table, first, self._row)):
            look = {} if number % 2 else looks.MEAN
            for place, value in enumerate(line):
                if isinstance(value, Formula):
                    self._formula(self._row, place, value, {**look, "num_format": "0" if number % 2 else _RATIO})
                else:
                    self._cell(self._row, place, value, table.columns[place].form, look)
            self._row += 1
        if table.rows and (left_out := len(table.means) - means.count_that_fit(table)):
            self.text(f"Left out here: {count_of(left_out, 'line')} of geometric means.", {"bold": True})

    def _formula(self, row: int, place: int, formula: Formula, look: Look) -> None:
        shown = self._book.format(look)
        self._made.write_array_formula(row, place, row, place, f"{{{formula.text}}}", shown, formula.value)

    def _cell(self, row: int, place: int, cell: Value | Cell | Link, form: Form, look: Look | None = None) -> None:
        look = look or {}
        if isinstance(cell, Link):
            self._made.write_url(row, place, f"internal:'{cell.sheet}'!A1", self._book.format(looks.LINK), cell.sheet)
            return
        if isinstance(cell, Cell):
            look = {**look, **LOOKS.get(cell.look, {})}
        value = plain(cell)
        if isinstance(value, bool):
            value = YES if value else NO
        if isinstance(value, int | float) and math.isfinite(value):
            shown = {**look, "num_format": number_format(form, value)}
            self._made.write_number(row, place, value, self._book.format(shown))
        elif isinstance(value, str) and value:
            self._put(row, place, value, {**look, **_beside(place), "text_wrap": True})
        elif isinstance(value, float) and math.isinf(value):
            self._put(row, place, "inf", {**look, "align": "right"})
        elif look:
            self._made.write_blank(row, place, None, self._book.format(look))

    def _put(self, row: int, place: int, text: str, look: Look) -> None:
        """Text, and never anything else: nothing that it begins with makes a formula of it, nor does editing it."""
        shown = cell_text(text)
        quoted: Mapping[str, Any] = {"quote_prefix": True} if shown.startswith(_FORMULA) else {}
        self._made.write_string(row, place, shown, self._book.format({**look, **quoted}))


def _beside(place: int, form: Form = Form.TEXT) -> Look:
    """Text keeps away from the number that ends beside it."""
    return {"align": "left", "indent": 1} if place and form is Form.TEXT else {}


def _lines(cell: Value | Cell | Link, width: float) -> int:
    value = plain(cell)
    return lines_of(cell_text(value), width) if isinstance(value, str) else 1


def _header(column: Column) -> Look:
    return looks.HEADER if column.form is Form.TEXT else {**looks.HEADER, "align": "right"}


def _ends(table: Table, titles: Sequence[str]) -> tuple[float, float]:
    """Of an axis that holds 1 and all ratios, and is no wider than can be read."""
    values = [plain(row[table.place(title)]) for title in titles for row in table.rows]
    ratios = [value for value in values if isinstance(value, float) and 0 < value < math.inf]
    low, high = min([1 / _LEAST_SPAN, *ratios]), max([_LEAST_SPAN, *ratios])
    return round(max(low / 1.05, 1 / _MOST_SPAN), 3), round(min(high * 1.05, _MOST_SPAN), 3)


def _set_up_print(made: Any, pages: int) -> None:
    """Landscape A4, and so many pages across."""
    made.set_landscape()
    made.set_paper(_A4)
    made.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
    made.fit_to_pages(max(1, pages), 0)
    made.set_footer("&L&A&R&P / &N")
