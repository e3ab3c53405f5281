"""dbversus explain: why tests changed, from what results hold."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.cli import options
from dbversus.cli.tables import print_json
from dbversus.errors import UsageError
from dbversus.names import split_names
from dbversus.results.schema import IMPORTED_SUITE

if TYPE_CHECKING:
    from dbversus.report.model import Assessment


def explain(
    directory: Annotated[Path, typer.Argument(help="Results directory.")],
    *,
    tests: Annotated[str | None, typer.Option(help="Only these tests: globs, comma separated.")] = None,
    base: options.Base = None,
    json: Annotated[bool, typer.Option("--json", help="Print them as JSON on standard output.")] = False,
) -> None:
    """Say why tests changed: causes that were tested and leads, most likely first.

    Nothing is measured: settings, plans, the servers' own counters and the host's figures are in the results. With a lead stands
    the command that tests it, where there is one.

    - `dbversus explain results/20260101-120000-postgres-14-vs-postgres-17`
    - `dbversus explain results/… --tests 'point-*,scan'`
    - `dbversus explain results/… --base postgres:16`
    - `dbversus explain results/… --json | jq '.[].causes[0].what'`
    - `dbversus show results/… --table causes --format csv > causes.csv`
    """
    # statistics take seconds to import: not for --help
    from dbversus.report.assessment import build_assessment
    from dbversus.report.formats.tables import causes_table
    from dbversus.report.terminal import make_console, say
    from dbversus.results.read import open_results

    assessment = build_assessment(open_results(directory, base))
    chosen = _chosen(assessment, tests)
    found = [one for one in assessment.explanations if one.test in chosen]
    if json:
        print_json(causes_table.as_json(found))
        return
    console = make_console()
    causes_table.render(found, console)
    say(console, causes_table.NOTE if found else _nothing(assessment, chosen), "dim")


def _chosen(assessment: "Assessment", globs: str | None) -> Sequence[str]:
    """Tests that a glob matches; all where there is none."""
    names = [test.name for test in assessment.tests]
    if globs is None:
        return names
    wanted = split_names(globs)
    for glob in wanted:
        if not any(fnmatchcase(name, glob) for name in names):
            raise UsageError(f"--tests {glob} matches none of the tests that were measured: {', '.join(names)}.")
    return [name for name in names if any(fnmatchcase(name, glob) for glob in wanted)]


def _nothing(assessment: "Assessment", chosen: Sequence[str]) -> str:
    """Why there is nothing to explain."""
    if not assessment.candidates:
        return "There is one target, so there is no change to explain."
    if assessment.header.suite == IMPORTED_SUITE:
        return "Runs of an import have no blocks to show a change with, and no settings, plans or counters to explain it by."
    which = "The one test has no" if len(chosen) == 1 else f"None of {len(chosen)} tests has a"
    return f"{which} regression or improvement: there is nothing to explain."
