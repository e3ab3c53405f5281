"""What servers owed and held when each phase began: work put off, and levels of an LSM tree."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dbversus.report.judged import Judged
from dbversus.report.section import Section
from dbversus.report.sections.objects import LINE_COLUMNS, SERVER, ObjectLine, across, by_target, line_rows, lines_of
from dbversus.report.table import Column, Table
from dbversus.results.records import Phase
from dbversus.results.stored import Results
from dbversus.results.tables.objects import PHASES

LACKS = (
    "has nothing for --table phases: an older dbversus did not ask what servers hold when a phase begins, and servers that have "
    "settled owe nothing."
)
TITLE = "What servers owed and held when each phase began"
NOTE = (
    "After settling, where the phase settles. Debt is work put off; levels are those of an LSM tree, L0 the newest. Means over "
    "blocks with 95 % intervals; –: none, or not told by this DBMS."
)


@dataclass(frozen=True)
class OfPhase:
    """What servers owed and held when a phase began."""

    name: str
    lines: tuple[ObjectLine, ...]


def section(judged: Judged) -> Section | None:
    phases = phases_of(judged.results)
    if not phases:
        return None
    rows = [[one.name, *row] for one in phases for line in one.lines for row in line_rows(line)]
    return Section(
        title=TITLE,
        is_background=True,
        tables=[_table(phases, judged.labels)],
        notes=[NOTE],
        data=[Table([Column("phase"), *LINE_COLUMNS], rows, title=TITLE, sheet="Phases")],
        content=[asdict(one) for one in phases],
    )


def _table(phases: Sequence[OfPhase], labels: Sequence[str]) -> Table:
    rows = [[one.name, *across(line, labels)] for one in phases for line in one.lines]
    return Table([Column("phase"), *by_target(labels)], rows)


def phases_of(results: Results) -> tuple[OfPhase, ...]:
    """In their order; without those of which no server had anything to tell."""
    blocks: dict[str, dict[str, set[int]]] = {}
    for record in results.of_type(Phase):
        for name in record.targets:
            blocks.setdefault(record.phase, {}).setdefault(results.label(name), set()).add(record.block)
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in results.rows(PHASES):
        rows.setdefault(row["phase"], []).append(row)
    found = {name: lines_of(rows[name], "value", blocks[name]) for name in blocks if name in rows}
    return tuple(OfPhase(name, tuple(sorted(lines, key=_debt_first))) for name, lines in found.items())


def _debt_first(line: ObjectLine) -> tuple[bool, str, str, str]:
    return line.kind != SERVER, line.kind, line.object, line.figure
