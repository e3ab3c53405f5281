"""dbversus show: results as tables, for eyes and for pipes."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from dbversus.cli import campaigns, options
from dbversus.cli.tables import WRITERS, write_all
from dbversus.errors import UsageError
from dbversus.report.sections.registry import SECTIONS, USUAL

_TABLES = "; ".join(f"{each.name}: {each.what}" for each in SECTIONS.values()) + "."


def show(
    directory: Annotated[Path, typer.Argument(help="Results directory.")],
    sql: Annotated[
        str | None,
        typer.Option(
            help="DuckDB SQL, one statement or several with ; between: SHOW TABLES lists the tables "
            "(docs/results-directory.md)."
        ),
    ] = None,
    table: Annotated[str, typer.Option(help=_TABLES)] = USUAL,
    base: options.Base = None,
    format: Annotated[str, typer.Option("--format", "-f", help="table, json, csv or md.")] = "table",
) -> None:
    """Show results as a table; without options all findings on the judged metrics. Of a campaign, list its experiments.

    - `dbversus show results/…`
    - `dbversus show results/… --table efficiency`
    - `dbversus show results/… --table matrix --format csv`
    - `dbversus show results/… --base postgres:16`
    - `dbversus show results/… --format csv > findings.csv`
    - `dbversus show results/… --sql "SELECT test, target, median(server_cpu_us_per_op) FROM slots GROUP BY ALL"`
    - `dbversus show results/… --sql "SHOW TABLES; DESCRIBE findings"`
    """
    if format not in WRITERS:
        raise UsageError(f"--format {format} is unknown; accepted: {', '.join(WRITERS)}.")
    if table not in SECTIONS:
        raise UsageError(f"--table {table} is unknown; accepted: {', '.join(SECTIONS)}.")
    if sql and table != USUAL:
        raise UsageError("--sql and --table exclude each other; a query names its own tables.")
    if campaigns.is_only_campaign(directory):
        campaigns.refuse(directory, sql=sql, table=table != USUAL and table, base=base)
        campaigns.show_campaign(directory, WRITERS[format])
        return
    # statistics take seconds to import: not for --help
    from dbversus.report.parts.notes.chosen_base import base_sentences
    from dbversus.report.terminal import make_console
    from dbversus.results.read import open_results

    results = open_results(directory, base)
    for sentence in base_sentences(results):
        print(f"dbversus: {sentence}", file=sys.stderr)
    if sql:
        from dbversus.report.assessment import query

        write_all(query(results, sql), format)
        return
    from dbversus.report.show import show as show_table

    shown = show_table(table, results)
    if format == "table" and shown.print_on:
        shown.print_on(make_console())
    else:
        WRITERS[format](shown.columns, shown.rows)
