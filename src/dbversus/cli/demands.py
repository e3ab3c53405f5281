"""Whether an experiment came to what --fail-on and --require-verdicts demand, in sentences; none where it did."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from dbversus.report.words import listing
from dbversus.results.stored import Results
from dbversus.stats.comparison import Comparison
from dbversus.stats.model import Verdict

_HOLDS: Mapping[str, Callable[[Comparison], bool]] = {
    "regression": lambda item: item.is_worse,
    "small": lambda item: item.is_worse_a_little,
    "undecided": lambda item: item.is_undecided,
    "unstable": lambda item: item.verdict is Verdict.UNSTABLE,
    "sla-failed": lambda item: item.verdict is Verdict.SLA_FAILED,
    "wrong-result": lambda item: item.verdict is Verdict.WRONG_RESULT,
    "failed": lambda item: item.verdict is Verdict.FAILED,
}


def conditions_met(results: Results, comparisons: Sequence[Comparison], conditions: Iterable[str]) -> list[str]:
    """A sentence for each condition that holds: `--fail-on unstable: update-index on postgres:17.`"""
    said = []
    for condition in conditions:
        found = [f"{_place(item)}{_why(item, condition)}" for item in comparisons if _HOLDS[condition](item)]
        if condition == "failed" and not found:
            found = list(
                dict.fromkeys(_label(results, failure.target) for failure in results.failures if failure.final)
            )
        if found:
            said.append(f"--fail-on {condition}: {listing(found)}.")
    return said


def _place(item: Comparison) -> str:
    return f"{item.test} on {item.target}"


def _why(item: Comparison, condition: str) -> str:
    is_missed = item.verdict is Verdict.SLA_FAILED and condition != "sla-failed"
    return " (a rate that the base reached was missed)" if is_missed else ""


def _label(results: Results, name: str | None) -> str:
    return results.label(name) if name else "dbversus"


def not_judged(results: Results, comparisons: Sequence[Comparison], least_share: float | None) -> list[str]:
    """What stands in the way of a judgement: a target without any verdict, or fewer verdicts than `least_share`.

    Without such a share, also tests of which nothing is known although others are judged: those that a target could not run, and
    those in which the base missed a rate, which is a mistake of the rate.
    """
    if not comparisons:
        return ["nothing could be judged: there is nothing to compare."]
    said = []
    for label in (target.label for target in results.targets[1:]):
        own = [item for item in comparisons if item.target == label]
        if not any(item.is_judged for item in own):
            said.append(f"nothing could be judged of {label}: none of its {len(own)} tests has a verdict.")
    judged = sum(item.is_judged for item in comparisons)
    if least_share is not None and judged < least_share * len(comparisons) - 1e-9:
        said.append(
            f"{judged} of {len(comparisons)} comparisons ({judged / len(comparisons):.0%}) have a verdict; "
            f"--require-verdicts asks for {least_share * 100:g}%."
        )
    return said if least_share is not None else [*said, *_unknown(comparisons, results.base.label)]


def _unknown(comparisons: Sequence[Comparison], base: str) -> Iterator[str]:
    """Why nothing is known of single tests, in sentences."""
    failed = [_place(item) for item in comparisons if item.verdict is Verdict.FAILED]
    if failed:
        yield (
            f"nothing could be judged of {listing(failed)}: a server could not run it; --require-verdicts says how many "
            "comparisons may be without a verdict."
        )
    tests = dict.fromkeys(item.test for item in comparisons if item.base_missed)
    if tests:
        yield (
            f"nothing could be judged of {listing(list(tests))}: {base}, the base, missed a rate of "
            f"{'them' if len(tests) > 1 else 'it'}; a lower rate can be compared."
        )
