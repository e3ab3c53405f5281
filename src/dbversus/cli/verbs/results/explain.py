"""dbversus explain: why tests changed, from what results hold, or from what the settings of two configs make."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.cli import options
from dbversus.cli.choices import Choices, with_flags
from dbversus.cli.finding import measure_causes
from dbversus.cli.replan import replan
from dbversus.cli.screen import screen
from dbversus.cli.tables import print_json
from dbversus.errors import UsageError
from dbversus.names import split_names
from dbversus.results.schema import IMPORTED_SUITE

if TYPE_CHECKING:
    from dbversus.report.model import Assessment


Settings = Annotated[
    tuple[str, str],
    typer.Option(
        help="Measure which settings make a change between two configs: files, or what stands after the `@` of a target.",
        metavar="<config> <config>",
        show_default=False,
    ),
]
Plans = Annotated[
    tuple[str, str],
    typer.Option(
        help="Compare the plans of a suite's statements on two targets, without measuring, and find the setting that brings an "
        "old plan back.",
        metavar="<target> <target>",
        show_default=False,
    ),
]
Measure = Annotated[bool, typer.Option("--measure", help="Measure what the results cannot tell, on the same targets.")]
Only = Annotated[
    str | None,
    typer.Option(
        help="Steps of --measure, commas between: plans, trial, settings, waits, profile.",
        show_default="all that can tell",
    ),
]
FailOn = Annotated[
    str | None,
    typer.Option(
        help="With --plans, exit with 99 when there is one: shape, index, estimates, refused (commas between).",
        show_default=False,
    ),
]


@with_flags("explain")
def explain(
    directory: Annotated[Path | None, typer.Argument(help="Results directory.", show_default=False)] = None,
    *,
    settings: Settings = ("", ""),
    build: Annotated[str | None, typer.Option(help="The build on which to measure --settings.")] = None,
    measure: Measure = False,
    only: Only = None,
    plans: Plans = ("", ""),
    fail_on: FailOn = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="With --plans, show the plans that differ.")] = False,
    base: options.Base = None,
    json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON on standard output.")] = False,
    chosen: Choices,
    out: options.Out = None,
    dry_run: options.DryRun = False,
    trust: options.Trust = False,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
) -> int:
    """Say why tests changed: causes that were tested and leads, most likely first.

    Of a results directory nothing is measured: settings, plans, the servers' own counters and the host's figures are in it.
    With a lead stands the command that tests it, where there is one.

    With --measure, servers are started once more in the tests that changed: settings that bring an old plan back, or that leads
    point to, are tried, many that differ are screened, and perf tells what operations wait for and which functions the CPU time
    goes to (docs/explain.md). It is in every report of the results from then on.

    With --plans, statements of a suite are explained on two targets that hold its data. Where a plan differs, each setting that
    the planner goes by is tried on the newer one: which brings the old plan back? Nothing is measured (docs/explain.md).

    With --settings, two configs of one build are measured, and what differs between them is taken apart: a campaign that can be
    interrupted and resumed (docs/campaigns.md). --tests and --json hold for results, too; --base is for results alone.

    - `dbversus explain results/20260101-120000-postgres-14-vs-postgres-17`
    - `dbversus explain results/… --tests 'point-*,scan'`
    - `dbversus explain results/… --base postgres:16`
    - `dbversus explain results/… --measure --time-budget 10m`
    - `dbversus explain results/… --json | jq '.[].causes[0].what'`
    - `dbversus explain --plans postgres:13 postgres:17 --suite mine.toml --table-size 1m`
    - `dbversus explain --settings old.conf new.conf --build postgres:17 --tests 'update-*' --dry-run`
    - `dbversus explain --settings work_mem=4MB work_mem=64MB,jit=off --build postgres:17`
    """
    run = options.Run(dry_run, trust, wait, quiet)
    if any(plans):
        _check_plans({"build": build, "base": base, "out": out, "measure": measure, "only": only}, directory, settings)
        return replan(plans, chosen, fail_on=fail_on, verbose=verbose, json=json, run=run)
    _check_of_one({"--fail-on": fail_on, "--verbose": verbose}, "--plans")
    if measure:
        _check_of_measure(directory, settings, {"build": build, "base": base, "out": out})
        return measure_causes(_of_results(directory, {}), only, chosen, json=json, run=run)
    _check_of_one({"--only": only}, "--measure")
    if any(settings):
        _check_measured(directory, build, base)
        return screen(build or "", settings, chosen, out=out, json=json, run=run)
    asked = chosen | {"build": build, "out": out} | asdict(run)
    _explain(_of_results(directory, asked), base, chosen.get("tests"), as_json=json)
    return 0


def _check_of_one(given: Mapping[str, object], mode: str) -> None:
    if words := [flag if value is True else f"{flag} {value}" for flag, value in given.items() if value]:
        raise UsageError(f"{words[0]} is for {mode}.")


def _check_of_measure(directory: Path | None, settings: tuple[str, str], others: Mapping[str, object]) -> None:
    if any(settings):
        raise UsageError("--settings compares two configs, and --measure explains results; give one of the two.")
    if not directory:
        raise UsageError("--measure explains results; name their directory.")
    if given := [name for name, value in others.items() if value]:
        raise UsageError(f"--{given[0]} is not for --measure, which measures what {directory} compares.")


def _check_plans(others: Mapping[str, object], directory: Path | None, settings: tuple[str, str]) -> None:
    if directory:
        raise UsageError(f"--plans asks servers anew, and needs no results; leave out {directory}.")
    if any(settings):
        raise UsageError("--plans compares two targets, and --settings two configs of one build; give one of the two.")
    if given := [name for name, value in others.items() if value]:
        raise UsageError(f"--{given[0]} is not for --plans; a target names its build, and nothing is stored.")


def _check_measured(directory: Path | None, build: str | None, base: str | None) -> None:
    if directory:
        raise UsageError(f"--settings measures anew, and needs no results; leave out {directory}.")
    if not build:
        raise UsageError("--settings needs the build to measure on: add --build, such as --build postgres:17.")
    if base:
        raise UsageError(f"--base {base} is for stored results; the first of the two configs is the base.")


def _of_results(directory: Path | None, asked: Choices) -> Path:
    if not directory:
        raise UsageError("Name a results directory, or measure two configs: --settings A B --build postgres:17.")
    if given := [name for name, value in asked.items() if value and name != "tests"]:
        flag = given[0].removesuffix("_s").replace("_", "-")
        raise UsageError(f"--{flag} is for --settings; of {directory} nothing is measured.")
    return directory


def _explain(directory: Path, base: str | None, tests: str | None, *, as_json: bool) -> None:
    # statistics take seconds to import: not for --help
    from dbversus.report.assessment import build_assessment
    from dbversus.results.read import open_results

    assessment = build_assessment(open_results(directory, base))
    show_causes(assessment, _chosen(assessment, tests), as_json=as_json)


def show_causes(assessment: "Assessment", chosen: Sequence[str], *, as_json: bool) -> None:
    """Why these tests changed."""
    from dbversus.report.sections import causes
    from dbversus.report.terminal import make_console, say

    found = [one for one in assessment.explanations if one.test in chosen]
    if as_json:
        print_json(causes.as_json(found))
        return
    console = make_console()
    causes.render(found, console)
    if not found:
        say(console, _nothing(assessment, chosen), "dim")
    elif any(one.causes for one in found):
        say(console, causes.NOTE, "dim")


def _chosen(assessment: "Assessment", globs: str | None) -> Sequence[str]:
    """Tests that a glob matches; all where there is none."""
    names = [test.name for test in assessment.tests]
    if globs is None:
        return names
    wanted = split_names(globs)
    for glob in wanted:
        if not any(fnmatchcase(name, glob) for name in names):
            raise UsageError(f"--tests {glob} matches none of the tests that were measured: {', '.join(names)}.")
    return [name for name in names if any(fnmatchcase(name, glob) for glob in wanted)]


def _nothing(assessment: "Assessment", chosen: Sequence[str]) -> str:
    """Why there is nothing to explain."""
    if not assessment.candidates:
        return "There is one target, so there is no change to explain."
    if assessment.header.suite == IMPORTED_SUITE:
        return "Runs of an import have no blocks to show a change with, and no settings, plans or counters to explain it by."
    which = "The one test has no" if len(chosen) == 1 else f"None of {len(chosen)} tests has a"
    return f"{which} regression or improvement: there is nothing to explain."
