"""The command line: one file per verb, joined here."""

from typing import Annotated

import typer

import dbversus
from dbversus.cli.ending import told
from dbversus.cli.interrupts import heed_interrupts
from dbversus.cli.verbs import (
    builds,
    calibrate,
    clean,
    compare,
    configs,
    demo,
    doctor,
    generations,
    import_results,
    report,
    resume,
    run,
    show,
    side_by_side,
    suites,
)

app = typer.Typer(
    name="dbversus",
    help="Did my database get slower, where, by how much, and why?\n\n"
    "Compares DBMS builds and configurations on this machine in interleaved slots and gives verdicts with intervals.\n\n"
    "Start with:  dbversus demo\n\n"
    "Then:  dbversus compare postgres:13.1 postgres:17",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"dbversus {dbversus.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None: ...


_VERBS = (
    compare.compare,
    run.run,
    resume.resume,
    report.report,
    show.show,
    generations.generations,
    side_by_side.side_by_side,
    import_results.import_results,
    calibrate.calibrate,
    doctor.doctor,
    clean.clean,
    demo.demo,
)
# what is no name in Python: a word of its own, and hyphens
_NAMES = {import_results.import_results: "import", side_by_side.side_by_side: "side-by-side"}
for verb in _VERBS:
    app.command(_NAMES.get(verb), no_args_is_help=verb not in (doctor.doctor, clean.clean, demo.demo))(told(verb))
app.add_typer(builds.app, name="builds")
app.add_typer(suites.app, name="suites")
app.add_typer(configs.app, name="configs")


def main() -> None:
    """Runs the command line."""
    heed_interrupts()
    app()
