"""The command line: one file per verb, joined here."""

from collections.abc import Callable
from typing import Annotated

import typer

import dbversus
from dbversus.cli.ending import reports_errors
from dbversus.cli.interrupts import heed_interrupts
from dbversus.cli.verbs.host import builds, clean, configs, doctor, suites
from dbversus.cli.verbs.measure import calibrate, compare, demo, resume, run, upgrade
from dbversus.cli.verbs.results import explain, export, generations, import_results, report, show, side_by_side

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


_MEANS = "What there is to measure with"
_VERBS: dict[str, tuple[Callable[..., int | None], ...]] = {
    "Measure": (demo.demo, compare.compare, upgrade.upgrade, run.run, resume.resume, calibrate.calibrate),
    "Read results": (
        report.report,
        explain.explain,
        show.show,
        generations.generations,
        side_by_side.side_by_side,
        import_results.import_results,
        export.export,
    ),
    _MEANS: (doctor.doctor, clean.clean),
}
# what is no name in Python: a word of its own, and hyphens
_NAMES = {import_results.import_results: "import", side_by_side.side_by_side: "side-by-side"}
_DO_WITHOUT_WORDS = {demo.demo, doctor.doctor, clean.clean}
_GROUPS = {"builds": builds.app, "suites": suites.app, "configs": configs.app}

for panel, verbs in _VERBS.items():
    for verb in verbs:
        app.command(_NAMES.get(verb), no_args_is_help=verb not in _DO_WITHOUT_WORDS, rich_help_panel=panel)(
            reports_errors(verb)
        )
for name, group in _GROUPS.items():
    app.add_typer(group, name=name, rich_help_panel=_MEANS)


def main() -> None:
    """Runs the command line."""
    heed_interrupts()
    app()
