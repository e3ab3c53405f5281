"""dbversus report: judge stored results again and write their reports."""

from pathlib import Path
from typing import Annotated

import typer

from dbversus.cli import options
from dbversus.cli.choices import Choices, split_demands, with_flags
from dbversus.cli.outcome import present


@with_flags("report")
def report(
    directory: Annotated[Path, typer.Argument(help="Results directory.")],
    *,
    chosen: Choices,
    json: options.Json = False,
) -> int:
    """Judge stored results again; writes report.html, report.md and report.json and prints the table.

    - `dbversus report results/20260101-120000-postgres-13.1-vs-postgres-17`
    - `dbversus report results/… --json | jq .summary`
    - `dbversus report results/… --fail-on regression --fail-on failed --require-verdicts 80%`
    """
    return present(directory, split_demands(chosen)[1], as_json=json)
