"""The verdict of each test on each target: its findings taken together, unless something comes before any figure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dbversus.results.records import Answers, Failure
from dbversus.results.stored import Results, Target
from dbversus.stats.across.clients import case_of, pooled_name
from dbversus.stats.headline import headline, worse_a_little, worse_over_all_work
from dbversus.stats.judge import judge, judge_over_clients
from dbversus.stats.model import DECIDED, SPOILT, Finding, Verdict
from dbversus.stats.validity.rates import missed_rates
from dbversus.stats.values.finished import of_finished_blocks


@dataclass(frozen=True)
class Comparison:
    """One test on one target against the base. `findings` by metric.

    What comes before any figure: `answers` of the target and of the base, where they differ; the `failure` that kept the target
    from running the test; whether the target, or the base, `missed` a rate that was asked for.
    """

    test: str
    target: str
    verdict: Verdict
    findings: Mapping[str, Finding]
    answers: tuple[Answers, Answers] | None = None
    failure: Failure | None = None
    missed: bool = False
    base_missed: bool = False

    @property
    def headline(self) -> Finding | None:
        """The finding that makes the verdict, of several the first in the order of reports; None where none does."""
        return next((one for one in self.findings.values() if one.judged and one.verdict is self.verdict), None)

    @property
    def is_judged(self) -> bool:
        """Whether it is a change, a small one or equivalent; without a steady state, whether all its work is."""
        if self.verdict is not Verdict.NO_STEADY_STATE:
            return self.verdict in DECIDED
        return any(
            one.verdict is Verdict.NO_STEADY_STATE and one.whole_work in DECIDED for one in self.findings.values()
        )

    @property
    def is_undecided(self) -> bool:
        """Whether more blocks may decide it; without a steady state, whether all the work is undecided too."""
        return self.verdict is Verdict.UNDECIDED or (self.verdict is Verdict.NO_STEADY_STATE and not self.is_judged)

    @property
    def is_worse(self) -> bool:
        """Whether the target is worse than the base beyond doubt, or by its answers, or misses a rate that the base reaches.

        Without a steady state the cost of all the work counts.
        """
        if self.verdict is Verdict.SLA_FAILED:  # its figures do not count
            return self.missed and not self.base_missed
        return self.verdict in (Verdict.REGRESSION, Verdict.WRONG_RESULT) or worse_over_all_work(self.findings)

    @property
    def is_worse_a_little(self) -> bool:
        """Whether there is a small change for the worse, or more than that."""
        return self.is_worse or (self.verdict is not Verdict.SLA_FAILED and worse_a_little(self.findings))


def compare(results: Results, findings: Sequence[Finding] | None = None) -> tuple[Comparison, ...]:
    """Of all tests on all targets but the base, in the order of the experiment.

    `findings`: those of `judge`, where they are known already.
    """
    results = of_finished_blocks(results)
    if findings is None:
        findings = judge(results) if len(results.targets) > 1 else []
    of_places = by_test_and_target(findings)
    missed = missed_rates(results)
    return tuple(
        _compared(results, test, target, of_places.get((test, target.label), {}), missed.get(test, frozenset()))
        for test in results.repeated_tests
        for target in results.targets[1:]
    )


def by_test_and_target(findings: Sequence[Finding]) -> dict[tuple[str, str], dict[str, Finding]]:
    """(test, target label) → metric → its finding."""
    grouped: dict[tuple[str, str], dict[str, Finding]] = defaultdict(dict)
    for finding in findings:
        grouped[finding.test, finding.target][finding.metric] = finding
    return dict(grouped)


def _compared(
    results: Results, test: str, target: Target, findings: Mapping[str, Finding], missed: frozenset[str]
) -> Comparison:
    """Wrong answers, failures and missed rates come before any figure."""
    if answers := _other_answers(results, test, target):
        return Comparison(test, target.label, Verdict.WRONG_RESULT, findings, answers=answers)
    if not any(finding.judged or finding.lacks_operations for finding in findings.values()):
        failure = _failure(results, test, target)
        return Comparison(test, target.label, Verdict.FAILED if failure else Verdict.UNDECIDED, {}, failure=failure)
    by_target, by_base = (label in missed for label in (target.label, results.base.label))
    verdict = Verdict.SLA_FAILED if by_target or by_base else headline(list(findings.values()))[0]
    return Comparison(test, target.label, verdict, findings, missed=by_target, base_missed=by_base)


def _other_answers(results: Results, test: str, target: Target) -> tuple[Answers, Answers] | None:
    none = Answers()
    for check in results.checks:
        if check.test == test and target.name in check.differs:
            return check.targets.get(target.name, none), check.targets.get(results.base.name, none)
    return None


def _failure(results: Results, test: str, target: Target) -> Failure | None:
    """In that test, else the one by which the target was out of the experiment."""
    own = [failure for failure in results.failures if failure.target == target.name]
    of_test = [failure for failure in own if failure.test == test]
    return next(iter((*of_test, *(failure for failure in own if failure.final))), None)


def compare_over_clients(results: Results, comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """One per test and target over all its numbers of clients, in their order; empty with one number.

    `comparisons`: of the cases. Where the figures of one of them do not count, the test is as that.
    """
    findings = by_test_and_target(judge_over_clients(results))
    spoilt = {
        (case[0], item.target): item for item in comparisons if item.verdict in SPOILT and (case := case_of(item.test))
    }
    made = []
    for test in dict.fromkeys(case[0] for name in results.tests if (case := case_of(name))):
        for target in results.targets[1:]:
            place = pooled_name(test), target.label
            if of_case := spoilt.get((test, target.label)):
                made.append(replace(of_case, test=place[0], findings={}))
            elif own := findings.get(place):
                made.append(Comparison(*place, headline(list(own.values()))[0], own))
    return tuple(made)
