"""dbversus show: results as tables, for eyes and for pipes."""

from pathlib import Path
from typing import Annotated

import typer

from dbversus.cli.tables import WRITERS, write_all
from dbversus.errors import UsageError

_TABLES = ("findings", "efficiency", "matrix", "scaleup")
_FINDINGS_SQL = (
    "SELECT test, target, metric, verdict, ratio, low, high, blocks, smallest_visible_change "
    "FROM findings WHERE judged OR metric = 'drain_cpu_us_per_op'"
)


def show(
    directory: Annotated[Path, typer.Argument(help="Results directory.")],
    sql: Annotated[
        str | None,
        typer.Option(
            help="DuckDB SQL, one statement or several with ; between: SHOW TABLES lists the tables "
            "(docs/results-directory.md)."
        ),
    ] = None,
    table: Annotated[
        str,
        typer.Option(
            help="findings: verdicts on the judged metrics; efficiency: CPU, switches and IO per operation; "
            "matrix: throughput and memory, a line per target; scaleup: what more clients bring."
        ),
    ] = "findings",
    format: Annotated[str, typer.Option("--format", "-f", help="table, json, csv or md.")] = "table",
) -> None:
    """Show results as a table; without options all findings on the judged metrics.

    - `dbversus show results/…`
    - `dbversus show results/… --table efficiency`
    - `dbversus show results/… --table matrix --format csv`
    - `dbversus show results/… --format csv > findings.csv`
    - `dbversus show results/… --sql "SELECT test, target, median(server_cpu_us_per_op) FROM slots GROUP BY ALL"`
    - `dbversus show results/… --sql "SHOW TABLES; DESCRIBE findings"`
    """
    if format not in WRITERS:
        raise UsageError(f"--format {format} is unknown; accepted: {', '.join(WRITERS)}.")
    if table not in _TABLES:
        raise UsageError(f"--table {table} is unknown; accepted: {', '.join(_TABLES)}.")
    if sql and table != "findings":
        raise UsageError("--sql and --table exclude each other; a query names its own tables.")
    # statistics take seconds to import: not for --help
    from rich.console import Console

    from dbversus.results.read import open_results

    results = open_results(directory)
    if table == "efficiency":
        from dbversus.report.parts import efficiency

        if format == "table":
            print(efficiency.text(results))
        else:
            WRITERS[format](*efficiency.flat(results))
        return
    if table == "matrix":
        from dbversus.report.formats import matrix_table
        from dbversus.report.parts import matrix

        found = matrix.build_matrix(results)
        if format == "table":
            matrix_table.render(found, Console())
        else:
            WRITERS[format](*matrix_table.flat(found))
        return
    if table == "scaleup":
        from dbversus.report.formats import scaleup_table
        from dbversus.report.parts import scaleup

        growth = scaleup.of_experiment(results)
        if growth is None:
            raise UsageError(f"{directory} has one number of clients; --table scaleup wants several (--clients 1,2,4).")
        if format == "table":
            scaleup_table.render(growth, Console())
        else:
            WRITERS[format](*scaleup_table.flat(growth))
        return
    from dbversus.report.assessment import query

    write_all(query(results, sql or _FINDINGS_SQL), format)
