"""The tables of `dbversus show`: the lines of any section for pipes, and for eyes what reports show of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.console import Console

from dbversus.errors import UsageError
from dbversus.report.assessment import judged_of
from dbversus.report.sections.registry import SECTIONS
from dbversus.report.texts import print_section
from dbversus.report.words import rounded
from dbversus.results.stored import Results


@dataclass(frozen=True)
class Shown:
    """A table as data, for pipes. `print_on`: how eyes are shown it, where that is more than its rows and columns."""

    columns: list[str]
    rows: Sequence[tuple[Any, ...]]
    print_on: Callable[[Console], None] | None = None


def show(name: str, results: Results) -> Shown:
    """Of the section of that name; UsageError where there is nothing to show."""
    section = SECTIONS[name].asked(judged_of(results))
    if section is None:
        raise UsageError(f"{results.directory} {SECTIONS[name].lacks}")
    columns, rows = section.lines[0].plain()
    values = rows if section.is_exact else [tuple(map(rounded, row)) for row in rows]
    print_tables = partial(print_section, section=section, shown=section) if section.tables else None
    return Shown(columns, values, section.print_on or print_tables)
