"""dbversus show: results as tables, for eyes and for pipes."""

import csv
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from dbversus.errors import UsageError
from dbversus.results.read import open_results

_FORMATS = ("table", "json", "csv", "md")
_DEFAULT_SQL = (
    "SELECT test, target, metric, verdict, ratio, low, high, blocks, smallest_visible_change "
    "FROM findings WHERE metric IN ('server_cpu_us_per_op', 'throughput_ops_per_s', 'io_bytes_per_op')"
)


def show(
    directory: Annotated[Path, typer.Argument(help="Results directory.")],
    sql: Annotated[str | None, typer.Option(help="DuckDB SQL on slots, findings and loads (docs/results.md).")] = None,
    format: Annotated[str, typer.Option("--format", "-f", help="table, json, csv or md.")] = "table",
) -> None:
    """Show results as a table; without --sql all findings on the primary metrics.

    - `dbversus show results/…`
    - `dbversus show results/… --format csv > findings.csv`
    - `dbversus show results/… --sql "SELECT test, target, median(server_cpu_us_per_op) FROM slots GROUP BY ALL"`
    """
    if format not in _FORMATS:
        raise UsageError(f"--format {format} is unknown; accepted: {', '.join(_FORMATS)}.")
    from dbversus.report.assessment import query  # statistics take seconds to import: not for --help

    results = open_results(directory)
    columns, rows = query(results, sql or _DEFAULT_SQL)
    _WRITERS[format](columns, rows)


def _table(columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    table = Table(*columns, box=None, header_style="bold")
    for row in rows:
        table.add_row(*map(_cell, row))
    console = Console()
    # a pipe has no width to fold to
    console.print(table, markup=False, width=None if console.is_terminal else 10_000, soft_wrap=not console.is_terminal)


def _json(columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    json.dump([dict(zip(columns, row, strict=True)) for row in rows], sys.stdout, indent=1, default=str)
    print()


def _csv(columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)


def _markdown(columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    lines = [columns, ["---"] * len(columns), *([_cell(value).replace("|", "\\|") for value in row] for row in rows)]
    print("\n".join(f"| {' | '.join(line)} |" for line in lines))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


_WRITERS = {"table": _table, "json": _json, "csv": _csv, "md": _markdown}
