"""dbversus import: results that other tools have measured, as an experiment."""

import codecs
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.errors import UsageError

if TYPE_CHECKING:
    from dbversus.importing.run import Outcome


def import_results(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH…", help="Files, or folders with all that is in them, of sysbench, the reference method, the Insert "
            "Benchmark, pgbench, HammerDB, BenchBase, or CSV.", show_default=False,
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="Results directory (new).", show_default=False)],
    base: Annotated[str | None, typer.Option(help="Target that the others are compared with.", show_default="the first")] = None,
    clients: Annotated[
        str | None,
        typer.Option(help="Numbers of clients of the columns of summaries that do not tell them.", show_default="1,2,3,…"),
    ] = None,
    target_from: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX", help="What part of a path is the target: what the brackets find, else all that the pattern finds.",
            show_default="the folder",
        ),
    ] = None,
    test_from: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="What part of a path is the test, likewise.", show_default="the file's name"),
    ] = None,
    encoding: Annotated[
        str, typer.Option(help="Encoding of files that are not UTF-8: utf-16, latin-1, cp1252 …", show_default=False)
    ] = "",
) -> None:  # fmt: skip
    """Import results of other tools, for `show` and `report`.

    The folder that a file is in is its target, unless the file names its targets; the file's name is its test, without times
    such as 20250815_130329. `--target-from` and `--test-from` are regular expressions, searched for in the path as it is shown.

    - `dbversus import x.my8022.x6d.pk1 x.pg131.x5.pk1 --out results/theirs`
    - `dbversus import runs/ --out results/theirs --base x.pg131.x5.pk1`
    - `dbversus import o.qps.abs.in o.qps.rel.in o.met.in --out results/2021`
    - `dbversus import pgbench_1*_*.log --out results/theirs --target-from "bench_(\\d+)" --test-from "_([a-z]+)_"`
    - `dbversus import runs/ --out results/theirs --target-from "([^/]+)/[^/]+/[^/]+$"`: the folder above a file's folder
    - `dbversus show results/theirs --table imported`
    """
    # DuckDB takes long to import: not for --help
    from dbversus.importing.find import Named, Wanted
    from dbversus.importing.run import import_results as run

    given = {
        "--base": base, "--clients": clients, "--target-from": target_from, "--test-from": test_from, "--encoding": encoding
    }  # fmt: skip
    words = ["dbversus", "import", *map(str, paths), "--out", str(out)]
    words += [word for option, value in given.items() if value for word in (option, value)]
    wanted = Wanted(
        tuple(_numbers(clients)), _known(encoding), Named("--target-from", target_from), Named("--test-from", test_from)
    )
    outcome = run(paths, out, wanted, base=base, command=shlex.join(words))
    _tell(outcome)
    print(f"results: {out}")


def _tell(outcome: "Outcome") -> None:
    for remark in outcome.remarks:
        print(remark, file=sys.stderr)
    found = outcome.record
    print(
        f"{found.figures:,} figures of {found.files:,} files: {outcome.tests:,} tests on {len(outcome.targets):,} targets; "
        f"{found.kept_lines:,} other lines were kept, of which {found.unknown_lines:,} are unknown."
    )
    if found.left_out or found.damaged:
        print(
            f"{found.left_out:,} files were left out and {found.damaged:,} are damaged: see the table imported_files."
        )
    if ratios := found.ratios_same + found.ratios_within_rounding + found.ratios_other + found.ratios_alone:
        print(
            f"{ratios:,} printed ratios: {found.ratios_same:,} are those of the printed figures, "
            f"{found.ratios_within_rounding:,} as far as rounding lets it be seen, {found.ratios_other:,} are not, "
            f"{found.ratios_alone:,} have no figures."
        )


def _numbers(text: str | None) -> list[int]:
    if text is None:
        return []
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(f"--clients is '{text}'; write numbers with commas between, such as 1,8,40.")
    return [int(part) for part in parts]


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name if encoding else ""
    except LookupError:
        raise UsageError(
            f"--encoding {encoding} is unknown; accepted are those of Python: utf-16, latin-1, cp1252 …"
        ) from None
