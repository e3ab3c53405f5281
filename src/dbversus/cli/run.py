"""dbversus run: an experiment described in a file."""

from pathlib import Path
from typing import Annotated

import typer

from dbversus.cli import options
from dbversus.cli.compare import default_directory
from dbversus.cli.display import make_display
from dbversus.cli.ending import resumable
from dbversus.cli.outcome import check_fail_on, present
from dbversus.cli.plan import print_plan
from dbversus.experiment.run import run_experiment
from dbversus.experiment.spec import read_spec
from dbversus.suites.profiles import profile_choices


def run(
    file: Annotated[Path, typer.Argument(help="experiment.toml (docs/experiments.md).")],
    out: options.Out = None,
    fail_on: options.FailOn = None,
    json: options.Json = False,
    dry_run: options.DryRun = False,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
) -> int:
    """Run the experiment that a file describes.

    Every results directory holds such a file, so `dbversus run results/…/experiment.toml` repeats an experiment.

    - `dbversus run nightly.toml --dry-run`
    - `dbversus run nightly.toml --out results/nightly-7 --fail-on regression`
    """
    check_fail_on(fail_on)
    spec = read_spec(file, profile_choices)
    if dry_run:
        print_plan(spec)
        return 0
    directory = out or default_directory(spec)
    with resumable(directory), make_display(quiet) as display:
        run_experiment(spec, directory, f"dbversus run {file}", display, wait=wait)
    return present(directory, fail_on=fail_on, as_json=json)
