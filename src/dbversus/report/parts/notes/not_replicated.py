"""What single runs say of one target, as sentences: their ratios, of which nothing tells how much is chance."""

from collections.abc import Sequence
from statistics import median

from dbversus.report.words import change, listing, ratio
from dbversus.stats.comparison import Comparison
from dbversus.stats.metrics import metric_named
from dbversus.stats.model import Finding, Verdict
from dbversus.units import count_of

_NAMED = 2
"""Tests at each end."""


def sentences(comparisons: Sequence[Comparison], target: str, base: str) -> tuple[str, ...]:
    """A sentence or two for each judged metric; none where any test is replicated."""
    if not comparisons or any(item.verdict is not Verdict.NOT_REPLICATED for item in comparisons):
        return ()
    by_metric: dict[str, list[Finding]] = {}
    for item in comparisons:
        for name, finding in item.findings.items():
            if finding.judged and finding.ratio is not None:
                by_metric.setdefault(name, []).append(finding)
    return tuple(
        sentence for name, findings in by_metric.items() for sentence in _of_metric(name, findings, target, base)
    )


def _of_metric(name: str, findings: Sequence[Finding], target: str, base: str) -> list[str]:
    """`Throughput of new is 0.74 of old's …`"""
    title = metric_named(name).title
    ranked = sorted(findings, key=lambda finding: finding.ratio or 0)
    if len(ranked) == 1:
        return [f"{_capital(title)} of {target} is {ratio(ranked[0].ratio)} of that of {base} in {ranked[0].test}."]
    middle = ratio(median(finding.ratio or 0 for finding in ranked))
    said = [
        f"{_capital(title)} of {target} is {middle} of that of {base}, in the median of {count_of(len(ranked), 'test')}."
    ]
    if len(ranked) > 2 * _NAMED:
        said.append(f"Lowest: {_named(ranked[:_NAMED])}; highest: {_named(ranked[: -_NAMED - 1 : -1])}.")
    else:
        said.append(f"{_named(ranked)}.")
    return said


def _named(findings: Sequence[Finding]) -> str:
    return listing([f"{finding.test} ({change(finding.ratio)})" for finding in findings])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
