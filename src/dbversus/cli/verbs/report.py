"""dbversus report: judge stored results again and write their reports."""

from pathlib import Path
from typing import Annotated

import typer

from dbversus.cli import options
from dbversus.cli.outcome import present
from dbversus.experiment.asked.demands import parse_demands


def report(
    directory: Annotated[Path, typer.Argument(help="Results directory.")],
    fail_on: options.FailOn = None,
    require_verdicts: options.RequireVerdicts = None,
    json: options.Json = False,
) -> int:
    """Judge stored results again; writes report.html, report.md and report.json and prints the table.

    - `dbversus report results/20260101-120000-postgres-13.1-vs-postgres-17`
    - `dbversus report results/… --json | jq .summary`
    - `dbversus report results/… --fail-on regression --fail-on failed --require-verdicts 80%`
    """
    demands = parse_demands(fail_on, require_verdicts)
    return present(directory, demands, as_json=json)
