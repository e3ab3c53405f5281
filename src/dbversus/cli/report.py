"""dbversus report: judge stored results again and write their reports."""

from pathlib import Path
from typing import Annotated

import typer

from dbversus.cli import options
from dbversus.cli.outcome import check_fail_on, present


def report(
    directory: Annotated[Path, typer.Argument(help="Results directory.")],
    fail_on: options.FailOn = None,
    json: options.Json = False,
) -> int:
    """Judge stored results again; writes report.html, report.md and report.json and prints the table.

    - `dbversus report results/20260101-120000-postgres-13.1-vs-postgres-17`
    - `dbversus report results/… --json | jq .summary`
    """
    check_fail_on(fail_on)
    return present(directory, fail_on=fail_on, as_json=json)
