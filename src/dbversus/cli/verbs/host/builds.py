"""dbversus builds: what is installed, what can be had, fetch it, add your own."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from dbversus.cli.ending import reports_errors
from dbversus.cli.tables import write_table

app = typer.Typer(help="Installed and available DBMS builds.", no_args_is_help=True)


@app.command("list")
@reports_errors
def list_builds() -> None:
    """List the builds that are installed.

    - `dbversus builds list`
    """
    from dbversus.builds import store

    rows = [(build.name, build.provider, build.compiled, build.prefix) for build in store.list_installed()]
    write_table(["target", "provider", "compiled", "path"], rows)


@app.command()
@reports_errors
def available(dbms: Annotated[str | None, typer.Argument(help="Only this DBMS, e.g. postgres.")] = None) -> None:
    """List the versions that can be fetched by name.

    - `dbversus builds available postgres`
    """
    from dbversus.builds import store

    entries = store.available(dbms or "")
    rows = [(entry.name, entry.series, entry.compiled, ", ".join(entry.lacks)) for entry in entries]
    write_table(["target", "series", "compiled", "lacks"], rows)


@app.command(no_args_is_help=True)
@reports_errors
def fetch(
    targets: Annotated[list[str], typer.Argument(help="Targets such as postgres:17, mysql:8.0 or myrocks:10.11.")],
) -> None:
    """Fetch builds now, rather than at the first comparison.

    - `dbversus builds fetch mysql:5.6 mysql:8.0`
    """
    from dbversus.builds import store
    from dbversus.builds.target import parse_target

    for target in targets:
        build = store.obtain(parse_target(target), lambda text: print(text, file=sys.stderr, flush=True))
        print(f"{build.name}\t{build.prefix}")


@app.command(no_args_is_help=True)
@reports_errors
def add(
    path: Annotated[Path, typer.Argument(help="Install prefix, or archive of one.")],
    name: Annotated[str, typer.Option(help="Name it by this instead of its version.")] = "",
    sha256: Annotated[str, typer.Option(help="Refuse the archive unless it has this checksum.")] = "",
) -> None:
    """Add an own build, to be named `postgres:local/NAME` (NAME is its version unless --name is given).

    - `dbversus builds add /opt/postgresql-18-mybranch`
    - `dbversus builds add postgresql-17.2-custom.tar.gz --sha256 3a7b…`
    """
    from dbversus.builds import store

    build = store.add(path, name, sha256)
    print(f"{build.dbms}:local/{name or build.version}\t{build.prefix}")
