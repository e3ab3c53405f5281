"""dbversus report: judge stored results again and write their reports."""

from pathlib import Path
from typing import Annotated

import typer

from dbversus.cli import campaigns, options
from dbversus.cli.choices import Choices, demands_of, with_flags
from dbversus.cli.outcome import present
from dbversus.errors import UsageError
from dbversus.report.formats.registry import FORMATS, USUAL, find_formats

_FORMATS = (
    f"Reports to write, with commas between: {', '.join(f'{each.name} ({each.what})' for each in FORMATS.values())}."
)


@with_flags("report")
def report(
    directory: Annotated[Path, typer.Argument(help="Results directory.")],
    *,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", help=_FORMATS, show_default=",".join(USUAL)),
    ] = None,
    base: options.Base = None,
    since: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Results directory of an earlier take of the same experiment: the post says what changed since. With --format "
            "post.",
            show_default="none",
        ),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Another label of a target of the earlier take; several times."),
    ] = None,
    chosen: Choices,
    json: options.Json = False,
) -> int:
    """Judge stored results again, write their reports, and print the table; of a campaign, say what it has found.

    - `dbversus report results/20260101-120000-postgres-13.1-vs-postgres-17`
    - `dbversus report results/… --format md`
    - `dbversus report results/… --base postgres:16`
    - `dbversus report results/take-3 --format post --since results/take-2`
    - `dbversus report results/… --json | jq .summary`
    - `dbversus report results/… --fail-on regression --fail-on failed --require-verdicts 80%`
    """
    formats = () if format is None else tuple(name.strip() for name in format.split(","))
    find_formats(formats)  # before anything is judged, which takes seconds
    if campaigns.is_only_campaign(directory):
        campaigns.refuse(directory, format=format, base=base, since=since, rename=rename, **chosen)
        return campaigns.report(directory, as_json=json)
    if since and "post" not in formats:
        raise UsageError(f"--since {since} names an earlier take for a post; add --format post.")
    if rename and not since:
        raise UsageError(f"--rename {rename[0]} is for targets of an earlier take; add --since DIR.")
    demands = demands_of(chosen)
    return present(directory, demands, as_json=json, formats=formats, base=base, earlier=since, renames=rename or ())
