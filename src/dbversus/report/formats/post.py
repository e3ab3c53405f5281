"""post.md and the pictures beside it: what was compared, ratios by phase, tables, charts, what changed, caveats, claims.

In the manner of the reference's posts; every sentence is made of what was measured.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from dbversus.files import write_text
from dbversus.report.charts import standing
from dbversus.report.formats.markdown import (
    candidate_parts,
    claims_parts,
    code,
    escape,
    failures_parts,
    generations_parts,
    legend,
    loads_parts,
    steps_parts,
    table,
    tables_parts,
)
from dbversus.report.formats.tables import matrix_table
from dbversus.report.model import Assessment, Comparison, TestPart
from dbversus.report.parts.each_test.groups import GROUPS
from dbversus.report.parts.experiment import disturbance
from dbversus.report.parts.experiment.loads import times_note
from dbversus.report.parts.notes.known_bugs import bug_notes
from dbversus.report.words import SHORT_TITLES, experiment_facts, listing
from dbversus.results.schema import IMPORTED_SUITE
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import CHANGES, DECIDED, Finding, Verdict
from dbversus.stats.values.imported import MACHINE_CPU_SHARE
from dbversus.units import count_of

PICTURED = (THROUGHPUT, CPU)
_LISTED = (*PICTURED, MACHINE_CPU_SHARE.name)
_UNMARKED = (*DECIDED, Verdict.NOT_REPLICATED)
_FILES = {THROUGHPUT: "throughput", CPU: "cpu"}
_TITLES = {
    THROUGHPUT: "Throughput",
    CPU: "Server CPU per operation",
    MACHINE_CPU_SHARE.name: "CPU of machine and client per operation",
}


def write(assessment: Assessment, path: Path) -> None:
    """Pictures go to a folder of the post's name."""
    folder = path.with_suffix("")
    pictures = dict(_pictures(assessment))
    for name, drawn in pictures.items():
        write_text(folder / name, drawn, within=path.parent)
    write_text(path, render(assessment, [f"{folder.name}/{name}" for name in pictures]))


def render(assessment: Assessment, pictures: Sequence[str] = ()) -> str:
    parts = [f"# {escape(assessment.title)}", *_compared(assessment), *_changed(assessment)]
    parts += [
        *_lists(assessment),
        *_charts(assessment, pictures),
        *_tables(assessment),
        *_causes(assessment),
        *_caveats(assessment),
    ]
    parts += claims_parts(assessment.posts)
    parts += failures_parts(assessment)
    if assessment.command:
        parts += ["## To repeat it", code(assessment.command)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _compared(assessment: Assessment) -> list[str]:
    facts = "; ".join(experiment_facts(assessment.header, len(assessment.tests), assessment.blocks))
    rows = [
        [
            "base" if one.target.label == assessment.base.label else f"col-{number}",
            escape(one.target.label),
            escape(one.target.version or "–"),
            escape(one.target.config or "–"),
        ]
        for number, one in enumerate(assessment.targets)
    ]
    suite = f" Suite {assessment.header.suite}." if assessment.header.suite not in ("", IMPORTED_SUITE) else ""
    return [
        "## What was compared, and how",
        escape(f"{facts}; dbversus {assessment.header.dbversus}.{suite}"),
        escape(assessment.outcome),
        table(["", "target", "version", "config"], rows),
    ]


def _changed(assessment: Assessment) -> list[str]:
    if not assessment.sentences:
        return []
    return ["## What changed", "\n".join(f"- {escape(sentence)}" for sentence in assessment.sentences)]


def _lists(assessment: Assessment) -> list[str]:
    """Ratios by phase, a column per target, the test's name last: the reference's own form."""
    if not assessment.candidates:
        return []
    said = f"Relative to {assessment.base.label}"
    if assessment.header.suite != IMPORTED_SUITE:
        said += "; intervals and counts are in the tables. A ? stands behind what is undecided"
    parts = ["## Ratios by phase", escape(f"{said}.")]
    heads = "  ".join(f"col-{number}".ljust(6) for number, _ in enumerate(assessment.candidates, 1)).rstrip()
    for title, tests in _phases(assessment.tests):
        parts.append(f"### {escape(title)}")
        for metric in _LISTED:
            if own := [test for test in tests if any(metric in item.findings for item in test.comparisons)]:
                rows = [heads, *(_line(assessment, test, metric) for test in own)]
                parts += [f"{_TITLES[metric]}:", code("\n".join(rows))]
    return parts


def _phases(tests: Sequence[TestPart]) -> Iterator[tuple[str, list[TestPart]]]:
    """Tests that follow each other and all write, or all read; tests of other kinds by their group."""
    seen: list[str] = []
    for kind, found in groupby(tests, lambda test: _kind(test.group)):
        yield _phase_title(kind, seen, any(_kind(test.group) == "writes" for test in tests)), list(found)
        seen.append(kind)


def _phase_title(kind: str, seen: Sequence[str], has_writes: bool) -> str:
    if kind == "reads" and has_writes:
        return f"Reads {'after' if 'writes' in seen else 'before'} writes"
    return f"More {kind}" if kind in seen else kind.capitalize()


def _kind(group: str) -> str:
    if group == GROUPS[3]:
        return "writes"
    return "reads" if group in GROUPS[:3] else group


def _line(assessment: Assessment, test: TestPart, metric: str) -> str:
    found = {item.target: item for item in test.comparisons}
    cells = [_short(found.get(one.target.label), metric) for one in assessment.candidates]
    return "  ".join([*(cell.ljust(6) for cell in cells), test.name])


def _short(comparison: Comparison | None, metric: str) -> str:
    finding = comparison.findings.get(metric) if comparison else None
    if comparison is None or finding is None or finding.ratio is None:
        return "–"
    if comparison.verdict in (Verdict.WRONG_RESULT, Verdict.FAILED, Verdict.SLA_FAILED):
        return "!"
    return f"{finding.ratio:.2f}{'' if finding.verdict in _UNMARKED else '?'}"


def _pictures(assessment: Assessment) -> Iterator[tuple[str, str]]:
    """File → SVG; none without targets to compare."""
    for metric in PICTURED:
        findings: dict[str, dict[str, Finding]] = {}
        for item in assessment.comparisons:
            if finding := item.findings.get(metric):
                findings.setdefault(item.target, {})[item.test] = finding
        if findings:
            title = f"{SHORT_TITLES[metric]} ÷ {assessment.base.label}"
            yield f"{_FILES[metric]}.svg", standing.draw(title, [test.name for test in assessment.tests], findings)


def _charts(assessment: Assessment, pictures: Sequence[str]) -> list[str]:
    if not pictures:
        return []
    imported = assessment.header.suite == IMPORTED_SUITE
    which = "Ratios" if imported else "Ratios with their intervals"
    words = f"{which}; the band is the margin.{'' if imported else ' Hollow dots are not decided.'}"
    return ["## Charts", words, *(f"![{Path(name).stem} by test]({name})" for name in pictures)]


def _tables(assessment: Assessment) -> list[str]:
    parts = ["## Tables"] if assessment.candidates or assessment.steps else []
    for facts in assessment.candidates:
        title, _, rows = candidate_parts(assessment, facts)  # its sentences stand above
        parts += [f"#{title}", rows]
    parts.append(legend(assessment))
    if assessment.matrix:
        parts += tables_parts(matrix_table.tables(assessment.matrix), matrix_table.notes(assessment.matrix))
    if assessment.steps:
        parts += steps_parts(assessment.steps, assessment.base.label)
    if assessment.generations:
        parts += generations_parts(assessment.generations)
    return [*parts, *loads_parts(assessment)]


def _causes(assessment: Assessment) -> list[str]:
    """What changed beside the verdict, and settings and plans that differ: where explain/ names any."""
    lines = [
        f"- {escape(item.test)} on {escape(item.target)}: {escape('; '.join(item.notes))}"
        for item in assessment.comparisons
        if item.notes and item.verdict in CHANGES
    ]
    known = [one.name for one in assessment.settings if one.known_to_all]
    if known:
        lines.append(f"- Settings that differ: {escape(listing(known, most=len(known)))}.")
    if assessment.plans:
        lines.append(f"- Plans that differ: {escape(listing([one.statement for one in assessment.plans]))}.")
    return ["## Where to look for causes", "\n".join(lines)] if lines else []


def _caveats(assessment: Assessment) -> list[str]:
    targets = [facts.target for facts in assessment.targets]
    bugs: dict[str, list[str]] = {}
    for test in assessment.tests:
        for note in bug_notes(targets, test.name):
            bugs.setdefault(note, []).append(test.name)
    lines = [f"{note} ({listing(tests)})." for note, tests in bugs.items()]
    lines += [
        *assessment.chosen_base,
        *filter(None, [assessment.code_layout]),
        *disturbance.sentences(assessment),
        *_undecided(assessment),
        *assessment.data_state,
    ]
    lines += [f"Not measured: {item}." for item in assessment.not_measured]
    lines += [note for note in (times_note(assessment.loads), assessment.calibration) if note]
    return ["## Caveats", "\n".join(f"- {escape(line)}" for line in lines)]


def _undecided(assessment: Assessment) -> Iterator[str]:
    for facts in assessment.candidates:
        own = [item.test for item in assessment.comparisons if item.target == facts.target.label]
        left = [
            item.test
            for item in assessment.comparisons
            if item.target == facts.target.label and item.verdict not in (*_UNMARKED, Verdict.NO_STEADY_STATE)
        ]
        if left:
            yield f"{len(left)} of {count_of(len(own), 'test')} have no verdict on {facts.target.label}: {listing(left)}."
