"""dbversus configs: which there are, what they say, and making one from a file of the server's own."""

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.cli.choices import Choices, with_flags
from dbversus.cli.ending import reports_errors
from dbversus.cli.tables import write_table
from dbversus.names import did_you_mean_inline, split_names

if TYPE_CHECKING:
    from dbversus.servers.config.foreign import Converted

app = typer.Typer(help="Config files: server settings by name.", no_args_is_help=True)


@app.command("list")
@reports_errors
@with_flags("configs")
def list_configs(
    dbms: Annotated[str | None, typer.Argument(help="Only of this DBMS, e.g. mysql.")] = None,
    *,
    chosen: Choices,
) -> None:
    """List config files by DBMS, with what each is for; broken ones with the reason.

    - `dbversus configs list mysql`
    """
    from dbversus.errors import UsageError
    from dbversus.servers.config.load import available_configs

    rows = []
    for each in _dbms(dbms):
        files = available_configs(each, _place(chosen))
        for name in sorted(files):
            try:
                rows.append((each, name, files[name].description.partition("  ")[0]))
            except UsageError as error:
                rows.append((each, name, f"broken: {error}"))
    write_table(["dbms", "config", "what for"], rows)


@app.command(no_args_is_help=True)
@reports_errors
@with_flags("configs")
def show(
    name: Annotated[str, typer.Argument(help="Name of a config, e.g. base.")],
    *,
    dbms: Annotated[str | None, typer.Option(help="Only of this DBMS, e.g. mysql.")] = None,
    chosen: Choices,
) -> None:
    """Show a config file, for each DBMS that has one of that name.

    - `dbversus configs show base --dbms postgres`
    """
    from dbversus.errors import UsageError
    from dbversus.servers.config.load import available_configs

    known = {each: available_configs(each, _place(chosen)) for each in _dbms(dbms)}
    paths = [files.paths[name] for files in known.values() if name in files]
    if not paths:
        names = {other for files in known.values() for other in files}
        raise UsageError(
            f"There is no config '{name}'{did_you_mean_inline(name, names)}; `dbversus configs list` names all."
        )
    for path in paths:
        print(f"# {path.absolute()}\n{path.read_text(encoding='utf-8')}")


@app.command("from", no_args_is_help=True)
@reports_errors
def from_file(
    file: Annotated[Path, typer.Argument(help="A my.cnf or postgresql.conf; files that it includes are read too.")],
    dbms: Annotated[
        str | None, typer.Option(help="postgres, mysql, mariadb or myrocks.", show_default="by what the files hold")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write it here, e.g. configs/mysql/mine.conf.", show_default="standard output")
    ] = None,
    builds: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="Builds, e.g. mysql:5.7,mysql:8.0, that are asked which lines they take; sections say which line is for which.",
            show_default="as in the file",
        ),
    ] = None,
) -> None:
    """Make a config file from a my.cnf or postgresql.conf; comments in it say what was left out, and why.

    - `dbversus configs from /etc/mysql/my.cnf --out configs/mysql/mine.conf`
    - `dbversus compare mysql:8.0 mysql:8.0@mine`

    One file for several versions:

    - `dbversus configs from my.cnf --for mysql:5.7,mysql:8.0 --out configs/mysql/mine.conf`
    - `dbversus configs from /etc/postgresql/15/main/postgresql.conf --for postgres:15,postgres:17`
    """
    from dbversus.errors import UsageError
    from dbversus.files import write_new
    from dbversus.servers.config.foreign import convert

    if out is not None and os.path.lexists(out):
        raise UsageError(f"{out} exists; remove it, or name another file with --out.")
    made = _for_builds(file, dbms, split_names(builds)) if builds else convert(file, dbms)
    if out is None:
        print(made.text, end="")
    else:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_new(out, made.text)
    for note in made.notes:
        print(f"note: {note}", file=sys.stderr)
    read = f" from {len(made.files)} files" if len(made.files) > 1 else ""
    print(f"{made.dbms}: settings taken {made.kept}, left out {made.left_out}{read}", file=sys.stderr)


def _for_builds(file: Path, dbms: str | None, targets: Sequence[str]) -> "Converted":
    """Raises UsageError for builds of several DBMSs: each has its own configs."""
    from dbversus.builds.store import obtained
    from dbversus.builds.target import parse_target
    from dbversus.errors import UsageError
    from dbversus.servers.config.for_builds import limit
    from dbversus.servers.config.foreign import CONVERTIBLE, convert
    from dbversus.servers.create import refused_of

    specs = [parse_target(text) for text in targets]
    named = list(dict.fromkeys([*([dbms] if dbms else []), *(spec.dbms for spec in specs)]))
    if len(named) > 1 or named[0] not in CONVERTIBLE or any(spec.configs for spec in specs):
        raise UsageError(
            f"--for takes builds of one DBMS ({', '.join(CONVERTIBLE)}), without configs, such as mysql:5.7,mysql:8.0; "
            f"this is {', '.join(targets)}{f' with --dbms {dbms}' if dbms else ''}."
        )
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(obtained(spec)) for spec in specs]
        return convert(file, named[0], lambda name, settings: limit(name, settings, found, refused_of))


def _place(chosen: Choices) -> Path | None:
    return Path(chosen["config_dir"]) if "config_dir" in chosen else None


def _dbms(only: str | None) -> list[str]:
    from dbversus.dbms.known import databases, find_dbms

    return [find_dbms(only).name] if only else [each.name for each in databases()]
