"""dbversus suites: which there are, and what their tests do."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.cli.ending import reports_errors
from dbversus.cli.tables import write_table
from dbversus.cli.verbs.host import suite_sources
from dbversus.names import split_names

if TYPE_CHECKING:
    from dbversus.suites.model import Test

app = typer.Typer(help="Suites of tests.", no_args_is_help=True)
app.command("from-pgbench", no_args_is_help=True)(reports_errors(suite_sources.from_pgbench))
app.command("from-statements", no_args_is_help=True)(reports_errors(suite_sources.from_statements))


@app.command("list")
@reports_errors
def list_command() -> None:
    """List the suites that come with dbversus.

    - `dbversus suites list`
    """
    from dbversus.suites.load import list_suites

    rows = [(suite.name, len(suite.sequence), suite.title) for suite in list_suites()]
    write_table(["suite", "tests", "title"], rows)


@app.command(no_args_is_help=True)
@reports_errors
def show(
    suite: Annotated[str, typer.Argument(help="Name of a suite, or a TOML file.")],
    tests: Annotated[str | None, typer.Option(help="Only these: globs, comma separated.")] = None,
    variant: Annotated[str, typer.Option(help="With these variants of the suite, comma separated.")] = "",
) -> None:
    """Show the tests of a suite: phases, statements, operations and rates, notes, and what variants it has.

    - `dbversus suites show sysbench`
    - `dbversus suites show insert --variant bursts`
    - `dbversus suites show ./mine.toml --tests 'update-*'`
    """
    from rich.text import Text

    from dbversus.report.terminal import make_console, plain_table, print_table, say
    from dbversus.suites.load import list_variants, load_suite

    console = make_console()
    shown = load_suite(suite, split_names(variant)).select(tests)
    for phase in shown.phases:
        settled = " (settled before)" if phase.settle else " (VACUUM before, on PostgreSQL)" if phase.vacuum else ""
        say(console, f"{phase.name}{settled}", "bold")
        table = plain_table("test", "group", "statements", "note")
        for test in phase.tests:
            note = "Only warms caches, and is not reported." if test.warm_up else test.note
            cells = (test.name, shown.group_titles[test.group], _statements(test), note)
            table.add_row(*map(Text, cells))
        print_table(console, table)
        console.print()
    if variants := list_variants(suite):
        say(console, "variants (--variant)", "bold")
        table = plain_table("variant", "what")
        for name, title in variants.items():
            table.add_row(Text(name), Text(title))
        print_table(console, table)


def _statements(test: "Test") -> str:
    """What kind of work it is, then statement by statement; with roles, under what each of these is."""
    from dbversus.suites.assembly.words import role_words, work_words

    lines = work_words(test)
    for role in test.roles or (None,):
        lines += [f"{role.name}: {role_words(role)}"] if role else []
        statements = role.statements if role else test.statements
        lines += [statement.words for statement in statements]
    return "\n".join(lines)


@app.command(no_args_is_help=True)
@reports_errors
def new(file: Annotated[Path, typer.Argument(help="The file to write; it must not be there yet.")]) -> None:
    """Write a suite to start from, with comments; it runs as it is.

    - `dbversus suites new shop.toml`
    """
    from dbversus.suites.writing.new import write_template

    write_template(file)
