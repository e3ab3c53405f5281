"""report.xlsx: every table of the report on a sheet of its own (docs/reference/reports.md)."""

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import xlsxwriter

from dbversus.files import write_whole
from dbversus.report.formats.xlsx.book import Book
from dbversus.report.formats.xlsx.sheets.every import of_section, sheets_of
from dbversus.report.model import Assessment
from dbversus.report.section import Section
from dbversus.report.table import Sheet

_OPTIONS = {
    # no file beside the report, and all parts of it with the same date
    "in_memory": True,
    # text of others is text
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


_NO_DATE = datetime(1980, 1, 1)
"""The first that files of this format can have."""


def write(assessment: Assessment, path: Path) -> None:
    """The same results make the same bytes: the file is dated when they were made."""
    made = datetime.fromtimestamp(assessment.header.at_unix_ns // 10**9, UTC).replace(tzinfo=None)
    write_whole(path, _content(sheets_of(assessment), made))


def section_content(section: Section) -> bytes:
    """Of a file of its own, for what several experiments show."""
    return _content(list(of_section(section)), _NO_DATE)


def _content(sheets: Sequence[Sheet], made: datetime) -> bytes:
    """`made`: in UTC. In memory: where a write fails, the packer of its parts ends in an error of its own."""
    file = io.BytesIO()
    workbook = xlsxwriter.Workbook(file, _OPTIONS)
    workbook.set_properties({"created": made})
    book = Book(workbook)
    for sheet in sheets:
        book.add(sheet)
    workbook.close()
    return file.getvalue()
