"""Sequential looks: after some blocks, judge what there is and retire the tests that are decided."""

from pathlib import Path

from dbversus.builds.target import labels, parse_target
from dbversus.experiment.plan.contest import Contest
from dbversus.results.read import open_results


def newly_decided(contest: Contest, directory: Path) -> list[str]:
    """Judges all tests of the finished blocks in a results folder: which are decided by now, and need no more blocks.

    A regression or improvement is decided only once it has been measured again (stats.judge), so it stays in
    the run for one look more. Targets of which no more blocks will tell anything hold up no test.
    """
    from dbversus.stats.judge import decided_tests, judge  # takes seconds to import; a run has begun by now

    results, open_pairs = open_results(directory), set[str]()
    if any(case.against for case in contest.all_cases):
        from dbversus.stats.forms import open_forms

        open_pairs = open_forms(results)
    if len(contest.names) == 1:
        return contest.to_retire(_settled_alone(contest, open_pairs))
    measured = _measured(contest)
    findings = [finding for finding in judge(results) if (finding.test, finding.target) in measured]
    return contest.to_retire(decided_tests(findings) - open_pairs)


def _settled_alone(contest: Contest, open_pairs: set[str]) -> set[str]:
    """With one target there is nothing to decide but tests against each other; when they are, others need no more blocks."""
    cases = contest.all_cases
    paired = {name for case in cases if case.against for name in (case.name, case.against)}
    if contest.spec.alone or not paired:
        return set()
    return paired - open_pairs if open_pairs else {case.name for case in cases}


def _measured(contest: Contest) -> set[tuple[str, str]]:
    """Test and target's label, of all that are still measured."""
    label_of = dict(zip(contest.names, labels([parse_target(text) for text in contest.spec.targets]), strict=True))
    return {(case.name, label_of[name]) for case in contest.all_cases for name in contest.measured(case)}
