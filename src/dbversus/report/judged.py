"""What sections are made from: stored results with their verdicts, each of which is made when it is first asked for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dbversus.errors import UsageError
from dbversus.explain.trials import Tried
from dbversus.profiling.stored import Profiled, measured_profiles
from dbversus.report.model import StepsPart, TestPart
from dbversus.report.parts.experiment.trials import measured_trials
from dbversus.report.parts.steps.summary import steps_part
from dbversus.report.table import NO, YES
from dbversus.results.stored import Results
from dbversus.stats.across.clients import case_of
from dbversus.stats.comparison import Comparison, compare, compare_over_clients
from dbversus.stats.forms import FormsCompared, compare_forms
from dbversus.stats.judge import judge
from dbversus.stats.model import SPOILT, Finding


@dataclass
class Judged:
    """`results`: of the blocks that were finished. `make_tests` makes what reports show of each test."""

    results: Results
    make_tests: "Callable[[Judged], tuple[TestPart, ...]]"

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(judge(self.results)) if len(self.results.targets) > 1 else ()

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        return tuple(compare(self.results, self.findings))

    @cached_property
    def forms(self) -> tuple[FormsCompared, ...]:
        return compare_forms(self.results)

    @cached_property
    def steps(self) -> StepsPart | None:
        return steps_part(self.results, self.findings)

    @cached_property
    def over_clients(self) -> tuple[Comparison, ...]:
        """Verdicts over all numbers of clients, per test and candidate; none with one number."""
        clients = {case[1] for test in self.results.tests if (case := case_of(test))}
        several = len(clients) > 1 and len(self.results.slots["test"]) > 0
        return compare_over_clients(self.results, self.comparisons) if several else ()

    @cached_property
    def tests(self) -> tuple[TestPart, ...]:
        return self.make_tests(self)

    @cached_property
    def measured(self) -> "Measured":
        return _measured(self.results)

    @property
    def spoilt(self) -> set[tuple[str, str]]:
        return spoilt(self.comparisons)

    @property
    def labels(self) -> list[str]:
        """Of the targets, the base first."""
        return [target.label for target in self.results.targets]


def spoilt(comparisons: Iterable[Comparison]) -> set[tuple[str, str]]:
    """Tests and targets that cannot be held against what was published, since answers were wrong, say."""
    return {(item.test, item.target) for item in comparisons if item.verdict in SPOILT}


def in_means(item: Comparison | None) -> str:
    return NO if item is None or item.verdict in SPOILT else YES


@dataclass(frozen=True)
class Measured:
    """What `explain --measure` has put beside the results, by test and target: where CPU time goes, what operations wait for, and
    settings of the base that were tried on the target. `troubles`: why some of it cannot be read."""

    profiles: Mapping[tuple[str, str], Profiled]
    waits: Mapping[tuple[str, str], Profiled]
    trials: Mapping[tuple[str, str], Sequence[Tried]]
    troubles: tuple[str, ...] = ()


def _measured(results: Results) -> Measured:
    profiles: list[Profiled] = []
    trials: Mapping[tuple[str, str], Sequence[Tried]] = {}
    troubles = []
    try:
        profiles = measured_profiles(results)
    except UsageError as error:
        troubles.append(str(error))
    try:
        trials = measured_trials(results)
    except UsageError as error:
        troubles.append(str(error))
    of_cpu, of_waits = (
        {(one.test, one.target): one for one in profiles if one.is_of_waits == of_waits} for of_waits in (False, True)
    )
    return Measured(of_cpu, of_waits, trials, tuple(dict.fromkeys(troubles)))
