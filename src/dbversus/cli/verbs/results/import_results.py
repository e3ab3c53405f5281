"""dbversus import: results that other tools have measured, as an experiment."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from dbversus.errors import UsageError


def import_results(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH…", help="Files, or folders with all that is in them, of sysbench, the reference method, the Insert "
            "Benchmark, pgbench -l, HammerDB, BenchBase, or CSV.", show_default=False,
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="Results directory (new).", show_default=False)],
    base: Annotated[str | None, typer.Option(help="Target that the others are compared with.", show_default="the first")] = None,
    clients: Annotated[
        str | None,
        typer.Option(help="Numbers of clients of the columns of summaries that do not tell them.", show_default="1,2,3,…"),
    ] = None,
) -> None:  # fmt: skip
    """Import results of other tools, for `show` and `report`.

    The folder that a file is in is its target, unless the file names its targets; the file's name is its test.

    - `dbversus import x.my8022.x6d.pk1 x.pg131.x5.pk1 --out results/theirs`
    - `dbversus import runs/ --out results/theirs --base x.pg131.x5.pk1`
    - `dbversus import o.qps.abs.in o.qps.rel.in o.met.in --out results/2021`
    - `dbversus show results/theirs --table imported`
    """
    # DuckDB takes long to import: not for --help
    from dbversus.importing.run import import_results as run

    words = ["dbversus", "import", *map(str, paths), "--out", str(out)]
    words += [*(["--base", base] if base else []), *(["--clients", clients] if clients else [])]
    outcome = run(paths, out, base=base, clients=_numbers(clients), command=shlex.join(words))
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
    print(f"results: {out}")


def _numbers(text: str | None) -> list[int]:
    if text is None:
        return []
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(f"--clients is '{text}'; write numbers with commas between, such as 1,8,40.")
    return [int(part) for part in parts]
