"""Options shared by verbs that run experiments."""

from pathlib import Path
from typing import Annotated

import typer

from dbversus.errors import UsageError
from dbversus.experiment.asked.demands import CONDITIONS
from dbversus.stats.judgeable import JUDGEABLE, USUAL, named

TUNING = "For tuning the protocol itself"

Targets = Annotated[
    list[str],
    typer.Argument(help="Targets, the first is the base: `dbms:version[@config]` or a path.", show_default=False),
]
Suite = Annotated[
    str | None, typer.Option(help="Suite by name (`dbversus suites list`) or TOML file.", show_default="sysbench")
]
Tests = Annotated[str | None, typer.Option(help="Only these tests: globs, comma separated, e.g. 'point-*,scan'.")]
Profile = Annotated[
    str | None,
    typer.Option(help="How much to measure: quick, standard, fine or reference-2021.", show_default="standard"),
]
Builds = Annotated[
    list[str] | None,
    typer.Option(
        help="Builds to cross with the configs of the matrix: mysql:8.0,postgres:17, or 'mysql:*' (repeatable)."
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(help="Leave out targets of a matrix: '@config', 'build' or 'build@config' (repeatable)."),
]
Matrix = Annotated[
    str | None,
    typer.Option(help="Cross the targets with the configs of this experiment: its name or file (docs/experiments.md)."),
]
AtOnce = Annotated[
    int | None,
    typer.Option(help="Most servers up at once, the base among them; the others take turns.", show_default="all"),
]
Order = Annotated[
    str | None,
    typer.Option(
        help="interleaved: targets alternate in slots; sequential: one after the other (docs/modes.md).",
        show_default="interleaved",
    ),
]
Alone = Annotated[
    bool, typer.Option("--alone", help="Measure one target by itself: figures without a comparison, and no verdict.")
]
Clients = Annotated[
    str | None, typer.Option(help="Concurrent connections; 1,2,4 runs every test with each.", show_default="profile's")
]
TableSize = Annotated[str | None, typer.Option(help="Rows per table, e.g. 100k or 1m.", show_default="profile's")]
RunTableSize = Annotated[
    str | None, typer.Option("--table-size", help="Rows per table, e.g. 100k or 1m.", show_default="the file's")
]
Tables = Annotated[int | None, typer.Option(help="Number of tables.", show_default="profile's")]
TimeBudget = Annotated[
    str | None, typer.Option(help="Start no block that would end later than this, e.g. 45m.", show_default="none")
]
WaitQuiet = Annotated[
    str | None,
    typer.Option(
        help="Before each block, wait up to so long for other work on the host to end, e.g. 5m.", show_default="no wait"
    ),
]
RequireQuiet = Annotated[
    bool,
    typer.Option(
        "--require-quiet", help="End the run where other work goes on before a block; `resume` goes on with it."
    ),
]
AsStored = Annotated[
    bool,
    typer.Option(
        "--as-stored",
        help="Go on with the suite, configs and settings that the results directory holds, though they have changed since.",
    ),
]
Seed = Annotated[int | None, typer.Option(help="Seed of data and parameters.", show_default="1")]
Mode = Annotated[str | None, typer.Option(help="Statements: prepared or unprepared.", show_default="prepared")]
Placement = Annotated[
    str | None,
    typer.Option(help="CPUs of client and server: auto, split, together, apart or none.", show_default="auto"),
]
_JUDGE = f"Metrics that make verdicts, one or more of {', '.join(JUDGEABLE)}: e.g. cpu,throughput,io,p99."
Judge = Annotated[
    str | None,
    typer.Option(
        help=_JUDGE,
        show_default=",".join(USUAL),
    ),
]
RunJudge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help=_JUDGE,
        show_default="the file's",
    ),
]
Margin = Annotated[
    list[str] | None,
    typer.Option(
        help="Changes below this are boring, e.g. cpu=0.05 or p99=0.2 (repeatable).",
        show_default="3 % CPU/op, 5 % throughput, IO/op, mean and median response time, 10 % p95 and p99",
    ),
]
ConfigDir = Annotated[
    Path | None,
    typer.Option(help="Look here first for config files named in targets (docs/configs.md).", show_default="./configs"),
]
Cache = Annotated[
    str | None,
    typer.Option(
        help="warm: tables are read before each block; cold: every row begins after a restart; mixed: every block does.",
        show_default="warm",
    ),
]
Restart = Annotated[
    str | None,
    typer.Option(
        help="Start servers for each `block`, or `never` again.", show_default="block", rich_help_panel=TUNING
    ),
]
Restore = Annotated[
    str | None,
    typer.Option(help="Restore data for each `block`, or `never` again.", show_default="block", rich_help_panel=TUNING),
]
NoFreeze = Annotated[bool, typer.Option("--no-freeze", help="Do not freeze idle servers between slots.")]
NoCalibration = Annotated[
    bool, typer.Option("--no-calibration", help="Leave this host's calibration out: the usual margins for all tests.")
]
Out = Annotated[Path | None, typer.Option(help="Results directory (new).", show_default="results/<time>-<targets>")]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        help=f"Exit with 99 when there is one: {', '.join(CONDITIONS)} (commas between, repeatable); "
        "with 98 when nothing could be judged of the run or of one of its targets."
    ),
]
RequireVerdicts = Annotated[
    str | None,
    typer.Option(
        help="Exit with 98 when fewer comparisons (a test on a target) than this share, e.g. 80%, are found to be a "
        "regression, an improvement or equivalent.",
        show_default="none",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON on standard output.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Check settings, and say what would be done, with its expected time and disk need; start nothing."
    ),
]
Wait = Annotated[bool, typer.Option("--wait", help="When another experiment runs on this host, wait for it.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def judged(text: str | None) -> list[str] | None:
    """What `--judge` names; None: it was not given. UsageError for an unknown metric and for none."""
    if text is None:
        return None
    try:
        return named([text])
    except ValueError as error:
        raise UsageError(f"--judge: {error}.") from error
