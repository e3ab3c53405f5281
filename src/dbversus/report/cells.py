"""Texts of servers, files and users as cells of CSV, which spreadsheets open."""

from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it; numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
