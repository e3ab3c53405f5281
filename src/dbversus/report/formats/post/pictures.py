"""Charts of a post, to be published with it: one per phase for throughput, and one for CPU per operation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbversus.report.charts import standing
from dbversus.report.formats.post.aspects import Aspect
from dbversus.report.formats.post.phases import Case, Phase
from dbversus.report.formats.post.told import name_of
from dbversus.stats.metrics import LOAD_TEST, THROUGHPUT
from dbversus.stats.model import Finding
from dbversus.units import count_of

_NOT_IN_FILES = re.compile(r"[^a-z0-9]+")
OURS = re.compile(r"\d+-[a-z0-9-]*\.svg")
"""Names of these files, those of an earlier report among them."""
_SLUG = 60


@dataclass(frozen=True)
class Picture:
    """`phase`: its title. `file`: name in the folder of pictures."""

    phase: str
    file: str
    title: str
    chart: standing.Chart

    @property
    def svg(self) -> str:
        return standing.draw(self.chart)


def pictures(phases: Sequence[Phase], targets: Sequence[str], aspects: Sequence[Aspect], base: str) -> list[Picture]:
    """None of the load, which has one figure."""
    found: list[Picture] = []
    for phase in phases:
        fewest = phase.clients[0]
        cases = [case for case in phase.cases if case.clients == fewest and case.test != LOAD_TEST]
        for aspect in (one for one in aspects if one.always):
            for chart in _charts(phase.title, cases, targets, aspect, base):
                found.append(
                    Picture(
                        phase.title,
                        _file(len(found) + 1, f"{phase.title} {aspect.said}"),
                        chart.title,
                        chart,
                    )
                )
    return found


def _file(number: int, title: str) -> str:
    slug = _NOT_IN_FILES.sub("-", title.lower())[:_SLUG].strip("-")
    return f"{number}-{slug}.svg"


def _charts(
    phase: str, cases: Sequence[Case], targets: Sequence[str], aspect: Aspect, base: str
) -> Iterator[standing.Chart]:
    """Targets are the series; where they are too many, tests are, and the rows are targets."""
    tests = {
        case.test: {label: finding for label in targets if (finding := case.finding(label, aspect.metric))}
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
        series = {name: {name_of(label): finding for label, finding in tests[name].items()} for name in part}
        yield standing.Chart(f"{title}{of}", note, list(map(name_of, targets)), series)


def _turned(tests: Mapping[str, Mapping[str, Finding]], targets: Sequence[str]) -> dict[str, dict[str, Finding]]:
    series = {name_of(label): {name: own[label] for name, own in tests.items() if label in own} for label in targets}
    return {label: of_label for label, of_label in series.items() if of_label}


def _with(clients: int | None) -> str:
    return f", {count_of(clients, 'client')}" if clients else ""


def _note(findings: Sequence[Finding], aspect: Aspect, base: str) -> str:
    better = "higher is better" if aspect.metric == THROUGHPUT else "lower is better"
    if any(one.low is not None for one in findings):
        spread = "lines are intervals, hollow marks have no verdict, the band is the margin"
    else:
        spread = f"without intervals, the band is {100 * findings[0].margin:g} %"
    return f"Relative to {name_of(base)}, logarithmic; {better}; {spread}."
