"""Whether an experiment came to what was demanded of it, in sentences; none where it did."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from dbversus.report.model import Assessment
from dbversus.report.words import listing
from dbversus.stats.comparison import Comparison
from dbversus.stats.headline import worse_a_little, worse_over_all_work
from dbversus.stats.model import DECIDED, Verdict


def _is_worse(comparison: Comparison) -> bool:
    """A wrong result is worse than a slow one, so it counts too; without a steady state the cost of all the work does."""
    if comparison.verdict == Verdict.SLA_FAILED:  # its figures do not count
        return False
    return comparison.verdict in (Verdict.REGRESSION, Verdict.WRONG_RESULT) or worse_over_all_work(comparison.findings)


def _is_worse_a_little(comparison: Comparison) -> bool:
    """A small change for the worse, or more than that."""
    if comparison.verdict == Verdict.SLA_FAILED:
        return False
    return _is_worse(comparison) or worse_a_little(comparison.findings)


def _is_undecided(comparison: Comparison) -> bool:
    """Without a steady state, where all the work is undecided too."""
    return comparison.verdict == Verdict.UNDECIDED or (
        comparison.verdict == Verdict.NO_STEADY_STATE and not is_judged(comparison)
    )


_HOLDS: dict[str, Callable[[Comparison], bool]] = {
    "regression": _is_worse,
    "small": _is_worse_a_little,
    "undecided": _is_undecided,
    "unstable": lambda comparison: comparison.verdict == Verdict.UNSTABLE,
    "sla-failed": lambda comparison: comparison.verdict == Verdict.SLA_FAILED,
    "wrong-result": lambda comparison: comparison.verdict == Verdict.WRONG_RESULT,
    "failed": lambda comparison: comparison.verdict == Verdict.FAILED,
}


def is_judged(comparison: Comparison) -> bool:
    """Whether it is a change, a small one or equivalent; without a steady state, whether all its work is."""
    if comparison.verdict != Verdict.NO_STEADY_STATE:
        return comparison.verdict in DECIDED
    return any(
        finding.verdict == Verdict.NO_STEADY_STATE and finding.whole_work in DECIDED
        for finding in comparison.findings.values()
    )


def _missed_alone(assessment: Assessment) -> list[Comparison]:
    """Of tests in which a target did not reach a rate that the base reached: it can no longer do what the base does."""
    return [item for item, of_base in _missed_rates(assessment) if not of_base]


def _missed_rates(assessment: Assessment) -> Iterator[tuple[Comparison, bool]]:
    """Comparisons that failed their SLA, and whether the base itself missed it."""
    for test in assessment.tests:
        for item in test.comparisons:
            if item.verdict == Verdict.SLA_FAILED:
                yield item, assessment.base.label in test.sla_failed


def conditions_met(assessment: Assessment, conditions: Iterable[str]) -> list[str]:
    """A sentence for each condition that holds: `--fail-on unstable: update-index on postgres:17.`"""
    said = []
    for condition in conditions:
        held = [item for item in assessment.comparisons if _HOLDS[condition](item)]
        missed = _missed_alone(assessment) if condition in ("regression", "small") else []
        found = [f"{item.test} on {item.target}" for item in held]
        found += [f"{item.test} on {item.target} (a rate that the base reached was missed)" for item in missed]
        if condition == "failed" and not found:
            found = list(dict.fromkeys(failure.target for failure in assessment.failures if failure.final))
        if found:
            said.append(f"--fail-on {condition}: {listing(found)}.")
    return said


def not_judged(assessment: Assessment, least_share: float | None) -> list[str]:
    """What stands in the way of a judgement: a target without any verdict, or fewer verdicts than `least_share`.

    Without such a share, also tests of which nothing is known although others are judged: those that a target could not run, and
    those in which the base missed a rate, which is a mistake of the rate.
    """
    comparisons = assessment.comparisons
    if not comparisons:
        return ["nothing could be judged: there is nothing to compare."]
    said = [
        f"nothing could be judged of {facts.target.label}: none of its {len(own)} tests has a verdict."
        for facts in assessment.candidates
        if not any(map(is_judged, own := _own(comparisons, facts.target.label)))
    ]
    judged = sum(map(is_judged, comparisons))
    if least_share is not None and judged < least_share * len(comparisons) - 1e-9:
        said.append(
            f"{judged} of {len(comparisons)} comparisons ({judged / len(comparisons):.0%}) have a verdict; "
            f"--require-verdicts asks for {least_share * 100:g}%."
        )
    return said if least_share is not None else [*said, *_unknown(assessment)]


def _unknown(assessment: Assessment) -> Iterator[str]:
    """Why nothing is known of single tests, in sentences."""
    failed = [f"{item.test} on {item.target}" for item in assessment.comparisons if item.verdict == Verdict.FAILED]
    if failed:
        yield (
            f"nothing could be judged of {listing(failed)}: a server could not run it; --require-verdicts says how many "
            "comparisons may be without a verdict."
        )
    tests = dict.fromkeys(item.test for item, of_base in _missed_rates(assessment) if of_base)
    if tests:
        yield (
            f"nothing could be judged of {listing(list(tests))}: {assessment.base.label}, the base, missed a rate of "
            f"{'them' if len(tests) > 1 else 'it'}; a lower rate can be compared."
        )


def _own(comparisons: Sequence[Comparison], label: str) -> list[Comparison]:
    return [item for item in comparisons if item.target == label]
