"""dbversus builds: what is installed, what can be had, fetch it, add your own."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from dbversus.builds import store
from dbversus.builds.target import parse_target
from dbversus.cli.ending import told
from dbversus.report.terminal import print_table

app = typer.Typer(help="Installed and available DBMS builds.", no_args_is_help=True)


@app.command("list")
@told
def list_builds() -> None:
    """List the builds that are installed.

    - `dbversus builds list`
    """
    table = Table("target", "provider", "compiled", "path", box=None, header_style="bold")
    for build in store.list_installed():
        table.add_row(build.name, build.provider, build.compiled, str(build.prefix))
    print_table(Console(highlight=False, markup=False), table)


@app.command()
@told
def available(dbms: Annotated[str | None, typer.Argument(help="Only this DBMS, e.g. postgres.")] = None) -> None:
    """List the versions that can be fetched by name.

    - `dbversus builds available postgres`
    """
    table = Table("target", "series", "compiled", "lacks", box=None, header_style="bold")
    for entry in store.available(dbms or ""):
        table.add_row(entry.name, entry.series, entry.compiled, ", ".join(entry.lacks))
    print_table(Console(highlight=False, markup=False), table)


@app.command(no_args_is_help=True)
@told
def fetch(
    targets: Annotated[list[str], typer.Argument(help="Targets such as postgres:17, mysql:8.0 or myrocks:10.11.")],
) -> None:
    """Fetch builds now, rather than at the first comparison.

    - `dbversus builds fetch mysql:5.6 mysql:8.0`
    """
    progress = Console(stderr=True)
    for target in targets:
        build = store.obtain(parse_target(target), lambda text: progress.print(text, markup=False, highlight=False))
        print(f"{build.name}\t{build.prefix}")


@app.command(no_args_is_help=True)
@told
def add(
    path: Annotated[Path, typer.Argument(help="Install prefix, or archive of one.")],
    name: Annotated[str, typer.Option(help="Name it by this instead of its version.")] = "",
    sha256: Annotated[str, typer.Option(help="Refuse the archive unless it has this checksum.")] = "",
) -> None:
    """Add an own build, to be named `postgres:local/NAME` (NAME is its version unless --name is given).

    - `dbversus builds add /opt/postgresql-18-mybranch`
    - `dbversus builds add postgresql-17.2-custom.tar.gz --sha256 3a7b…`
    """
    build = store.add(path, name, sha256)
    print(f"{build.dbms}:local/{name or build.version}\t{build.prefix}")
