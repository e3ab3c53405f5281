"""Throughput of every test on every target, and its ratio to the base."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from dbversus.report.figures import block_figures, estimate
from dbversus.report.model import Estimate
from dbversus.report.parts.each_test.groups import GROUPS, group_of
from dbversus.report.parts.experiment.efficiency import load_per_row, relative
from dbversus.results.stored import Results
from dbversus.stats.across.clients import case_of
from dbversus.stats.metrics import LOAD_TEST, THROUGHPUT
from dbversus.stats.model import Finding

Place = tuple[str, str]
"""Case and target label."""


@dataclass(frozen=True)
class ThroughputLine:
    """One test on one target: `rate` in operations per second, of the load in rows per second.

    `case`: the test with its number of clients, where there are several; `test` and `clients`: the two apart. `ratio`: that of
    the verdict; of what has none, as a load, that of the rates. The base has neither ratio nor finding.
    """

    case: str
    test: str
    clients: int | None
    group: str
    target: str
    rate: Estimate
    ratio: float | None
    finding: Finding | None


def throughput(results: Results, findings: Iterable[Finding]) -> list[ThroughputLine]:
    """In the order of the experiment, the load first; without targets that have no figure."""
    findings = list(findings)
    of_throughput = {(one.test, one.target): one for one in findings if one.metric == THROUGHPUT}
    rates: dict[Place, list[float]] = {
        place: known.get(THROUGHPUT, []) for place, known in block_figures(results, findings).items()
    }
    for label in (target.label for target in results.targets):
        if loaded := load_per_row(results, label):
            rates[LOAD_TEST, label] = [loaded[THROUGHPUT]]
    return [
        line
        for case in dict.fromkeys((LOAD_TEST, *results.tests))
        for target in results.targets
        if (line := _line(results, case, target.label, rates, of_throughput.get((case, target.label))))
    ]


def _line(
    results: Results, case: str, label: str, rates: Mapping[Place, Sequence[float]], finding: Finding | None
) -> ThroughputLine | None:
    values = rates.get((case, label))
    if not values:
        return None
    several = len(results.header.clients or []) > 1
    test, clients = (case_of(case) if several else None) or (case, None)
    group = LOAD_TEST if case == LOAD_TEST else group_of(case, results.header)
    of_base = rates.get((case, results.base.label))
    ratio = finding.ratio if finding else None
    if ratio is None and of_base and label != results.base.label:
        ratio = relative(fmean(values), fmean(of_base))
    return ThroughputLine(case, test, clients, group, label, estimate(values), ratio, finding)


def in_groups(lines: Iterable[ThroughputLine]) -> dict[str, list[ThroughputLine]]:
    """The load, the reference's groups in its order, then those of suites."""
    found: dict[str, list[ThroughputLine]] = {group: [] for group in (LOAD_TEST, *GROUPS)}
    for line in lines:
        found.setdefault(line.group, []).append(line)
    return {group: own for group, own in found.items() if own}
