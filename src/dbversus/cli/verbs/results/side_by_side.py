"""dbversus side-by-side: experiments of several hosts or runs, and what depends on which."""

from pathlib import Path
from typing import Annotated

import typer

from dbversus.cli.section import FORMATS, give
from dbversus.errors import UsageError
from dbversus.stats.judgeable import JUDGEABLE, named


def side_by_side(
    directories: Annotated[
        list[Path], typer.Argument(help="Results directories, two or more; the others are set against the first.")
    ],
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            help="What an experiment is called, once for each, in their order. Without it: CPU and cores, kernel or table size, "
            "whichever tells all of them apart, else the directory.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Only these judged metrics, with commas between: {', '.join(JUDGEABLE)}. No verdict changes."
        ),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OLD=NEW", help="Another label of a target, in all directories that have it; several times."
        ),
    ] = None,
    format: Annotated[str, typer.Option("--format", "-f", help="table, json, csv, md or html.")] = "table",
) -> None:
    """Set experiments side by side: does target/base depend on the host, the kernel, the size?

    All have to be of the same suite, with the same base; `--rename` sets targets beside each other that have other labels.

    - `dbversus side-by-side results/small-host results/large-host`
    - `dbversus side-by-side results/1 results/2 --as "kernel 6.1" --as "kernel 6.12"`
    - `dbversus side-by-side results/host-* --metric cpu --format csv`
    - `dbversus side-by-side results/before results/after --format html > page.html`
    - `dbversus side-by-side results/ours results/imported --rename pg17.4-ubuntu=postgres:17.4 --rename pg16=postgres:16.8`
    """
    if format not in FORMATS:
        raise UsageError(f"--format {format} is unknown; accepted: {', '.join(FORMATS)}.")
    metrics = _metrics(metric)
    # statistics take seconds to import: not for --help
    from dbversus.report.side_by_side.alike import renamed
    from dbversus.report.side_by_side.gather import side_by_side as gather
    from dbversus.report.side_by_side.shown import section_of
    from dbversus.results.read import open_results

    experiments = renamed([open_results(each) for each in directories], rename or ())
    give(section_of(gather(experiments, names or (), metrics)), format)


def _metrics(asked: list[str] | None) -> list[str]:
    try:
        return named(asked) if asked else []
    except ValueError as error:
        raise UsageError(f"--metric: {error}.") from error
