"""One sentence on what a factor (size of tables, experiment) has to do with the verdicts of a test."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from dbversus.report.words import SHORT_TITLES, listing
from dbversus.stats.comparison import Comparison
from dbversus.stats.model import CHANGES, DIFFERS, WITHIN, Finding, Verdict

P = TypeVar("P", int, str)
"""A place on the factor: a size, the name of an experiment."""


class Factor(ABC, Generic[P]):
    """The words of one factor. `unshown`: nothing at all is known; `not_shown`: verdicts differ, and that may be chance."""

    same: ClassVar[str]
    unshown: ClassVar[str]
    not_shown: ClassVar[str]
    everywhere: ClassVar[str]

    @abstractmethod
    def named(self, places: Sequence[P]) -> str:
        """`with 10m rows per table`"""

    @abstractmethod
    def named_again(self, places: Sequence[P]) -> str:
        """`with 10m`, behind a full name."""

    @abstractmethod
    def trend(self, moved: Mapping[P, Verdict]) -> str:
        """Which way target ÷ base goes; `moved`: the places where it is shown to be another than at the first."""


def dependence(
    comparisons: Mapping[P, Comparison], interactions: Mapping[P, Mapping[str, Finding]], factor: Factor[P]
) -> str:
    """`CPU/op: the regression is there only with 10m rows per table`. `interactions`: all places but the first, by metric."""
    found = [finding for findings in interactions.values() for finding in findings.values()]
    interacting = dict.fromkeys(finding.metric for finding in found if finding.verdict in CHANGES)
    if interacting:
        said: dict[str, list[str]] = defaultdict(list)
        for metric in interacting:
            said[_of_metric(metric, comparisons, interactions, factor)].append(SHORT_TITLES[metric])
        return "; ".join(f"{listing(titles)}: {words}" for words, titles in said.items())
    if found and all(finding.verdict in WITHIN for finding in found) and _complete(interactions):
        return factor.same
    verdicts = {place: item.verdict for place, item in comparisons.items()}
    if any(verdict in CHANGES for verdict in verdicts.values()) and len(set(verdicts.values())) > 1:
        return f"{_by_place(verdicts, factor)}; {factor.not_shown}"
    return factor.unshown


def _complete(interactions: Mapping[P, Mapping[str, Finding]]) -> bool:
    """Whether what is known of any place is known of all."""
    metrics = {metric for findings in interactions.values() for metric in findings}
    return all(findings.keys() == metrics for findings in interactions.values())


def _of_metric(
    metric: str,
    comparisons: Mapping[P, Comparison],
    interactions: Mapping[P, Mapping[str, Finding]],
    factor: Factor[P],
) -> str:
    """Of a metric that is shown to depend on the factor."""
    verdicts = {
        place: item.findings[metric].verdict if metric in item.findings else item.verdict
        for place, item in comparisons.items()
    }
    moved = {
        place: findings[metric].verdict
        for place, findings in interactions.items()
        if metric in findings and findings[metric].verdict in CHANGES
    }
    kinds = {verdict for verdict in verdicts.values() if verdict in CHANGES}
    if len(kinds) == 1:
        (kind,) = kinds
        places = [place for place, verdict in verdicts.items() if verdict is kind]
        if set(verdicts.values()) == {kind, Verdict.EQUIVALENT}:
            return f"the {kind} is there only {factor.named(places)}"
        if len(places) == len(verdicts):
            return f"{_article(kind)} {factor.everywhere}, {factor.trend(moved)}"
    return f"{_by_place(verdicts, factor)}, {factor.trend(moved)}"


def _by_place(verdicts: Mapping[P, Verdict], factor: Factor[P]) -> str:
    """`a regression with 10m rows per table, undecided with 1m`: changes first."""
    by_verdict: dict[Verdict, list[P]] = defaultdict(list)
    for place, verdict in sorted(verdicts.items(), key=lambda pair: pair[1] not in CHANGES):
        by_verdict[verdict].append(place)
    words = [_article(verdict) if verdict in DIFFERS else str(verdict) for verdict in by_verdict]
    named = [
        factor.named_again(places) if number else factor.named(places)
        for number, places in enumerate(by_verdict.values())
    ]
    return ", ".join(f"{said} {places}" for said, places in zip(words, named, strict=True))


def _article(kind: Verdict) -> str:
    return f"{'an' if kind is Verdict.IMPROVEMENT else 'a'} {kind}"
