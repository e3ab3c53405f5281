"""post.md and what lies beside it: what was found in short, sentences, charts and lists by phase, tables, caveats, claims.

In the manner of the reference's posts; every sentence is made of what was measured.
"""

import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dbversus.builds.target import same_targets
from dbversus.files import folder_within, write_text
from dbversus.importing.names import version_of
from dbversus.report.formats import reference
from dbversus.report.formats.layouts.files import INSERT, JANUARY_2021, NOW, files
from dbversus.report.formats.markdown import (
    candidate_parts,
    code,
    escape,
    failures_parts,
    legend,
    loads_parts,
    named_parts,
    own_figures,
    prose,
    table,
)
from dbversus.report.formats.post import told
from dbversus.report.formats.post.aspects import Aspect, aspects
from dbversus.report.formats.post.lists import OPEN, lists
from dbversus.report.formats.post.medals import medals_parts
from dbversus.report.formats.post.phases import Case, Group, Phase, names, phases
from dbversus.report.formats.post.pictures import OURS, Picture, pictures
from dbversus.report.model import Assessment
from dbversus.report.parts.experiment import disturbance
from dbversus.report.parts.experiment.loads import times_note
from dbversus.report.parts.notes.known_bugs import bug_notes
from dbversus.report.words import MOST_NAMED, experiment_facts, flat_facts, listing, title_of
from dbversus.results.schema import IMPORTED_SUITE
from dbversus.stats.across.clients import case_of
from dbversus.stats.model import CHANGES, DECIDED, Verdict
from dbversus.units import count_of, show_bytes

_WITH_VERDICT = (*DECIDED, Verdict.NOT_REPLICATED, Verdict.NO_STEADY_STATE)
_DOP = re.compile(r"\.dop(\d+)\b")
_SUMMARIES = {
    JANUARY_2021: (
        "Of January 2021",
        {"o.qps.abs": "queries/s", "o.qps.rel": "relative to the base", "o.met": "hardware per operation"},
    ),
    NOW: ("Of today", {"qps.abs": "queries/s", "qps.rel": "relative to the base", "o.met": "hardware per operation"}),
    INSERT: ("Of the Insert Benchmark", {"mrg.some": "all steps", "rel.some": "relative to the base"}),
}


def write(assessment: Assessment, path: Path) -> None:
    """Pictures and the reference's summaries go to a folder of the post's name."""
    folder = path.with_suffix("")
    drawn = pictures(assessment)
    for picture in drawn:
        write_text(folder / picture.file, picture.svg, within=path.parent)
    if folder.is_dir():
        _remove_earlier(folder, [picture.file for picture in drawn])
    summaries = files(assessment.layouts) if assessment.layouts else {}
    if summaries:
        with folder_within(folder, path.parent):
            reference.write(assessment, folder / reference.FOLDER)
    text = render(assessment, drawn, list(summaries), folder.name)
    write_text(path, text)


def _remove_earlier(folder: Path, made: Container[str]) -> None:
    """Pictures of an earlier report; all other files stay."""
    with folder_within(folder, folder.parent) as opened:
        for place, _, names, inner in os.fwalk(".", dir_fd=opened):  # which follows no links
            for name in names if place == "." else ():
                if OURS.fullmatch(name) and name not in made:
                    os.unlink(name, dir_fd=inner)


def render(
    assessment: Assessment, drawn: Sequence[Picture] = (), summaries: Sequence[str] = (), folder: str = "post"
) -> str:
    """`summaries`: paths of the reference's, in their folder within `folder`, where the pictures are too."""
    told_phases, shown = phases(assessment), aspects(assessment)
    parts = [f"# {escape(_title(assessment))}", *_in_short(assessment, told_phases, shown), *_compared(assessment)]
    parts += [_link_of(one, folder) for one in drawn if not one.phase]
    if assessment.since:
        parts += ["## Since the earlier take", "\n".join(f"- {prose(line)}" for line in assessment.since)]
    for phase in told_phases if assessment.candidates else ():
        parts += _phase(assessment, phase, shown, [one for one in drawn if one.phase == phase.title], folder)
    parts += named_parts(assessment, "after_writes")
    parts += medals_parts(assessment, _fewest_clients(told_phases), shown)
    parts += [*_tables(assessment), *_links(summaries, folder), *_causes(assessment), *_caveats(assessment)]
    parts += named_parts(assessment, "claims")
    parts += failures_parts(assessment)
    if assessment.command:
        parts += ["## To repeat it", code(assessment.command)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _link_of(picture: Picture, folder: str) -> str:
    return f"![{escape(picture.title)}]({folder}/{picture.file})"


def _targets(assessment: Assessment) -> list[str]:
    """Those that are compared, by name."""
    return list(names(assessment).values())[1:]


def _base(assessment: Assessment) -> str:
    return names(assessment)[assessment.base.label]


def _title(assessment: Assessment) -> str:
    return title_of(assessment.header, _base(assessment), _targets(assessment))


def _fewest_clients(told_phases: Sequence[Phase]) -> list[Case]:
    return [case for phase in told_phases for case in phase.cases if case.clients == phase.clients[0]]


def _in_short(assessment: Assessment, told_phases: Sequence[Phase], shown: Sequence[Aspect]) -> list[str]:
    """What became of each target; with many, in a table."""
    base, cases, targets = _base(assessment), _fewest_clients(told_phases), _targets(assessment)
    if not targets:
        return ["## In short", escape(f"{base} was measured alone: there are figures of its own, and no ratios.")]
    counts = {case.clients for case in cases} - {None}
    of_clients = f"Figures are those with {count_of(min(filter(None, counts)), 'client')}." if counts else ""
    if len(targets) > MOST_NAMED:
        rows = [[escape(target), *map(escape, told.in_short_cells(cases, target, shown))] for target in targets]
        heads = ["target", *(f"{one.said}, median (from – to)" for one in shown if one.always), "verdicts"]
        return ["## In short", table(heads, rows), of_clients, _how_sure(assessment)]
    said = {target: " ".join(told.in_short(cases, target, base, shown)) for target in targets}
    lines = [f"- {escape(_bullet(target, sentences))}" for target, sentences in said.items()]
    return ["## In short", "\n".join(lines), of_clients, _how_sure(assessment)]


def _bullet(name: str, sentences: str) -> str:
    """`postgres:13: throughput is …`"""
    said = sentences or "Nothing was measured."
    return f"{name}: {said[:1].lower() if said[1:2].islower() else said[:1]}{said[1:]}"


def _how_sure(assessment: Assessment) -> str:
    if _is_replicated(assessment):
        return f"In the lists, {OPEN} stands behind a ratio without a verdict; intervals are in the tables below them."
    return "No figure is replicated: ratios have no intervals, and nothing tells how much of them is chance."


def _is_replicated(assessment: Assessment) -> bool:
    """Whether there is anything but the ratios, which the lists have."""
    return not assessment.findings or any(one.verdict is not Verdict.NOT_REPLICATED for one in assessment.findings)


def _compared(assessment: Assessment) -> list[str]:
    facts = "; ".join(experiment_facts(assessment.header, len(assessment.tests), assessment.blocks))
    rows = [
        [
            "base" if one.target.label == assessment.base.label else f"col-{number}",
            escape(one.target.label),
            escape(one.target.version or version_of(one.target.label) or "–"),
            escape(one.target.config or "–"),
        ]
        for number, one in enumerate(assessment.targets)
    ]
    suite = f" Suite {assessment.header.suite}." if assessment.header.suite not in ("", IMPORTED_SUITE) else ""
    return [
        "## What was compared, and how",
        escape(f"{facts}; dbversus {assessment.header.dbversus}.{suite}"),
        prose(assessment.outcome),
        escape(_host(assessment.host)),
        table(["", "target", "version", "config"], rows),
    ]


def _host(host: Mapping[str, Any]) -> str:
    """`Host: Intel Xeon, 2 cores; 25.3 GB of memory; ext4; Debian 12, kernel 6.1.`; empty where nothing is known."""
    facts = dict(flat_facts(host))
    known = [
        ", ".join(
            filter(None, [facts.get("cpu.model", ""), f"{facts['cpu.cores']} cores" if "cpu.cores" in facts else ""])
        ),
        f"{show_bytes(float(facts['memory.total_bytes']))} of memory" if "memory.total_bytes" in facts else "",
        facts.get("file_system.type", ""),
        ", ".join(
            filter(None, [facts.get("distribution", ""), f"kernel {facts['kernel']}" if "kernel" in facts else ""])
        ),
    ]
    said = "; ".join(filter(None, known))
    return f"Host: {said}." if said else ""


def _phase(
    assessment: Assessment, phase: Phase, shown: Sequence[Aspect], drawn: Sequence[Picture], folder: str
) -> list[str]:
    """Sentences by group of tests, charts, and lists with all ratios."""
    lines = [line for group in phase.groups for line in _group(assessment, group, phase, shown)]
    parts = [f"## {escape(phase.title)}", "\n".join(lines)]
    parts += [_link_of(one, folder) for one in drawn]
    return [*parts, *lists(phase.cases, _targets(assessment), shown)]


def _group(assessment: Assessment, group: Group, phase: Phase, shown: Sequence[Aspect]) -> Iterator[str]:
    """A line for each target, below the group's where there are several; one for all where there are too many."""
    targets, base = _targets(assessment), _base(assessment)
    tests = told.tests_of(group)
    head = f"**{escape(group.title)}**{f' ({escape(tests)})' if tests else ''}"
    if len(targets) > MOST_NAMED:
        fewest = group.with_clients(phase.clients[0])
        yield f"- {_bullet(head, escape(' '.join(told.over_targets(fewest, targets, base, shown))))}"
        return
    said = {target: escape(" ".join(_of_target(group, phase, target, base, shown))) for target in targets}
    if len(targets) == 1:
        yield f"- {_bullet(head, said[targets[0]])}"
        return
    yield f"- {head}"
    for target, sentences in said.items():
        yield f"  - {_bullet(escape(target), sentences)}"


def _of_target(group: Group, phase: Phase, target: str, base: str, shown: Sequence[Aspect]) -> Iterator[str]:
    """With the fewest clients, and throughput and CPU with the most."""
    fewest, most = phase.clients[0], phase.clients[-1]
    yield from told.group_sentences(group.with_clients(fewest), target, base, shown)
    if most != fewest and most is not None:
        always = [one for one in shown if one.always]
        more = told.group_sentences(group.with_clients(most), target, "", always)
        yield from (_bullet(f"With {count_of(most, 'client')}", sentence) for sentence in more[:1])
        yield from more[1:]


def _tables(assessment: Assessment) -> list[str]:
    parts = []
    if not assessment.candidates and assessment.tests:
        parts += ["## Figures", own_figures(assessment)]
    of_candidates: list[str] = []
    for facts in assessment.candidates if _is_replicated(assessment) else ():
        title, _, rows, *_ = candidate_parts(assessment, facts)  # its sentences stand above
        of_candidates += [title, rows]
    if of_candidates and len(assessment.candidates) > MOST_NAMED:
        of_candidates = [
            "<details><summary>Verdicts and intervals of each target</summary>",
            *of_candidates,
            "</details>",
        ]
    parts += [*of_candidates, legend(assessment) if _is_replicated(assessment) else ""]
    parts += named_parts(assessment, "matrix")
    parts += named_parts(assessment, "summary")
    parts += named_parts(assessment, "sizes")
    parts += named_parts(assessment, "scaleup")
    parts += named_parts(assessment, "generations")
    return [*parts, *loads_parts(assessment)]


def _links(summaries: Sequence[str], folder: str) -> list[str]:
    """The reference's own summaries, absolute, relative and per operation, which lie beside the post."""
    lines = []
    for place, (of, kinds) in _SUMMARIES.items():
        links = [
            f"[{what}{_clients_of(path)}]({folder}/{reference.FOLDER}/{path})"
            for begins, what in kinds.items()
            for path in summaries
            if path.startswith(f"{place}/{begins}") and not path.endswith(".csv")
        ]
        if links:
            lines.append(f"- {of}: {', '.join(links)}.")
    if not lines:
        return []
    readme = f"{folder}/{reference.FOLDER}/{reference.README}"
    said = (
        f"As the reference's scripts print them; [README]({readme}) says what the files call targets, and what differs."
    )
    return ["## Summaries", said, "\n".join(lines)]


def _clients_of(path: str) -> str:
    """Of a summary that is one of several: each has the tests with one number of clients."""
    found = _DOP.search(path)
    return f", {count_of(int(found[1]), 'client')}" if found else ""


def _causes(assessment: Assessment) -> list[str]:
    """What changed beside the verdict, and settings and plans that differ: where explain/ names any."""
    called = names(assessment)
    lines = [
        f"- {escape(item.test)} on {escape(called[item.target])}: {prose('; '.join(item.notes))}"
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
    targets = [
        replace(one.target, version=one.target.version or version_of(one.target.label)) for one in assessment.targets
    ]
    bugs: dict[str, list[str]] = {}
    for test in assessment.tests:
        for note in bug_notes(targets, test.name):
            name, _ = case_of(test.name) or (test.name, None)
            bugs.setdefault(note, []).append(name)
    lines = [f"{note} ({listing(list(dict.fromkeys(tests)))})." for note, tests in bugs.items()]
    lines += [
        *same_targets(assessment.header.told_apart).values(),
        *assessment.chosen_base,
        *filter(None, [assessment.code_layout]),
        *disturbance.sentences(assessment),
        *_undecided(assessment),
        *assessment.data_state,
    ]
    lines += [f"Not measured: {item}." for item in assessment.not_measured]
    lines += [note for note in (times_note(assessment.loads), assessment.calibration) if note]
    return ["## Caveats", "\n".join(f"- {prose(line)}" for line in lines)]


def _undecided(assessment: Assessment) -> Iterator[str]:
    called = names(assessment)
    for facts in assessment.candidates:
        own = [item.test for item in assessment.comparisons if item.target == facts.target.label]
        left = [
            item.test
            for item in assessment.comparisons
            if item.target == facts.target.label and item.verdict not in _WITH_VERDICT
        ]
        if left:
            yield f"{len(left)} of {count_of(len(own), 'test')} have no verdict on {called[facts.target.label]}: {listing(left)}."
