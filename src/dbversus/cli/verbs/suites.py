"""dbversus suites: which there are, and what their tests do."""

from typing import Annotated

import typer

from dbversus.cli.ending import told
from dbversus.cli.tables import write_table

app = typer.Typer(help="Suites of tests.", no_args_is_help=True)


@app.command("list")
@told
def list_command() -> None:
    """List the suites that come with dbversus.

    - `dbversus suites list`
    """
    from dbversus.suites.load import list_suites

    rows = [(suite.name, len(suite.sequence), suite.title) for suite in list_suites()]
    write_table(["suite", "tests", "title"], rows)


@app.command(no_args_is_help=True)
@told
def show(
    suite: Annotated[str, typer.Argument(help="Name of a suite, or a TOML file.")],
    tests: Annotated[str | None, typer.Option(help="Only these: globs, comma separated.")] = None,
) -> None:
    """Show the tests of a suite: phases, statements, notes.

    - `dbversus suites show sysbench`
    - `dbversus suites show ./mine.toml --tests 'update-*'`
    """
    from rich.console import Console
    from rich.text import Text

    from dbversus.report.terminal import plain_table, print_table, say
    from dbversus.suites.load import load_suite
    from dbversus.suites.model import GROUP_TITLES

    console = Console()
    for phase in load_suite(suite).select(tests).phases:
        settled = " (settled before)" if phase.settle else ""
        say(console, f"{phase.name}{settled}", "bold")
        table = plain_table("test", "group", "statements", "note")
        for test in phase.tests:
            statements = "\n".join(f"{statement.repeat} × {statement.sql_for('')}" for statement in test.statements)
            cells = (test.name, GROUP_TITLES.get(test.group, test.group), statements, test.note)
            table.add_row(*map(Text, cells))
        print_table(console, table)
        console.print()
