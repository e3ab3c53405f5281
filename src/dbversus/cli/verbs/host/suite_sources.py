"""dbversus suites from-…: a suite file from what people have already."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dbversus.suites.writing.missing import Written

Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="File to write (new); standard output when left out.")
]


def from_pgbench(
    scripts: Annotated[
        list[str],
        typer.Argument(
            help="Scripts of pgbench, or tpcb-like, simple-update, select-only; FILE@3 gives a weight.",
            show_default=False,
        ),
    ],
    scale: Annotated[int, typer.Option("--scale", "-s", help="pgbench's scale: 100000 accounts each.")] = 1,
    define: Annotated[
        list[str] | None, typer.Option("--define", "-D", help="NAME=INTEGER: a variable of the scripts (repeatable).")
    ] = None,
    output: Output = None,
) -> None:
    r"""Write a suite that does what scripts of pgbench do.

    Each script is a test. Where one has a weight (FILE@3), all of them are one test, in which each is drawn as often as pgbench
    would. Accepted are SQL statements, `\set`, `\setrandom`, `\gset` and `\if`; what a suite cannot do is refused
    with its line. The tables of pgbench come with the suite where a script uses them.

    - `dbversus suites from-pgbench tpcb-like --scale 10 -o tpcb.toml`
    - `dbversus suites from-pgbench read.sql@9 write.sql@1 -D customers=1000 -o shop.toml`
    """
    from dbversus.suites.writing.pgbench.suite import find_scripts, write_suite

    _hand_over(write_suite(find_scripts(scripts), scale, _defines(define or [])), output)


def _defines(texts: list[str]) -> dict[str, int]:
    from dbversus.errors import UsageError

    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name.replace("_", "").isalnum() or not value.removeprefix("-").isdigit():
            raise UsageError(f"--define is '{text}'; NAME=INTEGER is accepted, such as customers=1000.")
        values[name] = int(value)
    return values


def _hand_over(written: "Written", output: Path | None) -> None:
    """The suite to its file or to standard output; what is left to do to the terminal."""
    from dbversus.files import write_new

    if output is None:
        print(written.text, end="")
    else:
        write_new(output, written.text)
    for line in (*(f"still to be done: {one}" for one in written.left), *written.notes):
        print(line, file=sys.stderr)


def from_statements(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Exports of pg_stat_statements or MySQL's digests, slow logs, output of pt-query-digest or mysqldumpslow.",
            show_default=False,
        ),
    ],
    top: Annotated[int, typer.Option(help="How many statements: those that took most time.")] = 20,
    encoding: Annotated[
        str, typer.Option(help="Of the files: utf-8 (default), utf-16, latin-1, cp1252 …", show_default=False)
    ] = "",
    output: Output = None,
) -> None:
    r"""Write a suite to start from, of the statements that a server has counted or logged as slow.

    Each statement is a test, and all of them are a mix by their calls. What the export does not tell is yours to fill in:
    tables, and which values parameters take. The file and the terminal say where. SET, COMMIT, COPY and the like are left out.

    How to export, from PostgreSQL, and from MySQL or MariaDB (a slow log is read as it is, gzipped too):

    - `psql -c "\copy (SELECT query, calls, total_exec_time FROM pg_stat_statements) TO 'seen.csv' CSV HEADER"`
    - `mysql -B -e "SELECT * FROM performance_schema.events_statements_summary_by_digest" > seen.tsv`
    - `dbversus suites from-statements seen.csv -o mine.toml`
    """
    from dbversus.suites.writing.statements.read import read_statements
    from dbversus.suites.writing.statements.suite import write_suite

    _hand_over(write_suite(read_statements(files, encoding), top, files), output)
