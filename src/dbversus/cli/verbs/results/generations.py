"""dbversus generations: how one DBMS fared against another, a generation ago and now."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.cli.section import FORMATS, give
from dbversus.errors import UsageError

if TYPE_CHECKING:
    from dbversus.report.section import Section
    from dbversus.results.stored import Results
    from dbversus.stats.across.generations import Pair


def generations(
    directory: Annotated[Path, typer.Argument(help="Results of the old pair, or of both pairs.")],
    new_directory: Annotated[
        Path | None, typer.Argument(help="Results of the new pair, when that was an experiment of its own.")
    ] = None,
    old: Annotated[str | None, typer.Option(help="The old pair as FIRST,SECOND: labels of targets, or t0,t1.")] = None,
    new: Annotated[str | None, typer.Option(help="The new pair, likewise.")] = None,
    format: Annotated[str, typer.Option("--format", "-f", help="table, json, csv, md, html or xlsx.")] = "table",
) -> None:
    """Compare two generations: second/first of an old pair of targets with second/first of a new pair, test by test.

    An experiment with two versions of each of two DBMSs needs no options: its report shows the same.

    - `dbversus compare mysql:5.6 postgres:11 mysql:8.0 postgres:17 --out results/both`
    - `dbversus generations results/both`
    - `dbversus generations results/both --old mysql:5.6,postgres:11 --new mysql:8.0,postgres:17 --format csv`
    - `dbversus generations results/2021 results/2026 --format html > generations.html`
    - `dbversus generations results/2021 results/2026 --format xlsx > generations.xlsx`
    """
    if format not in (*FORMATS, "xlsx"):
        raise UsageError(f"--format {format} is unknown; accepted: {', '.join((*FORMATS, 'xlsx'))}.")
    # statistics take seconds to import: not for --help
    from dbversus.report.pairs import between
    from dbversus.report.sections.generations import section_of
    from dbversus.results.read import open_results

    of_old = open_results(directory)
    of_new = of_old if new_directory is None else open_results(new_directory)
    old_pair, new_pair = _pairs(of_old, old, of_new, new)
    section = section_of(between(of_old, old_pair, of_new, new_pair))
    if format == "xlsx":
        _xlsx(section)
    else:
        give(section, format)


def _pairs(of_old: "Results", old: str | None, of_new: "Results", new: str | None) -> tuple["Pair", "Pair"]:
    from dbversus.report.pairs import default_pairs, only_pair, parse_pair

    if of_old is of_new:
        if old is None and new is None:
            if pairs := default_pairs(of_old):
                return pairs
            known = ", ".join(target.label for target in of_old.targets)
            raise UsageError(
                f"{of_old.directory} is no experiment with two versions of each of two DBMSs; name the pairs with "
                f"--old FIRST,SECOND --new FIRST,SECOND. Its targets: {known}."
            )
        if old is None or new is None:
            raise UsageError("--old and --new belong together: one without the other names only one pair.")
    return (
        only_pair(of_old, "--old") if old is None else parse_pair(old, of_old, "--old"),
        only_pair(of_new, "--new") if new is None else parse_pair(new, of_new, "--new"),
    )


def _xlsx(section: "Section") -> None:
    from dbversus.report.formats.xlsx.write import section_content

    if sys.stdout.isatty():
        raise UsageError("--format xlsx is a file, not text for a terminal: write it to one, with > generations.xlsx.")
    sys.stdout.buffer.write(section_content(section))
    sys.stdout.buffer.flush()
