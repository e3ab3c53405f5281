"""What stored results cannot tell of their changes is measured on the same targets: explain --measure (campaign/finding)."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dbversus.cli import campaigns
from dbversus.cli.choices import Choices
from dbversus.cli.options import Run
from dbversus.errors import UsageError
from dbversus.names import did_you_mean, split_names
from dbversus.results.schema import CAMPAIGN, EXPERIMENT, JOURNAL, MEASURED

if TYPE_CHECKING:
    from dbversus.campaign.agenda import Found
    from dbversus.campaign.finding.agenda import Finding
    from dbversus.campaign.finding.asked import Change
    from dbversus.campaign.journal import Course
    from dbversus.experiment.asked.spec import ExperimentSpec
    from dbversus.explain.cause import Explanation
    from dbversus.report.model import Assessment
    from dbversus.results.stored import Results

_TRIED = 3
"""Place, among the words of `dbversus compare A B`, of the target that a lead would have tried."""
MOST_TRIED = 2
"""Settings of a change."""
MOSTLY_CPU = 0.5
"""Of a change in the time of an operation."""
US_PER_S = 1e6
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
    from dbversus.campaign.finding.steps import PLANS
    from dbversus.cli.consent import with_consent
    from dbversus.experiment.folder import read_folder
    from dbversus.results.read import open_results

    if others := [name for name in chosen if name not in _HELD]:
        flag = others[0].removesuffix("_s").replace("_", "-")
        raise UsageError(f"--{flag} is the experiment's own; --measure takes --only, --tests and --time-budget.")
    wanted = _wanted(only)
    results = open_results(directory)
    _check_at_rest(results)
    changes = changes_of(results, chosen.get("tests"))
    spec, may_execute = with_consent(
        lambda: read_folder(directory), directory / EXPERIMENT, trust=run.trust, dry_run=run.dry_run
    )
    changes = _with_evidence(results, changes, spec)
    wanted = _with_tools(wanted, changes, is_asked=only is not None)
    if PLANS in wanted:
        changes = _with_plans(directory, spec, changes, run)
        if run.dry_run and wanted == [PLANS]:
            return 0
    agenda = Finding(_steps(wanted, changes), changes)
    folder = _folder_of(directory, agenda)
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


def _with_evidence(results: "Results", changes: "tuple[Change, ...]", spec: "ExperimentSpec") -> "tuple[Change, ...]":
    """With what the results tell of each, and targets to try: of one build with each setting put back in which their configs
    differ; else with settings of the base, as the commands of the first leads name them. Where these are too many, with what a
    screen takes apart."""
    import msgspec

    from dbversus.campaign.finding.asked import put_back
    from dbversus.explain.cause import Kind
    from dbversus.report.assessment import build_assessment

    assessment = build_assessment(results)
    found = []
    for change in changes:
        explanation = assessment.explanation(change.test, results.targets[change.target].label)
        trials = put_back(spec, change.target) if explanation and explanation.same_build else ()
        if explanation and not trials:
            trials = _of_leads(explanation)
        # of one build, what makes another plan is among the settings that are put back; a planner switch is a way around it
        plan = bool(explanation and not explanation.same_build) and any(
            cause.kind is Kind.PLAN for cause in (explanation.causes if explanation else ())
        )
        whole = _to_screen(assessment, explanation, spec, change)
        waits = waits_tell(assessment, change, results)
        found.append(msgspec.structs.replace(change, plan=plan, trials=trials, whole=whole, waits=waits))
    return tuple(found)


def _to_screen(
    assessment: "Assessment", explanation: "Explanation | None", spec: "ExperimentSpec", change: "Change"
) -> "tuple[Found, ...]":
    """What differs in the test, where it is of one build with more settings apart than are each put back."""
    from dbversus.campaign.agenda import found_of
    from dbversus.campaign.finding.asked import MOST_APART, apart
    from dbversus.stats.model import DIFFERS

    if not (explanation and explanation.same_build) or len(apart(spec, change.target).factors) <= MOST_APART:
        return ()
    own = [one for one in assessment.comparisons if (one.test, one.target) == (change.test, explanation.target)]
    return tuple(
        found_of(one, 1)
        for item in own
        for one in item.findings.values()
        if one.judged and one.verdict in DIFFERS and one.ratio
    )


def waits_tell(assessment: "Assessment", change: "Change", results: "Results") -> bool:
    """Whether throughput changed, and CPU time makes up less than half of what that makes of an operation's time."""
    from dbversus.stats.across.clients import case_of
    from dbversus.stats.metrics import CPU, THROUGHPUT
    from dbversus.stats.model import CHANGES

    figures = {one.metric: one for test in assessment.tests if test.name == change.test for one in test.figures}
    labels = results.base.label, results.targets[change.target].label
    finding = figures[THROUGHPUT].findings.get(labels[1]) if THROUGHPUT in figures else None
    if not finding or finding.counted not in CHANGES:
        return False
    rates = [figures[THROUGHPUT].estimates[label].value or 0.0 for label in labels]
    cpu_us = [figures[CPU].estimates[label].value or 0.0 for label in labels] if CPU in figures else [0.0, 0.0]
    if not all(rates):
        return False
    case = case_of(change.test)
    clients = case[1] if case else max(results.header.clients or [1])
    base_us, mine_us = (clients * US_PER_S / rate for rate in rates)
    return mine_us != base_us and (cpu_us[1] - cpu_us[0]) / (mine_us - base_us) < MOSTLY_CPU


def _of_leads(explanation: "Explanation") -> tuple[str, ...]:
    from dbversus.explain.cause import Kind

    settings = [one for one in explanation.causes if one.kind is Kind.SETTING and one.command and not one.is_weak]
    trials = dict.fromkeys(shlex.split(one.command)[_TRIED] for one in settings)
    return tuple(sorted(list(trials)[:MOST_TRIED]))


def _with_plans(
    directory: Path, spec: "ExperimentSpec", changes: "tuple[Change, ...]", run: Run
) -> "tuple[Change, ...]":
    """With targets that have the old plan, where one was found; says what was found. Nothing is measured."""
    from dbversus.campaign.finding.asked import Experiment
    from dbversus.campaign.finding.replanned import replanned, why_not
    from dbversus.cli.display import make_display

    own = [change for change in changes if change.plan]
    experiment = Experiment(spec, own)
    if why := why_not(experiment, own):
        print(f"plans: left out, {why}", file=sys.stderr)
        return changes
    tests = ", ".join(dict.fromkeys(change.test for change in own))
    if run.dry_run:
        print(f"plans: which settings bring the old plans of {tests} back, by EXPLAIN; what is found is then tried")
        return changes
    with make_display(run.quiet) as display:
        found, told = replanned(directory, experiment, own, display, wait=run.wait)
    for sentence in told:
        print(sentence, file=sys.stderr)
    return tuple(dict(zip(own, found, strict=True)).get(change, change) for change in changes)


def _wanted(only: str | None) -> list[str]:
    """Raises UsageError at a name that is no step."""
    from dbversus.campaign.finding.steps import STEPS

    wanted = split_names(only) if only else list(STEPS)
    for name in wanted:
        if name not in STEPS:
            raise UsageError(f"--only {name} is no step.{did_you_mean(name, STEPS)} Accepted: {', '.join(STEPS)}.")
    return wanted


def _steps(wanted: Sequence[str], changes: "tuple[Change, ...]") -> tuple[str, ...]:
    """Those that can tell something of these changes, in the order of what is likely to tell most."""
    from dbversus.campaign.finding.steps import PLANS, STEPS

    steps = tuple(name for name in STEPS if name in wanted and STEPS[name].applies(changes))
    if not steps:
        raise UsageError(f"There is nothing to measure: {'; '.join(STEPS[name].lacks for name in wanted)}.")
    for name in wanted:
        if name not in (*steps, PLANS):  # of plans it was said what came of them
            print(f"{name}: left out, {STEPS[name].lacks}", file=sys.stderr)
    return steps


def _with_tools(wanted: list[str], changes: "tuple[Change, ...]", *, is_asked: bool) -> list[str]:
    """Without profiles where perf cannot be used and another step may tell something; raises where they were asked for."""
    from dbversus.campaign.finding.steps import PROFILE, STEPS
    from dbversus.profiling.perf import find_perf

    if PROFILE not in wanted or not STEPS[PROFILE].applies(changes):
        return wanted
    others = [name for name in wanted if name != PROFILE]
    try:
        find_perf()
    except UsageError as error:
        if is_asked or not any(STEPS[name].applies(changes) for name in others):
            raise
        print(f"{PROFILE}: left out. {error}", file=sys.stderr)
        return others
    return wanted


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
    measured = ("waits", "functions")
    return [sentence for one in assessment.sections if one.name in measured for sentence in one.sentences]
