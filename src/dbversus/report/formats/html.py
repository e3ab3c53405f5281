"""report.html: one self-contained file that works offline, and without its script too: charts are static pictures."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dbversus.report import words
from dbversus.report.charts import drawing, forest
from dbversus.report.charts.course import FEWEST_SECONDS, RATE, SLOWEST, course_chart, course_title
from dbversus.report.charts.slots import slot_chart
from dbversus.report.charts.times import time_chart
from dbversus.report.figures import PERCENTS, PLOTTED
from dbversus.report.formats import (
    events_table,
    matrix_table,
    objects_table,
    response_table,
    roles_table,
    scaleup_table,
    side_by_side_table,
    sizes_table,
    steps_table,
)
from dbversus.report.generations import words as generations_words
from dbversus.report.model import Assessment, Estimate, Figure, TargetFacts, TestPart
from dbversus.report.pairs import Generations
from dbversus.report.parts import disturbance
from dbversus.report.parts.loads import origin_text, times_note
from dbversus.report.side_by_side.model import SideBySide
from dbversus.stats.metrics import CPU, DRAIN_CPU, THROUGHPUT
from dbversus.stats.model import Finding, Metric, Verdict

_CHART_TITLES = {
    CPU: "CPU per operation against the base: slots by block",
    THROUGHPUT: "Throughput against the base: slots by block",
}
_CPU_SPLITS = (
    ("server_user_us_per_op", "server_system_us_per_op"),
    ("server_foreground_cpu_us_per_op", "server_background_cpu_us_per_op", DRAIN_CPU),
)


@dataclass(frozen=True)
class View:
    """One experiment as the templates of report.html read it: each field under its own name."""

    a: Assessment
    matrix_tables: Sequence[matrix_table.Table]
    matrix_notes: Sequence[str]
    scaleup_tables: Sequence[matrix_table.Table]
    scaleup_notes: Sequence[str]
    sizes_tables: Sequence[matrix_table.Table]
    sizes_sentences: Sequence[str]
    sizes_notes: Sequence[str]
    judged: Sequence[Metric]
    groups: Sequence[str]
    verdicts: Sequence[tuple[Verdict, int]]
    scales: Mapping[str, forest.Scale]
    facts: Sequence[str]
    host: Sequence[tuple[str, str]]


def write(assessment: Assessment, path: Path) -> None:
    path.write_text(render(assessment), encoding="utf-8")


def render(assessment: Assessment) -> str:
    environment = _environment()
    environment.filters["linked"] = _linker([test.name for test in assessment.tests])
    return environment.get_template("report.html.j2").render(vars(_view(assessment)))


def render_generations(generations: Generations) -> str:
    """A page of its own, for generations that were measured in two experiments."""
    return _environment().get_template("generations_page.html.j2").render(g=generations)


def render_side_by_side(found: SideBySide) -> str:
    """A page of its own."""
    shown = side_by_side_table
    return (
        _environment()
        .get_template("side_by_side_page.html.j2")
        .render(
            s=found,
            title=shown.title(found),
            sentences=shown.sentences(found),
            tables=shown.tables(found),
            notes=shown.notes(found),
        )
    )


def _view(assessment: Assessment) -> View:
    matrix, scaleup = assessment.matrix, assessment.scaleup
    return View(
        a=assessment,
        matrix_tables=matrix_table.tables(matrix) if matrix else [],
        matrix_notes=matrix_table.notes(matrix) if matrix else [],
        scaleup_tables=scaleup_table.tables(scaleup) if scaleup else [],
        scaleup_notes=scaleup_table.notes(scaleup) if scaleup else [],
        sizes_tables=sizes_table.tables(assessment.sizes) if assessment.sizes else [],
        sizes_sentences=sizes_table.sentences(assessment.sizes) if assessment.sizes else [],
        sizes_notes=sizes_table.notes() if assessment.sizes else [],
        judged=assessment.judged,
        groups=list(dict.fromkeys(test.group for test in assessment.tests)),
        verdicts=words.in_order(Counter(item.verdict for item in assessment.comparisons)),
        scales=_scales(assessment),
        facts=words.experiment_facts(assessment.header, len(assessment.tests), assessment.blocks),
        host=_flat(assessment.host),
    )


def _environment() -> Environment:
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
        "gw": generations_words,
        "disturbance": disturbance,
        "percents": PERCENTS,
        "forest": forest,
        "spoken": forest.spoken,
        "intervals": words.INTERVALS,
        "cpu_splits": _cpu_splits,
        "roles_table": roles_table,
        "objects_table": objects_table,
        "response_table": response_table,
        "steps_table": steps_table,
        "events_table": events_table,
        "charts": _charts,
        "drawing": drawing,
        "severity": {verdict: rank for rank, verdict in enumerate(words.SEVERITY)},
        "css": Markup(_static("report.css")),
        "js": Markup(_static("report.js")),
    }


def _static(name: str) -> str:
    return files("dbversus.report.formats").joinpath("static", name).read_text(encoding="utf-8")


def _filters() -> dict[str, Any]:
    return {
        "number": words.number,
        "origin": origin_text,
        "times_note": times_note,
        "ratio": words.ratio,
        "change": words.change,
        "percent": words.percent,
        "estimate": words.estimate_text,
        "finding": words.finding_text,
        "kind": lambda verdict: str(verdict).replace(" ", "-"),
        "sign": lambda verdict: words.SIGNS[verdict],
        "meaning": lambda verdict: words.MEANINGS[verdict],
        "count_of": _count_of,
        "sentence": _sentence,
    }


def _sentence(note: str) -> str:
    """With a capital, except where it begins with a target's name."""
    first = note.split(" ", 1)[0]
    return note if ":" in first.rstrip(":") else note[:1].upper() + note[1:]


def _linker(names: Sequence[str]) -> Any:
    """Test names in a sentence become links to their parts."""
    alternatives = "|".join(re.escape(str(escape(name))) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w&-])({alternatives})(?![\w-])(?!@)") if names else None

    def linked(sentence: str) -> Markup:
        before, colon, after = str(escape(sentence)).partition(": ")
        text = pattern.sub(r'<a href="#test-\1">\1</a>', after) if pattern else after
        return Markup(before + colon + text)

    return linked


def _count_of(figure: Figure) -> str:
    """`4`, or `4 / 3` where targets have different numbers of blocks."""
    counts = [estimate.n for estimate in figure.estimates.values()]
    return str(counts[0]) if len(set(counts)) == 1 else " / ".join(map(str, counts))


def _scales(assessment: Assessment) -> dict[str, forest.Scale]:
    by_metric: dict[str, list[Finding]] = {metric.name: [] for metric in assessment.judged}
    for comparison in assessment.comparisons:
        for name in by_metric:
            if name in comparison.findings:
                by_metric[name].append(comparison.findings[name])
    return {name: forest.scale_for(findings) for name, findings in by_metric.items()}


def _flat(content: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested facts as (dotted name, text)."""
    lines: list[tuple[str, str]] = []
    for name, value in content.items():
        if isinstance(value, Mapping):
            lines += _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            lines.append((f"{prefix}{name}", ", ".join(map(str, value)) or "none"))
        else:
            lines.append((f"{prefix}{name}", "unknown" if value is None else str(value)))
    return lines


def _cpu_splits(test: TestPart, targets: Sequence[TargetFacts]) -> list[list[dict[str, Any]]]:
    """CPU per operation as bars: per split one entry per target, in shares of the widest.

    What was drained stands beside foreground and background: it is part of neither.
    """
    by_name = {figure.metric: figure for figure in test.figures}
    splits = []
    for names in _CPU_SPLITS:
        parts = [by_name.get(name) for name in names]
        known = [figure for figure in parts if figure is not None]
        if not known:
            continue
        totals = {facts.target.label: sum(_value(figure, facts.target.label) for figure in known) for facts in targets}
        widest = max(totals.values()) or 1.0
        splits.append([_bar(known, facts.target.label, totals[facts.target.label], widest) for facts in targets])
    return splits


def _value(figure: Figure, label: str) -> float:
    return figure.estimates[label].value or 0.0


def _bar(known: Sequence[Figure], label: str, total: float, widest: float) -> dict[str, Any]:
    pieces = [
        {
            "title": figure.title.removeprefix("server ").removesuffix(" CPU per op"),
            "value": _value(figure, label),
            "width": 100 * _value(figure, label) / widest,
        }
        for figure in known
    ]
    return {"label": label, "total": total, "pieces": pieces, "estimate": Estimate(total, None, None, 0)}


def _charts(test: TestPart, targets: Sequence[TargetFacts]) -> list[tuple[str, Markup]]:
    """Captions and pictures; a picture is empty where nothing was measured."""
    labels = [facts.target.label for facts in targets]
    found = [(_CHART_TITLES[metric], slot_chart(test, metric, labels)) for metric in PLOTTED if test.slots]
    if test.latency:
        found.append(("Response time, share of operations at or below", time_chart(test, labels)))
    for course in test.courses:
        if any(len(seconds) >= FEWEST_SECONDS for seconds in course.targets.values()):
            found += [
                (course_title(course, figure), course_chart(course, figure, labels, test.events))
                for figure in (RATE, SLOWEST)
            ]
    return found
