"""Tables on standard output: for eyes, and for pipes."""

import csv
import json
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

from dbversus.report.cells import csv_cell

Rows = Sequence[tuple[Any, ...]]


def write_table(columns: list[str], rows: Rows) -> None:
    from rich.text import Text

    from dbversus.report.terminal import make_console, plain_table, print_table

    table = plain_table(*columns)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    print_table(make_console(), table)


def write_all(results: Sequence[tuple[list[str], Rows]], format: str) -> None:
    """One result as it is; several in sequence with an empty line between, in JSON as an array of results."""
    if format == "json" and len(results) > 1:
        print_json([_json_lines(*result) for result in results])
        return
    for number, result in enumerate(results):
        if number:
            print()
        WRITERS[format](*result)


def write_json(columns: list[str], rows: Rows) -> None:
    print_json(_json_lines(columns, rows))


def _json_lines(columns: list[str], rows: Rows) -> list[dict[str, Any]]:
    return [dict(zip(columns, map(_json_value, row), strict=True)) for row in rows]


def print_json(content: Any) -> None:
    """Anything on standard output, in ASCII, whatever a terminal or pipe is set to."""
    json.dump(content, sys.stdout, indent=1, default=str)
    print()


def _json_value(value: Any) -> Any:
    """JSON has no word for what is infinite."""
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def write_csv(columns: list[str], rows: Rows) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(csv_cell, columns))
    writer.writerows(map(csv_cell, row) for row in rows)


def write_markdown(columns: list[str], rows: Rows) -> None:
    from dbversus.report.formats.markdown import escape

    lines = [map(escape, columns), ["---"] * len(columns), *(map(escape, map(_cell, row)) for row in rows)]
    print("\n".join(f"| {' | '.join(line)} |" for line in lines))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


WRITERS: dict[str, Callable[[list[str], Rows], None]] = {
    "table": write_table,
    "json": write_json,
    "csv": write_csv,
    "md": write_markdown,
}
