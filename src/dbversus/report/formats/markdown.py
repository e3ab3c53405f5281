"""report.md: the summary, the verdict table and the surroundings, for issues and pull requests."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from dbversus.explain.cause import Explanation
from dbversus.files import write_text
from dbversus.report.model import Assessment, TargetFacts
from dbversus.report.parts.experiment import disturbance
from dbversus.report.parts.experiment.loads import loads_note, origin_text
from dbversus.report.parts.notes.cause_words import LIKELY_CAUSE, leads_left_out, likely_cause, why
from dbversus.report.parts.overview import heat
from dbversus.report.section import Section
from dbversus.report.sections import causes
from dbversus.report.table import Table
from dbversus.report.texts import headings, texts
from dbversus.report.words import (
    SHORT_TITLES,
    SIGNS,
    estimate_text,
    experiment_facts,
    finding_text,
    not_compared,
    number,
    ratio,
    ratios_text,
    sla_mark,
    verdict_legend,
)
from dbversus.stats.comparison import Comparison
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT
from dbversus.stats.model import Metric
from dbversus.units import count_of


def write(assessment: Assessment, path: Path) -> None:
    write_text(path, render(assessment))


def render(assessment: Assessment) -> str:
    parts = [f"# {escape(assessment.title)}", _experiment_line(assessment), prose(assessment.outcome)]
    parts.append(prose(" ".join(assessment.chosen_base)))
    parts += [part for one in assessment.sections if one.is_first for part in section_parts(one)]
    parts += _heats(assessment)
    for facts in assessment.candidates:
        parts += candidate_parts(assessment, facts)
    if not assessment.candidates:
        parts.append(own_figures(assessment))
    parts += [legend(assessment), prose(assessment.code_layout)]
    parts += [part for one in assessment.sections if not one.is_first for part in section_parts(one)]
    parts += [
        *_notes(assessment),
        *failures_parts(assessment),
        *loads_parts(assessment),
        *differences_parts(assessment),
    ]
    parts += _surroundings(assessment)
    return "\n\n".join(part for part in parts if part) + "\n"


_NO_CODE = frozenset("|<>&\\\n\r")
"""Would end a cell of a table or the line, or be read as HTML by some."""
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
"""Where a forge would send word to whoever is called so."""


def escape(text: str) -> str:
    """Text of servers, files and users, shown as it is: no HTML, no Markdown, one line."""
    plain = " ".join(text.split(" ")).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    escaped = re.sub(r"([\\`*_{}\[\]|#])", r"\\\1", " ".join(plain.splitlines()))
    return _MENTION.sub("@\u200b", escaped)


def prose(text: str) -> str:
    """A sentence of ours, in which code stands between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0 or any(not part or _NO_CODE & set(part) for part in parts[1::2]):
        return escape(text)
    return "".join(f"`{part}`" if number % 2 else escape(part) for number, part in enumerate(parts))


def code(text: str) -> str:
    """A fenced block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _experiment_line(assessment: Assessment) -> str:
    facts = experiment_facts(assessment.header, len(assessment.tests), assessment.blocks)
    return escape(f"{'; '.join(facts)}; dbversus {assessment.header.dbversus}.")


def section_parts(section: Section) -> list[str]:
    """Each table under a heading of its own; sentences under the first."""
    if not section.has_text:
        return []
    said = "\n".join(f"- {prose(sentence)}" for sentence in section.sentences)
    titles = [f"## {escape(one.title)}" for one in section.titled] or [f"## {escape(section.title)}"]
    parts = [titles[0], said]
    for place, one in enumerate(section.tables):
        parts += [titles[place]] if place and not one.is_folded else []
        parts += _table_parts(one)
    return [*parts, *map(prose, section.notes)]


def named_parts(assessment: Assessment, name: str) -> list[str]:
    """Of the section of that name; nothing where there is none."""
    return [part for one in assessment.sections if one.name == name for part in section_parts(one)]


def _table_parts(one: Table) -> list[str]:
    rows = [[escape(cell) for cell in row] for row in texts(one)]
    legend = "\n".join(f"- `{name}`: {prose(what)}" for name, what in one.legend)
    shown = [table([escape(name) for name in headings(one)], rows), *map(prose, one.notes), legend]
    opened = "" if one.is_long else " open"
    return (
        [f"<details{opened}><summary>{escape(one.title)}</summary>", *shown, "</details>"] if one.is_folded else shown
    )


def _heats(assessment: Assessment) -> list[str]:
    """Where there are several targets, what changes on which of them at one glance."""
    heats = heat.heats(assessment)
    if not heats:
        return []
    tables = [table for one in heats if (table := heat.table_of(one)).rows]
    said = "\n".join(f"- {escape(heat.sentence(one))}" for one in heats)
    shown = [part for one in tables for part in (f"## {escape(one.title)}", *_table_parts(one))]
    return ["## All targets", said, *shown, prose(heat.note(heats, assessment.base.label))]


def candidate_parts(assessment: Assessment, facts: TargetFacts) -> list[str]:
    own = [item for item in assessment.comparisons if item.target == facts.target.label]
    explained = [one for one in assessment.explanations if one.target == facts.target.label]
    head = ["test", "verdict", *(f"{SHORT_TITLES[metric.name]} ratio" for metric in assessment.judged), "blocks"]
    rows = [_row(item, assessment.judged) for item in own]
    if explained and assessment.tells_why:
        head.append(LIKELY_CAUSE)
        for row, item in zip(rows, own, strict=True):
            row.append(escape(likely_cause(assessment.explanation(item.test, item.target))))
    return [
        f"## {escape(facts.target.label)} against {escape(assessment.base.label)}",
        "\n".join(f"- {prose(sentence)}" for sentence in facts.sentences),
        table(head, rows),
        *causes_parts(explained),
    ]


def causes_parts(explanations: Sequence[Explanation]) -> list[str]:
    """Why each test changed, in at most three sentences, and its causes under these."""
    if not explanations:
        return []
    return ["### Why", "\n".join(_why(one) for one in explanations), causes.NOTE]


def _why(explanation: Explanation) -> str:
    lines = [f"- **{escape(explanation.test)}**: {prose(' '.join(why(explanation)))}"]
    for number_of, (kind, words, command) in enumerate(causes.shown(explanation), start=1):
        lines.append(f"  {number_of}. {kind}: {prose(words)}{_command(command)}")
    if more := leads_left_out(explanation):
        lines.append(f"  - {prose(more)}")
    return "\n".join(lines)


def _command(command: str) -> str:
    """Words of a user's own may stand in it: as code, which nothing ends but a backtick."""
    return f"; test it: `{command}`" if command and "`" not in command and "\n" not in command else ""


def _row(item: Comparison, judged: Sequence[Metric]) -> list[str]:
    ratios = [escape(finding_text(item.findings.get(metric.name))) for metric in judged]
    blocks = max((finding.blocks for finding in item.findings.values()), default=0)
    return [escape(item.test), f"{SIGNS[item.verdict]} {item.verdict}", *ratios, str(blocks)]


def _notes(assessment: Assessment) -> list[str]:
    """What is to be known of single tests beside their figures."""
    lines = [f"- {escape(test.name)}: {prose('; '.join(test.notes))}" for test in assessment.tests if test.notes]
    return ["## Notes", "\n".join(lines)] if lines else []


def own_figures(assessment: Assessment) -> str:
    label, rows = assessment.base.label, []
    for test in assessment.tests:
        by_name = {figure.metric: figure.estimates[label] for figure in test.figures}
        known = [by_name.get(name) for name in (THROUGHPUT, CPU, IO_BYTES)]
        count = max((item.n for item in known if item), default=0)
        cells = [escape(estimate_text(item)) if item else "–" for item in known]
        cells[0] += sla_mark(test, label)
        rows.append([escape(test.name), *cells, str(count)])
    return table(["test", "throughput, ops/s", "CPU/op, µs", "IO/op, bytes", "blocks"], rows)


def legend(assessment: Assessment) -> str:
    host = " ".join(map(prose, disturbance.sentences(assessment)))
    if not assessment.candidates:
        return f"Means over blocks with 95 % intervals. {host}"
    signs = verdict_legend(item.verdict for item in assessment.comparisons)
    return f"{ratios_text('base', assessment.findings)}\n\n{host}\n\n{signs}"


def page_parts(section: Section) -> list[str]:
    """Of a section that is a page of its own; a table without a title has the section's."""
    if not any(one.title for one in section.tables):
        return [part for part in section_parts(section) if part]
    said = "\n".join(f"- {prose(sentence)}" for sentence in section.sentences)
    of_tables = section_parts(replace(section, sentences=()))
    return [f"# {escape(section.title)}", said, *filter(None, of_tables)]


def failures_parts(assessment: Assessment) -> list[str]:
    if not assessment.failures:
        return []
    lines = [
        f"- **{escape(failure.target)}** ({escape(', '.join(filter(None, (failure.stage, failure.where))))})"
        f"{', out from here on' if failure.final else ''}: {escape(failure.message)}"
        for failure in assessment.failures
    ]
    return ["## What went wrong", "\n".join(lines)]


def loads_parts(assessment: Assessment) -> list[str]:
    if not assessment.loads:
        return []
    head = [
        "target",
        "table",
        "rows",
        "rows/s",
        "seconds",
        "server CPU, µs/row",
        "rows/s ratio",
        "CPU/row ratio",
        "loaded",
    ]
    rows = [
        [escape(load.target), escape(load.table), "–" if load.rows is None else f"{load.rows:,}",
         number(load.rows_per_s), number(load.seconds), number(load.server_cpu_us_per_row), ratio(load.rate_ratio),
         ratio(load.cpu_ratio), escape(origin_text(load))]
        for load in assessment.loads
    ]  # fmt: skip
    return ["## Load (one run each, n = 1)", table(head, rows), loads_note(assessment)]


def differences_parts(assessment: Assessment) -> list[str]:
    labels = [escape(facts.target.label) for facts in assessment.targets]
    parts = []
    if said := not_compared([facts.target.dbms for facts in assessment.targets]):
        parts.append(said)
    if everywhere := [setting for setting in assessment.settings if setting.known_to_all]:
        rows = [[escape(setting.name), *(escape(value or "") for value in setting.values)] for setting in everywhere]
        parts += ["## Settings that differ", table(["setting", *labels], rows)]
    if somewhere := [setting for setting in assessment.settings if not setting.known_to_all]:
        rows = [[escape(setting.name), *(escape(_of_some(value)) for value in setting.values)] for setting in somewhere]
        summary = f"<details><summary>Known to some targets only: {count_of(len(rows), 'setting')}</summary>"
        parts += [summary, table(["setting", *labels], rows), "</details>"]
    if assessment.plans:
        parts.append("## Plans that differ")
        for plan in assessment.plans:
            parts.append(f"### {escape(plan.statement)}")
            shown = zip(labels, plan.plans, strict=True)
            parts += [f"{label}:\n\n{code(text)}" for label, text in shown if text is not None]
    return parts


def _of_some(value: str | None) -> str:
    return "–" if value is None else value or "(empty)"


def _surroundings(assessment: Assessment) -> list[str]:
    parts = ["## Surroundings", prose(assessment.calibration), *map(prose, assessment.data_state)]
    if assessment.not_measured:
        parts += ["Not measured:", "\n".join(f"- {prose(item)}" for item in assessment.not_measured)]
    if assessment.command:
        parts += ["To repeat it:", code(assessment.command)]
    return parts
