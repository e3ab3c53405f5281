"""What the size of the tables changes: verdicts by size, and the interaction of size and target."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from dbversus.explain.plan_diff import normalise_plan
from dbversus.report.model import Comparison, SizeLine, Sizes
from dbversus.report.words import SHORT_TITLES, listing
from dbversus.results.read import Results, Target
from dbversus.stats.clients import case_of
from dbversus.stats.judge import judge_over_sizes
from dbversus.stats.judged import judged_metrics
from dbversus.stats.model import CHANGES, Finding, Verdict
from dbversus.stats.sizes import interaction_name, size_of
from dbversus.units import show_count


def of_experiment(results: Results, comparisons: Sequence[Comparison] = ()) -> Sizes | None:
    """From stored results; None with one size. `comparisons`: those of the cases, with their verdicts."""
    sizes = tuple(sorted({case[1] for name in results.tests if (case := size_of(name))}))
    if len(sizes) < 2:
        return None
    found: dict[tuple[str, str], dict[str, Finding]] = defaultdict(dict)
    for finding in judge_over_sizes(results):
        found[finding.test, finding.target][finding.metric] = finding
    by_size: dict[tuple[str, str], dict[int, Comparison]] = defaultdict(dict)
    for item in comparisons:
        if case := size_of(item.test):
            by_size[case[0], item.target][case[1]] = item
    plans = {target.label: _plans_by_size(results, target) for target in results.targets}
    lines = []
    for (test, target), of_size in by_size.items():
        larger = {size: found.get((interaction_name(test, size, sizes[0]), target), {}) for size in sizes[1:]}
        planned = _other_plans(
            _without_clients(test), sizes, {name: plans[name] for name in (results.base.label, target)}
        )
        lines.append(SizeLine(test, target, of_size, larger, dependence(of_size, larger), tuple(planned)))
    return Sizes(sizes, tuple(lines), judged_metrics(results.header))


def _without_clients(test: str) -> str:
    """Plans are the same with any number of clients."""
    case = case_of(test)
    return case[0] if case else test


Plans = Mapping[tuple[str, str], Mapping[int, str]]
"""Test and statement → size → plan without estimates and values."""


def _plans_by_size(results: Results, target: Target) -> Plans:
    plans: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for name, plan in results.server_json(target, "plans.json").items():
        case, _, statement = name.partition("/")
        if of_size := size_of(case):
            plans[of_size[0], statement][of_size[1]] = normalise_plan(str(plan))
    return plans


def _other_plans(test: str, sizes: Sequence[int], plans: Mapping[str, Plans]) -> Iterator[str]:
    """`the plan of q on postgres:17 is another with 10m rows than with 1m`, for each such statement and target."""
    first = sizes[0]
    for label, of_target in plans.items():
        for (name, statement), of_size in of_target.items():
            other = [size for size in sizes[1:] if of_size.get(size, "") != of_size.get(first, "") and size in of_size]
            if name == test and first in of_size and other:
                words = f"is another with {_named(other)} rows than with {show_count(first)}"
                yield f"the plan of {statement} on {label} {words}"


def dependence(of_size: Mapping[int, Comparison], larger: Mapping[int, Mapping[str, Finding]]) -> str:
    """One sentence on what size has to do with the verdicts: `CPU/op: the regression is there only with 10m rows per table`."""
    found = [finding for findings in larger.values() for finding in findings.values()]
    interacting = dict.fromkeys(finding.metric for finding in found if finding.verdict in CHANGES)
    if interacting:
        said: dict[str, list[str]] = defaultdict(list)
        for metric in interacting:
            said[_of_metric(metric, of_size, found)].append(SHORT_TITLES[metric])
        return "; ".join(f"{listing(titles)}: {words}" for words, titles in said.items())
    if found and all(finding.verdict is Verdict.EQUIVALENT for finding in found):
        return "the same with all sizes"
    verdicts = {size: item.verdict for size, item in of_size.items()}
    if any(verdict in CHANGES for verdict in verdicts.values()) and len(set(verdicts.values())) > 1:
        return f"{_by_size(verdicts)}; that it depends on the size is not shown"
    return "not shown to depend on the size"


def _of_metric(metric: str, of_size: Mapping[int, Comparison], found: Sequence[Finding]) -> str:
    """Of a metric that is shown to depend on the size."""
    verdicts = {
        size: item.findings[metric].verdict if metric in item.findings else item.verdict
        for size, item in of_size.items()
    }
    kinds = {verdict for verdict in verdicts.values() if verdict in CHANGES}
    if len(kinds) == 1:
        (kind,) = kinds
        sizes = [size for size, verdict in verdicts.items() if verdict is kind]
        if set(verdicts.values()) == {kind, Verdict.EQUIVALENT}:
            return f"the {kind} is there only with {_named(sizes)} rows per table"
        if len(sizes) == len(verdicts):
            return f"{_article(kind)} with all sizes, {_trend(metric, found)}"
    return f"{_by_size(verdicts)}, {_trend(metric, found)}"


def _by_size(verdicts: Mapping[int, Verdict]) -> str:
    """`a regression with 10m rows per table, undecided with 1m`: changes first."""
    by_verdict: dict[Verdict, list[int]] = defaultdict(list)
    for size, verdict in sorted(verdicts.items(), key=lambda pair: pair[1] not in CHANGES):
        by_verdict[verdict].append(size)
    words = [
        f"{_article(verdict) if verdict in CHANGES else verdict} with {_named(sizes)}"
        for verdict, sizes in by_verdict.items()
    ]
    return ", ".join([f"{words[0]} rows per table", *words[1:]])


def _article(kind: Verdict) -> str:
    return f"{'an' if kind is Verdict.IMPROVEMENT else 'a'} {kind}"


def _named(sizes: Sequence[int]) -> str:
    return listing([show_count(size) for size in sorted(sizes)], most=len(sizes))


def _trend(metric: str, found: Sequence[Finding]) -> str:
    """In which direction larger tables move target ÷ base."""
    verdicts = {finding.verdict for finding in found if finding.metric == metric and finding.verdict in CHANGES}
    if len(verdicts) > 1:
        return "up and down with the size"
    return f"{'worse' if Verdict.REGRESSION in verdicts else 'better'} against the base with larger tables"
