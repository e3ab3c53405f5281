"""What stored results cannot tell of their changes is measured on the same targets: explain --measure (campaign/finding)."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dbversus.cli import campaigns
from dbversus.cli.choices import Choices
from dbversus.cli.options import Run
from dbversus.errors import UsageError
from dbversus.names import did_you_mean, split_names
from dbversus.results.schema import CAMPAIGN, EXPERIMENT, JOURNAL, MEASURED

if TYPE_CHECKING:
    from dbversus.campaign.finding.agenda import Finding
    from dbversus.campaign.finding.asked import Change
    from dbversus.campaign.journal import Course
    from dbversus.explain.cause import Explanation
    from dbversus.report.model import Assessment
    from dbversus.results.stored import Results

_TRIED = 3
"""Place, among the words of `dbversus compare A B`, of the target that a lead would have tried."""
MOST_TRIED = 2
"""Settings of a change."""
_HELD = ("tests", "time_budget_s")
"""Choices that --measure takes; all others are those of the experiment."""


def measure_causes(
    directory: Path,
    only: str | None,
    chosen: Choices,
    *,
    json: bool,
    run: Run,
) -> int:
    """Measures what tells why tests of `directory` changed, beside its results; shows all that is known then."""
    from dbversus.campaign.finding.agenda import Finding
    from dbversus.campaign.finding.asked import changes_of
    from dbversus.cli.consent import with_consent
    from dbversus.experiment.folder import read_folder
    from dbversus.results.read import open_results

    if others := [name for name in chosen if name not in _HELD]:
        flag = others[0].removesuffix("_s").replace("_", "-")
        raise UsageError(f"--{flag} is the experiment's own; --measure takes --only, --tests and --time-budget.")
    results = open_results(directory)
    _check_at_rest(results)
    changes = _with_trials(results, changes_of(results, chosen.get("tests")))
    agenda = Finding(_steps(only, changes), changes)
    _check_tools(agenda)
    folder = _folder_of(directory, agenda)
    _, may_execute = with_consent(
        lambda: read_folder(directory), directory / EXPERIMENT, trust=run.trust, dry_run=run.dry_run
    )
    if run.dry_run:
        campaigns.print_first(agenda.within(folder), as_json=json, may_execute=may_execute)
        return 0
    budget_s = chosen.get("time_budget_s")
    if (folder / CAMPAIGN).is_file():
        course = campaigns.go_on(
            folder, time_budget_s=budget_s, as_stored=True, trust=run.trust, wait=run.wait, quiet=run.quiet
        )
    else:
        words = ["dbversus", "explain", str(directory), "--measure", "--only", ",".join(agenda.steps)]
        words += ["--tests", tests] if (tests := chosen.get("tests")) else []
        course = campaigns.measure(
            agenda, folder, shlex.join(words), time_budget_s=budget_s, wait=run.wait, quiet=run.quiet
        )
    return conclude(course, agenda, as_json=json)


def _check_at_rest(results: "Results") -> None:
    """Raises UsageError, or RunError, where the experiment is under way, was interrupted, or was measured elsewhere."""
    from dbversus.experiment.header import check_host
    from dbversus.files import LineFile

    check_host(results.directory)
    LineFile(results.directory / JOURNAL).close()
    if results.finished is None:
        raise UsageError(
            f"{results.directory} was interrupted, so what changed is not known; first: dbversus resume {results.directory}"
        )


def _with_trials(results: "Results", changes: "tuple[Change, ...]") -> "tuple[Change, ...]":
    """With targets to try: of one build with each setting put back in which their configs differ; else with settings of the
    base, as the commands of the first leads name them."""
    import msgspec

    from dbversus.campaign.finding.asked import put_back
    from dbversus.experiment.folder import read_folder
    from dbversus.report.assessment import build_assessment

    assessment, spec = build_assessment(results), read_folder(results.directory)
    found = []
    for change in changes:
        explanation = assessment.explanation(change.test, results.targets[change.target].label)
        trials = put_back(spec, change.target) if explanation and explanation.same_build else ()
        if explanation and not trials:
            trials = _of_leads(explanation)
        found.append(msgspec.structs.replace(change, trials=trials))
    return tuple(found)


def _of_leads(explanation: "Explanation") -> tuple[str, ...]:
    from dbversus.explain.cause import Kind

    settings = [one for one in explanation.causes if one.kind is Kind.SETTING and one.command and not one.is_weak]
    trials = dict.fromkeys(shlex.split(one.command)[_TRIED] for one in settings)
    return tuple(sorted(list(trials)[:MOST_TRIED]))


def _steps(only: str | None, changes: "tuple[Change, ...]") -> tuple[str, ...]:
    from dbversus.campaign.finding.steps import STEPS

    wanted = split_names(only) if only else list(STEPS)
    for name in wanted:
        if name not in STEPS:
            raise UsageError(f"--only {name} is no step.{did_you_mean(name, STEPS)} Accepted: {', '.join(STEPS)}.")
    steps = tuple(name for name in STEPS if name in wanted and STEPS[name].applies(changes))
    if not steps:
        raise UsageError(f"There is nothing to measure: {'; '.join(STEPS[name].lacks for name in wanted)}.")
    return steps


def _check_tools(agenda: "Finding") -> None:
    from dbversus.campaign.finding.steps import PROFILE
    from dbversus.profiling.perf import find_perf

    if PROFILE in agenda.steps:
        find_perf()


def _folder_of(directory: Path, agenda: "Finding") -> Path:
    """That of the campaign that asks the same, finished or not; else a new one."""
    from dbversus.campaign.journal import read_campaign

    number = 1
    while (folder := directory / MEASURED / str(number)).exists():
        if (folder / CAMPAIGN).is_file() and read_campaign(folder).asked.agenda == agenda:
            return folder
        number += 1
    return folder


def conclude(course: "Course", agenda: "Finding", *, as_json: bool) -> int:
    """Shows why tests changed, and writes the reports of the experiment anew: what was measured is in them from now on."""
    from dbversus.cli.verbs.results.explain import show_causes
    from dbversus.report.assessment import build_assessment
    from dbversus.report.formats.registry import USUAL, find_formats
    from dbversus.results.read import open_results

    directory = course.directory.parent.parent
    assessment = build_assessment(open_results(directory))
    for each in find_formats(USUAL):
        each.write(assessment, directory)
    if not as_json:
        for sentence in _measured(assessment):
            print(sentence)
    show_causes(assessment, list(dict.fromkeys(change.test for change in agenda.changes)), as_json=as_json)
    if not course.is_over:
        print(f"\nnot finished; go on with: dbversus resume {course.directory}", file=sys.stderr)
    print(f"\nexperiments: dbversus show {course.directory}", file=sys.stderr)
    print(f"report: {directory / 'report.html'}", file=sys.stderr)
    return 0


def _measured(assessment: "Assessment") -> list[str]:
    """What profiles say of each test, also where nothing changed."""
    return [sentence for one in assessment.sections if one.name == "functions" for sentence in one.sentences]
