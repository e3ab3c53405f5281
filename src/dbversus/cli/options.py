"""Options that several verbs share and that are no choices of an experiment: those are in flags.py."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Targets = Annotated[
    list[str],
    typer.Argument(help="Targets, the first is the base: `dbms:version[@config]` or a path.", show_default=False),
]
Builds = Annotated[
    list[str] | None,
    typer.Option(
        help="Builds to cross with the configs of the matrix: mysql:8.0,postgres:17, or 'mysql:*' (repeatable)."
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(help="Leave out targets: '@config', 'build' or 'build@config' (repeatable)."),
]
Matrix = Annotated[
    str | None,
    typer.Option(help="Cross the targets with the configs of this experiment: its name or file (docs/experiments.md)."),
]
Scaled = Annotated[
    bool,
    typer.Option("--scaled", help="In its short form: what the file's table `scaled` says, over the rest of it."),
]
AsStored = Annotated[
    bool,
    typer.Option(
        "--as-stored",
        help="Go on with the suite, configs and settings that the results directory holds, though they have changed since.",
    ),
]
Out = Annotated[Path | None, typer.Option(help="Results directory (new).", show_default="results/<time>-<targets>")]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON on standard output.")]
Base = Annotated[
    str | None,
    typer.Option(
        help="Compare with this target (its label, or t1, t2, …) instead of the experiment's own base.",
        show_default="the first target",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Check settings, and say what would be done, with its expected time and disk need; start nothing.",
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Execute what an experiment of somebody else brings along: programs, settings, SQL (docs/experiments.md).",
    ),
]
Wait = Annotated[bool, typer.Option("--wait", help="When another experiment runs on this host, wait for it.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


@dataclass(frozen=True)
class Run:
    """How a verb runs what it measures, as its flags say."""

    dry_run: bool
    trust: bool
    wait: bool
    quiet: bool
