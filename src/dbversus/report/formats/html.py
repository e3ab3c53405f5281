"""report.html: one self-contained file that works offline, and without its script too: charts are static pictures."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dbversus.explain.cause import Explanation
from dbversus.explain.known import SettingMeaning, settings_named
from dbversus.explain.settings_diff import SettingDifference
from dbversus.files import write_text
from dbversus.names import split_names
from dbversus.report import words
from dbversus.report.charts import drawing, forest
from dbversus.report.charts.course import RATE, SLOWEST, course_chart, course_title, is_drawn
from dbversus.report.charts.plane import plane_chart
from dbversus.report.charts.slots import slot_chart
from dbversus.report.charts.times import time_chart
from dbversus.report.charts.trend import Targets, targets_of, trend_chart
from dbversus.report.figures import PERCENTS, PLOTTED, grouped
from dbversus.report.formats.cpu_splits import cpu_splits
from dbversus.report.model import Assessment, Figure, TargetFacts, TestPart
from dbversus.report.parts.experiment import disturbance
from dbversus.report.parts.experiment.host import host_words
from dbversus.report.parts.experiment.loads import loads_note, origin_text
from dbversus.report.parts.notes.cause_words import LIKELY_CAUSE, leads_left_out, likely_cause, why
from dbversus.report.parts.overview import heat, plane, shades
from dbversus.report.parts.steps.summary import BELOW, FASTER, SLOWER, VOID
from dbversus.report.section import Section
from dbversus.report.sections import causes, changes
from dbversus.report.sections.generations import METALS
from dbversus.report.table import Table
from dbversus.report.texts import headings, is_soft, shown_rows
from dbversus.stats.judging.verdicts import MEASURED_AGAIN, NOT_MEASURED_AGAIN
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import CHANGES, Finding, Metric, Verdict

FEW_STATEMENTS = 2
"""Of a test, that are shown unfolded."""
FEW_FIGURES = 8
"""So many are read without being grouped."""
_VERBATIM, _INDENTS = re.compile(r"(<pre.*?</pre>|<script.*?</script>)", re.DOTALL), re.compile(r"\n\s+")
_SPACE_OF_CSS = re.compile(r"/\*.*?\*/|\n\s*", re.DOTALL)
_BACKTICKS = re.compile(r"`([^`]+)`")
_MARKS = frozenset({FASTER, SLOWER, BELOW, VOID})
_CHART_TITLES = {
    CPU: "CPU per operation against the base, by block",
    THROUGHPUT: "Throughput against the base, by block",
}


@dataclass(frozen=True)
class View:
    """One experiment as the templates of report.html read it: each field under its own name.

    `crowded`: there are more targets than colours; what so many lines or cells could not tell is left out then. `whys`: of which
    something is known, `untold`: what is said of all others, and their tests. `telling_settings`: those that can act on what
    changed. `shared_notes`: what would be said of every test.
    """

    a: Assessment
    pictures: Mapping[str, Sequence[tuple[str, Markup]]]
    names: Sequence[str]
    judged: Sequence[Metric]
    groups: Sequence[str]
    verdicts: Sequence[tuple[Verdict, int]]
    scales: Mapping[str, forest.Scale]
    heats: Sequence[heat.Heat]
    trend_targets: Targets
    planes: Sequence[plane.Plane]
    crowded: bool
    whys: Sequence[Explanation]
    untold: Sequence[tuple[str, Sequence[str]]]
    acting: Mapping[str, SettingMeaning]
    telling_settings: Sequence[SettingDifference]
    other_settings: Sequence[SettingDifference]
    shared_notes: Sequence[str]
    anchors: Mapping[tuple[str, str], str]
    facts: Sequence[str]
    host: Sequence[tuple[str, str]]
    linked: Callable[[str], Markup]


def write(assessment: Assessment, path: Path) -> None:
    write_text(path, render(assessment))


def render(assessment: Assessment) -> str:
    return _without_indents(_environment().get_template("report.html.j2").render(vars(_view(assessment))))


def _without_indents(page: str) -> str:
    """Lines of templates are indented for those who write them; what stands in `<pre>` is as it is."""
    parts = _VERBATIM.split(page)
    return "".join(part if place % 2 else _INDENTS.sub("\n", part) for place, part in enumerate(parts))


def render_section(section: Section) -> str:
    """A page of its own, for what several experiments show."""
    return _environment().get_template("section_page.html.j2").render(section=section)


def _view(assessment: Assessment) -> View:
    explanations = _by_effect(assessment)
    acting = _acting(assessment) if explanations else {}
    named = {name for one in explanations for cause in one.causes for name in split_names(cause.what)}
    telling = [
        one
        for one in assessment.settings
        if one.name in named or (_may_act(acting.get(one.name)) and one.known_to_all and not one.is_nearly_equal)
    ]
    return View(
        a=assessment,
        pictures={one.name: _pictures(one) for one in assessment.sections},
        names=[test.name for test in assessment.tests],
        judged=assessment.judged,
        groups=list(dict.fromkeys(test.group for test in assessment.tests)),
        verdicts=words.in_order(words.verdict_counts(assessment.comparisons)),
        scales=_scales(assessment),
        heats=heat.heats(assessment),
        trend_targets=targets_of(
            [facts.target.label for facts in assessment.targets], [facts.target.dbms for facts in assessment.targets]
        ),
        planes=plane.planes(assessment),
        crowded=_are_many(assessment.targets),
        whys=[one for one in explanations if one.likely or one.same],
        untold=_untold(explanations, several=len(assessment.candidates) > 1),
        acting=acting,
        telling_settings=telling,
        other_settings=[one for one in assessment.settings if one not in telling],
        shared_notes=_shared_notes(assessment.tests),
        anchors={(one.test, one.target): f"why-{place}" for place, one in enumerate(explanations)},
        facts=words.experiment_facts(assessment.header, len(assessment.tests), assessment.blocks),
        host=host_words(assessment.host),
        linked=_linker([test.name for test in assessment.tests]),
    )


def _by_effect(assessment: Assessment) -> list[Explanation]:
    """In the order of what changed, what changed least or is no change last."""
    places = {(item.test, item.target): place for place, item in enumerate(changes.changed(assessment.tests))}
    return sorted(assessment.explanations, key=lambda one: places.get((one.test, one.target), len(places)))


def _untold(explanations: Iterable[Explanation], *, several: bool) -> list[tuple[str, list[str]]]:
    """What is said where nothing is known, and of which tests; with their targets where there are `several`."""
    tests: dict[str, list[str]] = {}
    for one in explanations:
        if not one.likely and not one.same:
            name = f"{one.test} on {one.target}" if several else one.test
            tests.setdefault(" ".join(why(one)[1:]), []).append(name)
    return list(tests.items())


def _acting(assessment: Assessment) -> dict[str, SettingMeaning]:
    """Setting that differs → what it does, of those that are known to act on some tests."""
    dbms = [facts.target.dbms for facts in assessment.targets]
    found = {}
    for one in assessment.settings:
        of = next(each for place, each in enumerate(dbms) if place not in one.others)
        if known := settings_named(one.name, of):
            found[one.name] = known[0]
    return found


def _may_act(setting: SettingMeaning | None) -> bool:
    """What acts on connecting alone is told where it is a lead."""
    return setting is not None and setting.tests != "connects"


def _shared_notes(tests: Sequence[TestPart]) -> list[str]:
    """What would be said of each of several tests."""
    counts = Counter(note for test in tests for note in test.notes)
    return [note for note, count in counts.items() if count == len(tests) > 1]


@cache
def _environment() -> Environment:
    """One for all pages: templates are compiled once."""
    environment = Environment(
        loader=PackageLoader("dbversus.report.formats"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.globals.update(_words())
    environment.filters.update(_filters())
    return environment


def _words() -> dict[str, Any]:
    """What templates name and is the same for every experiment."""
    return {
        "w": words,
        "disturbance": disturbance,
        "percents": PERCENTS,
        "changes": CHANGES,
        "glossary": words.GLOSSARY,
        "change_signs": {words.SIGNS[verdict]: verdict for verdict in CHANGES},
        "few": FEW_STATEMENTS,
        "few_figures": FEW_FIGURES,
        "most_whys": changes.MOST_SHOWN,
        "not_again": NOT_MEASURED_AGAIN,
        "forest": forest,
        "intervals": words.INTERVALS,
        "cpu_splits": cpu_splits,
        "causes": causes,
        "leads_left_out": leads_left_out,
        "likely_cause": likely_cause,
        "likely_cause_title": LIKELY_CAUSE,
        "why": why,
        "heat": heat,
        "shades": shades,
        "trend_chart": trend_chart,
        "plane": plane,
        "plane_chart": plane_chart,
        "headings": headings,
        "shown_rows": shown_rows,
        "is_soft": is_soft,
        "is_shaded": _is_shaded,
        "charts": _charts,
        "drawing": drawing,
        "css": Markup(_SPACE_OF_CSS.sub("", _static("report.css"))),
        "js": Markup(_static("report.js")),
    }


def _static(name: str) -> str:
    return files("dbversus.report.formats").joinpath("static", name).read_text(encoding="utf-8")


def _filters() -> dict[str, Any]:
    return {
        "number": words.number,
        "origin": origin_text,
        "loads_note": loads_note,
        "ratio": words.ratio,
        "change": words.change,
        "percent": words.percent,
        "estimate": words.estimate_text,
        "finding": words.finding_text,
        "kind": lambda verdict: str(verdict).replace(" ", "-"),
        "sign": lambda verdict: words.SIGNS[verdict],
        "meaning": lambda verdict: words.MEANINGS[verdict],
        "count_of": _count_of,
        "named": words.named,
        "telling": _telling,
        "sentence": _sentence,
        "class": _class,
        "parted": _parted,
        "remark": _remark,
        "code": _code,
        "grouped": grouped,
    }


def _sentence(note: str) -> str:
    """With a capital, except where it begins with a target's name."""
    first = note.split(" ", 1)[0]
    return note if ":" in first.rstrip(":") else note[:1].upper() + note[1:]


def _parted(note: str) -> tuple[str, str]:
    """What stands before its first semicolon, and the rest."""
    first, _, more = note.partition("; ")
    return first, more


def _remark(note: str) -> str:
    """The first thing in it that is not the usual one, without its explanation; the glossary of verdicts has that."""
    parts = [part for part in note.split("; ") if part != MEASURED_AGAIN]
    return parts[0].partition(": ")[0] if parts else ""


def _code(text: str) -> Markup:
    """Between backticks, as Markdown has it."""
    return Markup(_BACKTICKS.sub(r"<code>\1</code>", str(escape(text))))


def _class(look: str) -> str:
    """Of the style sheet, for the look of a cell."""
    return f"mark-{look}" if look in _MARKS else look if look in (*shades.NAMES, *METALS.values()) else ""


def _is_shaded(table: Table) -> bool:
    """Whether it needs a legend of shades."""
    return any(cell.look in shades.NAMES for row in shown_rows(table) for cell in row)


def _pictures(section: Section) -> list[tuple[str, Markup]]:
    """Captions and pictures; a sentence in the place of one that cannot be drawn."""
    found = []
    for chart in section.charts:
        try:
            picture = Markup(chart.draw())
        except Exception as error:
            picture = escape(f"This chart could not be drawn ({type(error).__name__}: {error}).")
        found.append((chart.caption, picture))
    return found


def _linker(names: Sequence[str]) -> Callable[[str], Markup]:
    """Test names in a sentence become links to their parts."""
    alternatives = "|".join(re.escape(str(escape(name))) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w&-])({alternatives})(?![\w-])(?!@)") if names else None

    def linked(sentence: str) -> Markup:
        before, colon, after = str(_code(sentence)).partition(": ")
        text = pattern.sub(r'<a href="#test-\1">\1</a>', after) if pattern else after
        return Markup(before + colon + text)

    return linked


def _count_of(figure: Figure) -> str:
    """`4`, or `4 / 3` where targets have different numbers of blocks."""
    counts = [estimate.n for estimate in figure.estimates.values()]
    return str(counts[0]) if len(set(counts)) == 1 else " / ".join(map(str, counts))


def _are_many(targets: Sequence[TargetFacts]) -> bool:
    """More than there are colours."""
    return len(targets) > drawing.KINDS


def _telling(figures: Sequence[Figure]) -> tuple[list[Figure], list[Figure]]:
    """Those that are judged, or in which a target is shown to differ; and the others. All, where there is nothing to compare."""
    if not any(figure.findings for figure in figures):
        return list(figures), []
    told = [
        figure
        for figure in figures
        if any(found.judged or found.verdict in CHANGES for found in figure.findings.values())
    ]
    return told, [figure for figure in figures if figure not in told]


def _scales(assessment: Assessment) -> dict[str, forest.Scale]:
    by_metric: dict[str, list[Finding]] = {metric.name: [] for metric in assessment.judged}
    for comparison in assessment.comparisons:
        for name in by_metric:
            if name in comparison.findings:
                by_metric[name].append(comparison.findings[name])
    return {name: forest.scale_for(findings) for name, findings in by_metric.items()}


def _charts(test: TestPart, targets: Sequence[TargetFacts]) -> list[tuple[str, Markup]]:
    """Captions and pictures; a picture is empty where nothing was measured. Blocks of many targets would lie over each other."""
    labels = [facts.target.label for facts in targets]
    plotted = PLOTTED if test.slots and not _are_many(targets) else ()
    found = [(_CHART_TITLES[metric], slot_chart(test, metric, labels)) for metric in plotted]
    if test.latency:
        found.append(("Response time, share of operations at or below", time_chart(test, labels)))
    for course in test.courses:
        if is_drawn(course):
            found += [
                (course_title(course, figure), course_chart(course, figure, labels, test.events))
                for figure in (RATE, SLOWEST)
            ]
    return found
