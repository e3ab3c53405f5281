"""dbversus calibrate: how often verdicts are wrong on this host, and how small a change is found."""

import re
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.campaign.calibrating.kinds import Kind
from dbversus.cli import campaigns, options
from dbversus.cli.choices import Choices, as_words, with_flags
from dbversus.cli.verbs.measure.compare import default_directory
from dbversus.errors import UsageError

if TYPE_CHECKING:
    from dbversus.calibration.model import Calibration
    from dbversus.experiment.asked.spec import ExperimentSpec


@with_flags("calibrate")
def calibrate(
    target: Annotated[
        str | None, typer.Argument(help="The build to be compared with itself: `dbms:version` or a path.")
    ] = None,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="A dozen tests on small tables in 8 blocks: under ten minutes.")
    ] = False,
    blocks: Annotated[int | None, typer.Option(help="Blocks to measure.", show_default="16; 8 with --quick")] = None,
    chosen: Choices,
    out: options.Out = None,
    from_dir: Annotated[
        Path | None, typer.Option("--from", help="Evaluate the results of an earlier calibration; nothing is run.")
    ] = None,
    inject: Annotated[
        Kind, typer.Option(help="What the third copy does more of; `none`: only two equal copies.")
    ] = Kind.CPU,
    suites: Annotated[int, typer.Option(min=20, help="Virtual suites of equal targets, and with a change.")] = 1000,
    json: Annotated[bool, typer.Option("--json", help="Print the calibration as JSON on standard output.")] = False,
    dry_run: options.DryRun = False,
    trust: options.Trust = False,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
) -> int:
    """Measure how often verdicts are wrong on this host, and how small a change is found.

    Runs one build against a copy of itself and one slowed down by known shares of CPU or IO (1 to 8 %; of CPU in bursts, too),
    then makes many virtual experiments of the blocks and judges them. Kept for this host: every report cites it, `doctor` shows
    it, and tests that vary more than usual here get wider margins. SQLite is no server, so nothing can be injected: two equal
    copies only.

    - `dbversus calibrate postgres:17 --quick`
    - `dbversus calibrate mysql:8.0 --dry-run`
    - `dbversus calibrate postgres:17 --tests 'point-*,update-*' --blocks 24`
    - `dbversus calibrate postgres:17 --judge cpu,throughput,io,p99`
    - `dbversus calibrate --from results/20260101-120000-calibrate-postgres-17`
    """
    from dbversus.cli.consent import with_consent
    from dbversus.cli.plan import print_plan

    if from_dir:
        if target:
            raise UsageError(f"--from evaluates {from_dir} as it is; leave out the target {target}.")
        return conclude(from_dir, suites, chosen.get("seed"), as_json=json, quiet=quiet, judge=chosen.get("judge"))
    if not target:
        raise UsageError("A target is missing, such as postgres:17; or name earlier results with --from.")
    from dbversus.builds.target import split_name
    from dbversus.campaign.calibrating.agenda import Calibration
    from dbversus.campaign.calibrating.plan import calibration_spec, can_inject

    _, target = split_name(target)  # copies of one build cannot have one name
    read = partial(calibration_spec, target, quick, blocks, inject, chosen)
    spec, may_execute = with_consent(read, None, trust=trust, dry_run=dry_run)
    if inject is not Kind.NONE and not can_inject(target):
        print(f"{target} is no server, so no slowdown can be injected: two equal copies only", file=sys.stderr)
    if dry_run:
        print_plan(spec, may_execute=may_execute)
        return 0
    name = re.sub(r"[^\w.]+", "-", target.rpartition("/")[2])
    directory = out or default_directory(spec, f"calibrate-{name}")
    command = _command(target, quick, inject, spec, chosen)
    agenda = Calibration(target, quick, blocks, inject, chosen, suites)
    return campaigns.conclude(
        campaigns.measure(
            agenda, directory, command, time_budget_s=chosen.get("time_budget_s"), wait=wait, quiet=quiet
        ),
        as_json=json,
        quiet=quiet,
    )


def _command(target: str, quick: bool, inject: Kind, spec: "ExperimentSpec", chosen: Choices) -> str:
    """What repeats the calibration."""
    words = ["dbversus", "calibrate", target, *(["--quick"] if quick else []), "--blocks", str(spec.looks[-1])]
    words += [] if inject is Kind.CPU else ["--inject", inject.value]
    return shlex.join([*words, *as_words(chosen)])


def conclude(
    directory: Path, suites: int, seed: int | None, *, as_json: bool, quiet: bool, judge: list[str] | None = None
) -> int:
    """Evaluates the results, keeps the calibration, writes it beside them, and shows it.

    `judge`: by other metrics than were asked for when it was run; all tests have all blocks, so nothing is missing.
    """
    import msgspec

    from dbversus.calibration import store
    from dbversus.campaign.calibrating.record import make_record
    from dbversus.cli.display import make_display
    from dbversus.results.read import open_results

    results = open_results(directory)
    if judge:
        results = replace(results, header=msgspec.structs.replace(results.header, judge=judge))
    with make_display(quiet) as display:
        calibration = make_record(results, suites, seed or 1, display.doing)
    _write(calibration, directory)
    kept = store.save(calibration)
    if as_json:
        print(calibration.model_dump_json(indent=1))
    else:
        from dbversus.report.calibration import text as calibration_text
        from dbversus.report.terminal import make_console

        calibration_text.render(calibration, make_console())
    said = sys.stderr if as_json else sys.stdout
    print(f"kept: {kept}\nresults: {directory} (calibration.md, calibration.json)", file=said)
    return 0


def _write(calibration: "Calibration", directory: Path) -> None:
    from dbversus.files import write_whole
    from dbversus.report.calibration import markdown as calibration_markdown

    write_whole(directory / "calibration.json", calibration.model_dump_json(indent=1) + "\n")
    calibration_markdown.write(calibration, directory / "calibration.md")
