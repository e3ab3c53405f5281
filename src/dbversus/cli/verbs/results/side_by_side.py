"""dbversus side-by-side: experiments of several hosts or runs, and what depends on which."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.cli.tables import print_json, write_csv
from dbversus.errors import UsageError
from dbversus.stats.judgeable import JUDGEABLE, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from dbversus.report.side_by_side.model import SideBySide


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
    if format not in _FORMATS:
        raise UsageError(f"--format {format} is unknown; accepted: {', '.join(_FORMATS)}.")
    metrics = _metrics(metric)
    # statistics take seconds to import: not for --help
    from dbversus.report.side_by_side.alike import renamed
    from dbversus.report.side_by_side.gather import side_by_side as gather
    from dbversus.results.read import open_results

    experiments = renamed([open_results(each) for each in directories], rename or ())
    _FORMATS[format](gather(experiments, names or (), metrics))


def _metrics(asked: list[str] | None) -> list[str]:
    try:
        return named(asked) if asked else []
    except ValueError as error:
        raise UsageError(f"--metric: {error}.") from error


def _table(found: "SideBySide") -> None:
    from dbversus.report.formats.tables import side_by_side_table
    from dbversus.report.terminal import make_console

    side_by_side_table.render(found, make_console())


def _markdown(found: "SideBySide") -> None:
    from dbversus.report.formats.markdown import side_by_side_parts

    print("\n\n".join(side_by_side_parts(found)))


def _html(found: "SideBySide") -> None:
    from dbversus.report.formats.html import render_side_by_side

    sys.stdout.write(render_side_by_side(found))


def _json(found: "SideBySide") -> None:
    from dbversus.report.formats.tables.side_by_side_table import as_json

    print_json(as_json(found))


def _csv(found: "SideBySide") -> None:
    from dbversus.report.formats.tables.side_by_side_table import flat

    write_csv(*flat(found))


_FORMATS: dict[str, "Callable[[SideBySide], None]"] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
    "md": _markdown,
    "html": _html,
}
