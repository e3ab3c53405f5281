"""dbversus resume: go on with an interrupted experiment."""

from pathlib import Path
from typing import Annotated

import typer

from dbversus.cli import campaigns, options
from dbversus.cli.choices import Choices, with_demands, with_flags
from dbversus.cli.ending import resumable
from dbversus.cli.outcome import heeding, present
from dbversus.results.schema import CAMPAIGN, EXPERIMENT


@with_flags("resume")
def resume(
    directory: Annotated[
        Path, typer.Argument(help="Results directory of the interrupted experiment, or folder of the campaign.")
    ],
    *,
    chosen: Choices,
    as_stored: options.AsStored = False,
    json: options.Json = False,
    trust: options.Trust = False,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
) -> int:
    """Go on with an experiment or a campaign that was interrupted, killed, or ran out of its time budget.

    Finished rows are kept; at most the row under way when it stopped is measured again. Targets that were lost (a full disk,
    for instance) are tried again. Builds, suite, configs and host have to be those of before.

    - `dbversus resume results/20260101-120000-postgres-13.1-vs-postgres-17`
    - `dbversus resume results/nightly-7 --time-budget 1h --as-stored`
    """
    from dbversus.cli.consent import with_consent
    from dbversus.cli.display import make_display
    from dbversus.experiment.folder import read_folder
    from dbversus.experiment.header import check_host
    from dbversus.experiment.run import resume_experiment
    from dbversus.results.read import open_results

    asked = with_demands(chosen)  # a mistake in a flag is told first
    if (directory / CAMPAIGN).is_file():
        return _resume_campaign(directory, asked, as_stored=as_stored, json=json, trust=trust, wait=wait, quiet=quiet)
    open_results(directory)
    check_host(directory)
    spec, _ = with_consent(
        lambda: read_folder(directory).with_choices(asked), directory / EXPERIMENT, trust=trust, dry_run=False
    )
    with heeding(directory, spec.demands), resumable(directory), make_display(quiet) as display:
        resume_experiment(spec, directory, display, wait=wait, as_stored=as_stored)
    return present(directory, spec.demands, as_json=json)


def _resume_campaign(
    directory: Path, asked: Choices, *, as_stored: bool, json: bool, trust: bool, wait: bool, quiet: bool
) -> int:
    others = {name: value for name, value in asked.items() if name != "time_budget_s"}
    campaigns.refuse(directory, **others)
    course = campaigns.go_on(
        directory,
        time_budget_s=asked.get("time_budget_s"),
        as_stored=as_stored,
        trust=trust,
        wait=wait,
        quiet=quiet,
    )
    return campaigns.conclude(course, as_json=json, quiet=quiet)
