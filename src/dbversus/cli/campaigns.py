"""What verbs do with campaigns: measure one, go on with it, say what it comes to, and list its experiments."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbversus.cli.ending import resumable
from dbversus.errors import UsageError
from dbversus.units import show_duration

if TYPE_CHECKING:
    from dbversus.campaign.journal import AnyAgenda, Course

COLUMNS = ["experiment", "state", "why"]


def measure(
    agenda: "AnyAgenda", directory: Path, command: str, *, time_budget_s: float | None, wait: bool, quiet: bool
) -> "Course":
    from dbversus.campaign.run import run_campaign
    from dbversus.cli.display import make_display

    with resumable(directory), make_display(quiet) as display:
        return run_campaign(agenda, directory, command, display, wait=wait, time_budget_s=time_budget_s)


def go_on(
    directory: Path, *, time_budget_s: float | None, as_stored: bool, trust: bool, wait: bool, quiet: bool
) -> "Course":
    """Goes on with what `directory` holds, if the user may execute what it brings."""
    from dbversus.campaign.run import resume_campaign
    from dbversus.cli.display import make_display

    _ask_consent(directory, trust=trust)
    with resumable(directory), make_display(quiet) as display:
        return resume_campaign(directory, display, wait=wait, as_stored=as_stored, time_budget_s=time_budget_s)


def _ask_consent(directory: Path, *, trust: bool) -> None:
    """Of all that was decided and is not finished; what is decided later has the same builds, suite and configs."""
    from dbversus.campaign.journal import read_campaign
    from dbversus.campaign.run import check_campaign_host, is_begun, spec_of
    from dbversus.cli.consent import with_consent
    from dbversus.results.schema import CAMPAIGN, EXPERIMENT

    course = read_campaign(directory)
    check_campaign_host(course)
    for order in () if course.is_over else course.open:
        folder = directory / order.name
        path = folder / EXPERIMENT if is_begun(folder) else directory / CAMPAIGN
        with_consent(lambda order=order: spec_of(course, order), path, trust=trust, dry_run=False)  # type: ignore[misc]


def print_first(agenda: "AnyAgenda", *, as_json: bool = False, may_execute: bool = True) -> None:
    """What comes first, and what may follow: `--dry-run`. Raises where a run would."""
    from dbversus.campaign.agenda import HERE, End
    from dbversus.cli.plan import print_plan

    step = agenda.next({})
    if isinstance(step, End):
        print(step.reason)
        return
    for number, planned in enumerate(step.experiments):
        if planned.name != HERE:
            print(f"{chr(10) if number else ''}{planned.name}: {planned.why}")
        print_plan(planned.spec, as_json=as_json, may_execute=may_execute)
    if step.then:
        about = f", about {show_duration(step.then_s)}" if step.then_s else ""
        print(f"\nthen: {step.then}{about}")


def conclude(course: "Course", *, as_json: bool, quiet: bool) -> int:
    """Shows what a campaign comes to, by its kind; returns the exit status."""
    from dbversus.campaign.finding.agenda import Finding
    from dbversus.campaign.screening.agenda import Screening
    from dbversus.campaign.upgrading.agenda import Upgrade
    from dbversus.cli import finding, screen, upgrading
    from dbversus.cli.verbs.measure import calibrate

    agenda = course.asked.agenda
    if isinstance(agenda, Screening):
        return screen.conclude(course, agenda, as_json=as_json)
    if isinstance(agenda, Finding):
        return finding.conclude(course, agenda, as_json=as_json)
    if isinstance(agenda, Upgrade):
        return upgrading.conclude(course, agenda, as_json=as_json)
    seed = agenda.choices.get("seed")
    return calibrate.conclude(course.directory, agenda.suites, seed, as_json=as_json, quiet=quiet)


def report(directory: Path, *, as_json: bool) -> int:
    """What the campaign is, its experiments, and what it has found so far."""
    from dbversus.cli.tables import write_table

    course = show_campaign(directory, (lambda *_: None) if as_json else write_table)
    if course.outcomes:
        if not as_json:
            print()
        return conclude(course, as_json=as_json, quiet=True)
    return 0


def show_campaign(directory: Path, write: Callable[[list[str], list[tuple[Any, ...]]], None]) -> "Course":
    """Says on standard error what the campaign is, and writes its experiments as a table."""
    from dbversus.campaign.journal import read_campaign

    course = read_campaign(directory)
    for note in course.notes:
        print(f"dbversus: {note}", file=sys.stderr)
    print(f"{directory}: {course.asked.agenda.title}, {_state(course)}", file=sys.stderr)
    write(COLUMNS, [(name, _state_of(course, name), order.why) for name, order in course.orders.items()])
    return course


def is_only_campaign(directory: Path) -> bool:
    """Whether there is a campaign whose experiments are in folders of their own."""
    from dbversus.results.schema import CAMPAIGN, JOURNAL

    return (directory / CAMPAIGN).is_file() and not (directory / JOURNAL).is_file()


def refuse(directory: Path, **flags: object) -> None:
    """UsageError for flags that are about one experiment."""
    if given := [name for name, value in flags.items() if value]:
        raise UsageError(
            f"{directory} is a campaign, and --{given[0].replace('_', '-')} is about one experiment; name the folder of one, "
            f"such as {directory / 'NAME'}: `dbversus show {directory}` lists them."
        )


def _state(course: "Course") -> str:
    if course.is_over:
        return f"ended: {course.ended}"
    why = "its time budget is used up" if course.ended else "not finished"
    return f"{why}; go on with: dbversus resume {course.directory}"


def _state_of(course: "Course", name: str) -> str:
    from dbversus.campaign.run import is_begun

    if name in course.outcomes:
        return f"finished: {course.outcomes[name].ended}"
    return "begun" if is_begun(course.directory / name) else "to come"
