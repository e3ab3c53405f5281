"""Where things stand in a sheet, how numbers look, and that formulas come to what they should."""

import io
import math
from dataclasses import replace
from typing import Any

import pytest
import xlsxwriter

from dbversus.report.formats.xlsx import book as books
from dbversus.report.formats.xlsx import means
from dbversus.report.formats.xlsx.book import Book
from dbversus.report.formats.xlsx.looks import LOOKS, number_format
from dbversus.report.formats.xlsx.means import MEAN_OVER
from dbversus.report.formats.xlsx.widths import in_view, lines_of, places_for, widths_of
from dbversus.report.table import NO, YES, Cell, Column, Form, Lines, Link, Mean, Sheet, Table
from dbversus.report.words import number, ratio
from dbversus.stats.model import Verdict

from .reading import header_of, open_book

TABLE = Table(
    [Column("test"), Column("target"), Column("ratio", Form.RATIO), Column("in means")],
    [["a", "x", 2.0, YES], ["b", "x", Cell(8.0, Verdict.REGRESSION), YES], ["c", "x", None, NO], ["a", "y", 3.0, YES]],
    lead=2,
    means=[Mean({"ratio": "in means"}, {"target": target}) for target in ("x", "y", "z")],
)


def made(*sheets: Sheet) -> bytes:
    out = io.BytesIO()
    workbook = xlsxwriter.Workbook(out, {"in_memory": True})
    book = Book(workbook)
    for sheet in sheets:
        book.add(sheet)
    workbook.close()
    return out.getvalue()


def one(*parts: Table | Lines, values: bool = False) -> Any:
    return open_book(made(Sheet("One", "A title", parts)), values=values)["One"]


def test_the_header_stays_in_view_and_rows_can_be_filtered() -> None:
    sheet = one(TABLE, Lines("Notes", ["a note"]))
    assert sheet["A1"].value == "A title"
    assert sheet.freeze_panes == "C3" and sheet.auto_filter.ref == "A2:D6"
    assert [cell.value for cell in sheet[2]][:4] == ["test", "target", "ratio", "in means"]
    assert sheet["C4"].value == 8.0 and sheet["C5"].value is None


def test_it_prints_across_with_the_header_on_every_page() -> None:
    sheet = one(TABLE)
    assert sheet.page_setup.orientation == "landscape" and sheet.page_setup.paperSize == 9
    # one page across, which is what is meant where nothing is said, and as many down as it takes
    assert (sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight) == (None, 0)
    assert sheet.print_title_rows == "$2:$2" and sheet.print_title_cols == "$A:$B"
    wide = one(Table([Column(f"column {place}") for place in range(60)], [["x" * 20] * 60]))
    assert wide.page_setup.fitToWidth == math.ceil(60 * 22 / 190)


def test_means_are_formulas_with_what_they_come_to() -> None:
    formulas, values = one(TABLE), one(TABLE, values=True)
    assert formulas["C7"].value.text == (
        '=IFERROR(EXP(SUM(IF(ISNUMBER($C$3:$C$6)*($C$3:$C$6>0)*EXACT($B$3:$B$6,$B7)*($D$3:$D$6="yes"),LN($C$3:$C$6),0))'
        '/SUM(IF(ISNUMBER($C$3:$C$6)*($C$3:$C$6>0)*EXACT($B$3:$B$6,$B7)*($D$3:$D$6="yes"),1,0))),"")'
    )
    assert (formulas["A7"].value, formulas["A8"].value) == ("geometric mean", MEAN_OVER)
    assert [values[f"C{row}"].value for row in (7, 8)] == [pytest.approx(4), 2]
    assert [values[f"C{row}"].value for row in (9, 10)] == [pytest.approx(3), 1]
    assert values["C11"].value in (None, "") and values["C12"].value == 0
    assert [values[f"B{row}"].value for row in (7, 8, 9)] == ["x", "x", "y"]


def test_numbers_are_compared_as_numbers() -> None:
    """LibreOffice says of no two numbers that they are EXACT."""
    table = Table([Column("clients", Form.COUNT), Column("ratio", Form.RATIO)], [[4, 2.0], [8, 3.0]])
    sheet = one(Table(table.columns, table.rows, means=[Mean({"ratio": ""}, {"clients": 4})]))
    assert "*($A$3:$A$4=$A5)," in sheet["B5"].value.text and "EXACT" not in sheet["B5"].value.text


def test_rows_are_as_high_as_their_longest_text() -> None:
    sheet = one(Table([Column("test"), Column("note")], [["a", "word " * 30], ["b", "short"], ["c", "one\ntwo"]]))
    assert [sheet.row_dimensions[row].height for row in (3, 4, 5)] == [45, None, 30]


def test_what_begins_with_sentences_prints_on_one_page_across() -> None:
    wide = Table([Column(f"column {place}") for place in range(60)], [["x" * 20] * 60], title="Wide")
    assert one(Lines("", ["a sentence"]), wide).page_setup.fitToWidth is None


def test_which_rows_count_is_chosen_from_a_list() -> None:
    (validation,) = one(TABLE).data_validations.dataValidation
    assert (str(validation.sqref), validation.formula1) == ("D3:D6", '"yes,no"')


def test_a_table_without_rows_has_a_header_alone() -> None:
    sheet = one(Table(TABLE.columns, [], means=TABLE.means))
    assert sheet.max_row == 2 and header_of(sheet) == 2


def test_a_second_table_has_its_heading_and_moves_nothing() -> None:
    sheet = one(TABLE, Table([Column("fact")], [["x"]], title="Facts"))
    assert sheet.freeze_panes == "C3" and sheet.auto_filter.ref == "A2:D6"
    assert [sheet[f"A{row}"].value for row in (13, 14, 15, 16)] == [None, "Facts", "fact", "x"]


def test_notes_run_over_columns_and_are_as_high_as_they_need_to_be() -> None:
    note = "word " * 100
    sheet = one(TABLE, Lines("Notes", [note]))
    (merged,) = sheet.merged_cells.ranges
    cell = sheet.cell(merged.min_row, 1)
    assert cell.value == note and cell.alignment.wrap_text
    assert sheet.row_dimensions[merged.min_row].height >= 15 * len(note) / 130


def test_links_lead_to_their_sheets() -> None:
    contents = Sheet("First", "All", [Table([Column("sheet")], [[Link("One")]])])
    book = open_book(made(contents, Sheet("One", "A title", [TABLE])))
    assert book["First"]["A3"].hyperlink.location == "'One'!A1"


def test_what_does_not_fit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "MOST_ROWS", 2)
    monkeypatch.setattr(books, "MOST_COLUMNS", 2)
    sheet = one(TABLE)
    assert [sheet[f"A{row}"].value for row in (3, 4)] == ["a", "b"]
    assert sheet["A5"].value == "Left out here: 2 lines, which report.json has."
    assert sheet["A6"].value == "Left out here: 2 columns, which report.json has."
    assert sheet["C2"].value is None and sheet.auto_filter.ref == "A2:B4"
    assert sheet.max_row == 6  # no mean of what is not there


def test_means_that_would_take_a_program_too_long_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(means, "MOST_WEIGHED", 2 * len(TABLE.rows))
    sheet = one(TABLE)
    assert (sheet["A7"].value, sheet["A9"].value) == ("geometric mean", "geometric mean")
    assert sheet["A11"].value == "Left out here: 1 line of geometric means."


def test_numbers_that_are_none_are_words_or_nothing() -> None:
    sheet = one(Table([Column("a", Form.NUMBER)] * 1, [[math.inf], [math.nan], [None], [""], [0]]))
    assert [sheet[f"A{row}"].value for row in range(3, 8)] == ["inf", None, None, None, 0]


@pytest.mark.parametrize("value", [0, 0.00001234, 0.01234, 1.5, 12.34, 123.4, 1234.5, 12_340.0])
def test_numbers_look_as_in_all_reports(value: float) -> None:
    form = number_format(Form.NUMBER, value)
    decimals = len(form.partition(".")[2])
    assert form.startswith("#,##0")
    assert f"{value:,.{decimals}f}" == number(value)


def test_ratios_look_as_in_all_reports() -> None:
    for value in (0.00143, 0.08, 0.5, 9.999, 10.0, 1234.5):
        decimals = len(number_format(Form.RATIO, value).partition(".")[2])
        assert f"{value:,.{decimals}f}" == ratio(value)


def test_every_verdict_has_a_look_that_can_be_read() -> None:
    """Dark on light, with a contrast of 4.5 to 1 at least (WCAG)."""
    assert set(Verdict) <= set(LOOKS)
    for look in LOOKS.values():
        light, dark = (
            _luminance(look.get(name, usual)) for name, usual in (("bg_color", "#FFFFFF"), ("font_color", "#000000"))
        )
        assert (light + 0.05) / (dark + 0.05) >= 4.5, look


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_columns_are_as_wide_as_what_they_hold_within_limits() -> None:
    columns = [Column("a"), Column("a much longer title than its cells"), Column("n", Form.NUMBER), Column("text")]
    widths = widths_of([Table(columns, [["x", "y", 1234567.0, "z" * 300]])])
    assert widths == [10, 15, 11, 60]


def test_sentences_run_over_as_many_columns_as_they_need() -> None:
    assert places_for([60, 60, 60]) == (1, 120)
    last, width = places_for([20])
    assert last > 1 and width >= 110
    assert [in_view(widths) for widths in ([20, 40], [40, 40], [100], [20, 20, 30, 10])] == [2, 1, 1, 2]
    assert lines_of("x" * 100 + "\ny", 60) == 3


def test_ratios_have_a_chart_that_follows_the_cells() -> None:
    charted = replace(TABLE, bars=["ratio", "gone"])
    plain, drawn = one(TABLE), one(charted, Lines("Notes", ["a note"]))
    assert not plain._charts
    (chart,) = drawn._charts
    (series,) = chart.series
    assert series.val.numRef.f == "'One'!$C$3:$C$6" or series.val.numRef.f == "One!$C$3:$C$6"
    assert series.cat.strRef.f.endswith("!$A$3:$A$6") and series.tx.strRef.f.endswith("!$C$2")
    last = max(cell.row for row in drawn.iter_rows() for cell in row if cell.value is not None)
    assert chart.anchor._from.row >= last


def test_of_more_bars_than_can_be_told_apart_there_is_no_chart() -> None:
    many = replace(TABLE, rows=[["a", "x", 1.0, YES]] * (books.MOST_BARS + 1), bars=["ratio"])
    assert not one(many)._charts
