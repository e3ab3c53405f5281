"""An assessment of many targets, made from that of two: writing and judging so many slots takes minutes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from dbversus.report.model import Assessment, Figure, NotedComparison, TestPart
from dbversus.stats.model import Finding

T = TypeVar("T")


def labels(count: int) -> list[str]:
    return [f"postgres:{9 + n}.{n % 7}" for n in range(count)]


def with_targets(assessment: Assessment, count: int) -> Assessment:
    """The base, and the second target again and again: each further from the base than the one before."""
    base, other = assessment.targets[:2]
    names = labels(count)
    targets = [
        replace(one, target=replace(one.target, name=f"t{place}", label=name))
        for place, (one, name) in enumerate(zip([base, *[other] * (count - 1)], names, strict=True))
    ]
    tests = tuple(_test(test, assessment, names) for test in assessment.tests)
    plans = tuple(replace(one, plans=(one.plans[0], *[one.plans[1]] * (count - 1))) for one in assessment.plans)
    settings = tuple(
        replace(one, values=(one.values[0], *[one.values[1]] * (count - 1))) for one in assessment.settings
    )
    findings = tuple(one for test in tests for item in test.comparisons for one in item.findings.values())
    return replace(assessment, targets=tuple(targets), tests=tests, plans=plans, settings=settings, findings=findings)


def _test(test: TestPart, assessment: Assessment, names: list[str]) -> TestPart:
    base, other = (facts.target.label for facts in assessment.targets[:2])
    comparison = test.comparisons[0]
    renamed = {base: names[0]}, [(other, name) for name in names[1:]]

    def spread(by_label: Mapping[str, T]) -> dict[str, T]:
        first = {new: by_label[old] for old, new in renamed[0].items() if old in by_label}
        return first | {new: by_label[old] for old, new in renamed[1] if old in by_label}

    def figure(one: Figure) -> Figure:
        found = spread(one.findings)
        moved = {name: _moved(finding, place + 1, name) for place, (name, finding) in enumerate(found.items())}
        return replace(one, estimates=spread(one.estimates), findings=moved)

    return replace(
        test,
        comparisons=tuple(_comparison(comparison, place, name) for place, name in enumerate(names) if place),
        figures=tuple(map(figure, test.figures)),
        latency=spread(test.latency),
        slots=tuple(replace(one, target=name) for one in test.slots[:1] for name in names[1:]),
        plans=tuple(replace(one, plans=(one.plans[0], *[one.plans[1]] * (len(names) - 1))) for one in test.plans),
    )


def _comparison(comparison: NotedComparison, place: int, name: str) -> NotedComparison:
    findings = {metric: _moved(one, place, name) for metric, one in comparison.findings.items()}
    return replace(comparison, target=name, findings=findings)


def _moved(finding: Finding, place: int, name: str) -> Finding:
    power = (place + 1) / 3
    ratio, low, high = (None if one is None else one**power for one in (finding.ratio, finding.low, finding.high))
    return replace(finding, target=name, ratio=ratio, low=low, high=high)
