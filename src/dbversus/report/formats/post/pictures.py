"""Charts of a post, to be published with it.

Throughput and CPU per operation by group of tests, over versions and by phase; rates of steps, and steps over time.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean
from typing import Protocol

from dbversus.report.charts import bars, lines, standing
from dbversus.report.charts.course import is_drawn
from dbversus.report.formats.post.aspects import Aspect, aspects
from dbversus.report.formats.post.phases import Case, Phase, names, phases
from dbversus.report.model import Assessment
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import Finding, Verdict
from dbversus.units import count_of

_NOT_IN_FILES = re.compile(r"[^a-z0-9]+")
OURS = re.compile(r"\d+-[a-z0-9-]*\.svg")
"""Names of these files, those of an earlier report among them."""
_SLUG = 60


class Drawable(Protocol):
    @property
    def title(self) -> str: ...

    def draw(self, theme: standing.Theme) -> str: ...


@dataclass(frozen=True)
class Picture:
    """`phase`: its title; empty where it is about all of them. `file`: name in the folder of pictures."""

    phase: str
    file: str
    chart: Drawable

    @property
    def title(self) -> str:
        return self.chart.title

    @property
    def svg(self) -> str:
        return self.chart.draw(standing.LIGHT)


def pictures(assessment: Assessment) -> list[Picture]:
    """None without targets to compare."""
    if not assessment.candidates:
        return []
    told = phases(assessment)
    drawn = [*(("", chart) for chart in _overviews(assessment, told)), *_of_phases(assessment, told)]
    return [Picture(phase, _file(number, chart.title), chart) for number, (phase, chart) in enumerate(drawn, start=1)]


def _of_phases(assessment: Assessment, told: Sequence[Phase]) -> Iterator[tuple[str, Drawable]]:
    """Of the load there is none: it has one figure."""
    base, *targets = names(assessment).values()
    for phase in told:
        cases = _with_fewest(phase)
        for aspect in _shown(assessment):
            yield from ((phase.title, chart) for chart in _charts(phase.title, cases, targets, aspect, base))
        yield from ((phase.title, chart) for case in cases if case.is_step for chart in _over_time(assessment, case))


def _shown(assessment: Assessment) -> list[Aspect]:
    return [one for one in aspects(assessment) if one.always]


def _with_fewest(phase: Phase) -> list[Case]:
    return [case for case in phase.cases if case.clients == phase.clients[0] and not case.is_load]


def _overviews(assessment: Assessment, told: Sequence[Phase]) -> Iterator[Drawable]:
    """By group of tests where there are several, and from version to version; rates of steps."""
    base, *targets = names(assessment).values()
    cases = sorted((case for phase in told for case in _with_fewest(phase)), key=lambda case: case.group)
    groups = {name: list(own) for name, own in groupby(cases, lambda case: case.group)}
    for aspect in _shown(assessment) if len(groups) > 1 else ():
        means = {target: _means(groups, target, aspect) for target in targets}
        spread = "lines reach from the lowest to the highest of a group"
        note = f"Geometric means of ratios to {base}, logarithmic; {_better(aspect)}; {spread}."
        if len(targets) <= standing.MOST_SERIES:
            yield standing.Chart(f"By group of tests: {aspect.said}", note, list(groups), means)
        if len(targets) > 1 and len(groups) <= standing.MOST_SERIES:
            yield _over_versions(means, list(groups), aspect, base)
    if assessment.steps:
        yield from _rates(assessment)


def _means(groups: Mapping[str, Sequence[Case]], target: str, aspect: Aspect) -> dict[str, Finding]:
    """Of the ratios of a group's tests, with the lowest and the highest of them."""
    found = {}
    for name, cases in groups.items():
        known = [one for case in cases if (one := case.finding(target, aspect.metric)) and one.ratio and one.ratio > 0]
        if known:
            ratios = [one.ratio or 1.0 for one in known]
            mean = math.exp(fmean(map(math.log, ratios)))
            told = replace(known[0], test=name, verdict=Verdict.NOT_REPLICATED, whole_work=None)
            found[name] = replace(told, ratio=mean, low=min(ratios), high=max(ratios))
    return found


def _over_versions(
    means: Mapping[str, Mapping[str, Finding]], groups: Sequence[str], aspect: Aspect, base: str
) -> standing.Chart:
    """Targets in their order, a line per group."""
    series = {}
    for group in groups:
        own = {target: replace(of[group], low=None, high=None) for target, of in means.items() if group in of}
        if own:
            series[group] = {base: replace(next(iter(own.values())), ratio=1.0), **own}
    note = f"Geometric means of ratios to {base}, logarithmic; {_better(aspect)}."
    rows = [base, *means]
    return standing.Chart(f"From target to target: {aspect.said}", note, rows, series, joined=True)


def _rates(assessment: Assessment) -> Iterator[bars.Chart]:
    steps = assessment.steps.steps if assessment.steps else ()
    called = names(assessment)
    if len(steps) > 1 and len(called) <= standing.MOST_SERIES:
        rows = {step.name: step.unit for step in steps}
        series = {
            name: {step.name: step.cells[label].rate for step in steps if label in step.cells}
            for label, name in called.items()
        }
        note = "Mean over blocks [95 % interval] or (range); higher is better; each step has a scale of its own."
        yield bars.Chart("Rates of the steps", note, rows, series)


def _over_time(assessment: Assessment, case: Case) -> Iterator[lines.Chart]:
    """Second by second of the first block, as far as a step lasts."""
    test = next((test for test in assessment.tests if test.name == case.name), None)
    called = names(assessment)
    at_rates = {role.name for role in test.roles for one in role.targets.values() if one.due_per_s} if test else set()
    for course in test.courses if test else ():
        if course.role in at_rates:  # which says what was asked of it
            continue
        series = {called[label]: [(one.at_s, one.rate) for one in own] for label, own in course.targets.items()}
        if len(series) <= standing.MOST_SERIES and is_drawn(course):
            of = f", {course.role}" if course.role else ""
            note = "First block, by second of driven time; higher is better."
            yield lines.Chart(f"{case.name}{of}: rate over time", note, course.unit, "s", series)


def _file(number: int, title: str) -> str:
    slug = _NOT_IN_FILES.sub("-", title.lower())[:_SLUG].strip("-")
    return f"{number}-{slug}.svg"


def _charts(
    phase: str, cases: Sequence[Case], targets: Sequence[str], aspect: Aspect, base: str
) -> Iterator[standing.Chart]:
    """Targets are the series; where they are too many, tests are, and the rows are targets."""
    tests = {
        case.test: {target: finding for target in targets if (finding := case.finding(target, aspect.metric))}
        for case in cases
    }
    tests = {name: own for name, own in tests.items() if own}
    if not tests:
        return
    title = f"{phase}: {aspect.said}{_with(cases[0].clients)}"
    note = _note([one for own in tests.values() for one in own.values()], aspect, base)
    if len(targets) <= standing.MOST_SERIES:
        yield standing.Chart(title, note, list(tests), _turned(tests, targets))
        return
    names = list(tests)
    parts = [names[at : at + standing.MOST_SERIES] for at in range(0, len(names), standing.MOST_SERIES)]
    for number, part in enumerate(parts, 1):
        of = f", part {number} of {len(parts)}" if len(parts) > 1 else ""
        yield standing.Chart(f"{title}{of}", note, list(targets), {name: tests[name] for name in part})


def _turned(tests: Mapping[str, Mapping[str, Finding]], targets: Sequence[str]) -> dict[str, dict[str, Finding]]:
    series = {target: {name: own[target] for name, own in tests.items() if target in own} for target in targets}
    return {target: found for target, found in series.items() if found}


def _with(clients: int | None) -> str:
    return f", {count_of(clients, 'client')}" if clients else ""


def _note(findings: Sequence[Finding], aspect: Aspect, base: str) -> str:
    if any(one.low is not None for one in findings):
        spread = "lines are intervals, hollow marks have no verdict, the band is the margin"
    else:
        spread = f"without intervals, the band is {100 * findings[0].margin:g} %"
    return f"Relative to {base}, logarithmic; {_better(aspect)}; {spread}."


def _better(aspect: Aspect) -> str:
    return "higher is better" if aspect.metric == THROUGHPUT else "lower is better"
