"""Reads a workbook back as another library sees it."""

import io
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import openpyxl

Lines = list[dict[str, Any]]
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def open_book(content: bytes, *, values: bool = False) -> Any:
    """`values`: what formulas came to, as it is stored, instead of the formulas."""
    return openpyxl.load_workbook(io.BytesIO(content), data_only=values)


def header_of(sheet: Any) -> int:
    """The line, from 1 on, of the header that stays in view."""
    return int(sheet.freeze_panes[1:].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")) - 1


def titles_of(sheet: Any) -> list[str]:
    return [cell.value for cell in sheet[header_of(sheet)] if cell.value is not None]


def lines_of(sheet: Any) -> Lines:
    """The lines that can be filtered, by title of their columns."""
    titles = titles_of(sheet)
    first, last = header_of(sheet) + 1, sheet[sheet.auto_filter.ref][-1][0].row
    return [dict(zip(titles, row, strict=False)) for row in sheet.iter_rows(first, last, values_only=True)]


def texts_of(sheet: Any) -> list[str]:
    return [cell for row in sheet.iter_rows(values_only=True) for cell in row if isinstance(cell, str)]


def formulas_in(content: bytes) -> list[str]:
    """All of the file, whichever sheet they are in; every part of the file has to be well-formed."""
    found = []
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        for name in parts.namelist():
            root = ElementTree.fromstring(parts.read(name))
            found += [formula.text or "" for formula in root.iter(f"{_MAIN}f")]
    return found


def written(path: Path) -> Any:
    return open_book(path.read_bytes())
