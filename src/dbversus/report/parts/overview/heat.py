"""Tests × targets with the ratio of one metric in each cell: where there are so many targets that one has to see all at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbversus.report.model import Assessment
from dbversus.report.parts.overview.shades import shade
from dbversus.report.table import Column, Table
from dbversus.report.words import SHORT_TITLES, SIGNS, finding_text, listing, ratio, short_labels
from dbversus.stats.comparison import Comparison
from dbversus.stats.model import CHANGES, SPOILT, Finding, Metric, Verdict
from dbversus.units import count_of

LEAST_TARGETS = 3


@dataclass(frozen=True)
class Cell:
    """One test on one target. `verdict`: on the metric; on the test, where none of its figures count (`spoilt`).

    `shade`: of a change that is shown (or of one run, where nothing can be shown); empty for all else.
    """

    verdict: Verdict
    finding: Finding | None
    shade: str

    @property
    def spoilt(self) -> bool:
        return self.verdict in SPOILT

    @property
    def known(self) -> Finding | None:
        """Where there is a ratio that counts."""
        return None if self.spoilt or self.finding is None or self.finding.ratio is None else self.finding

    @property
    def text(self) -> str:
        """`▼ 1.163`: a sign, and a number where there is one."""
        return f"{SIGNS[self.verdict]} {ratio(self.finding.ratio if self.finding else None)}"

    @property
    def spoken(self) -> str:
        """`▼ 1.163 [1.140, 1.186]`"""
        return f"{SIGNS[self.verdict]} {finding_text(self.finding)}"


@dataclass(frozen=True)
class Row:
    test: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Group:
    """Tests of one kind."""

    name: str
    rows: tuple[Row, ...]

    @property
    def changes(self) -> list[str]:
        """For each target `▼ 3 ▲ 1`: how many of the group are worse and better; empty where none is."""
        columns = zip(*(row.cells for row in self.rows), strict=True)
        counts = [Counter(cell.verdict for cell in column) for column in columns]
        return [" ".join(f"{SIGNS[one]} {count[one]}" for one in CHANGES if count[one]) for count in counts]


@dataclass(frozen=True)
class Heat:
    """One metric; cells of rows are in the order of `targets`, which are all but the base."""

    metric: Metric
    targets: tuple[str, ...]
    groups: tuple[Group, ...]

    @property
    def title(self) -> str:
        return SHORT_TITLES[self.metric.name]

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]


def heats(assessment: Assessment) -> list[Heat]:
    """One for each judged metric that has a ratio; none where there are few targets."""
    if len(assessment.targets) < LEAST_TARGETS:
        return []
    made = [_heat(assessment, metric) for metric in assessment.judged]
    return [heat for heat in made if any(cell.known for row in heat.rows for cell in row.cells)]


def _heat(assessment: Assessment, metric: Metric) -> Heat:
    groups: dict[str, list[Row]] = {}
    for test in assessment.tests:
        cells = tuple(_cell(comparison, metric) for comparison in test.comparisons)
        groups.setdefault(test.group, []).append(Row(test.name, cells))
    targets = tuple(facts.target.label for facts in assessment.candidates)
    return Heat(metric, targets, tuple(Group(name, tuple(rows)) for name, rows in groups.items()))


def _cell(comparison: Comparison, metric: Metric) -> Cell:
    finding = comparison.findings.get(metric.name)
    if comparison.verdict in SPOILT or finding is None:
        return Cell(comparison.verdict, finding, "")
    shown = finding.ratio is not None and finding.is_shown
    return Cell(
        finding.verdict, finding, shade(finding.ratio or 1, higher_is_better=metric.higher_is_better) if shown else ""
    )


def sentence(heat: Heat) -> str:
    """`CPU/op, 86 ratios: 9 regressions, up to 7 of one target (postgres:17); 4 improvements, all of postgres:16.`"""
    ratios = count_of(sum(cell.known is not None for row in heat.rows for cell in row.cells), "ratio")
    found = [text for text in (_counted(heat, verdict) for verdict in CHANGES) if text]
    return f"{heat.title}, {ratios}: {'; '.join(found) or 'none is a regression or improvement'}."


def _counted(heat: Heat, verdict: Verdict) -> str:
    counts = _by_target(heat, verdict)
    total, most = sum(counts.values()), max(counts.values())
    if not total:
        return ""
    names = [label for label, count in counts.items() if count == most]
    if most == total:
        where = f"all of {names[0]}"
    elif len(names) == len(counts):
        where = f"{most} of each target"
    else:
        where = f"up to {most} of one target ({listing(names, most=3)})"
    return f"{count_of(total, str(verdict))}, {where}"


def _by_target(heat: Heat, verdict: Verdict) -> Mapping[str, int]:
    return {
        label: sum(row.cells[place].verdict is verdict for row in heat.rows) for place, label in enumerate(heat.targets)
    }


def with_changes(heat: Heat) -> tuple[Sequence[Row], int]:
    """The tests that change on any target, and the number of the others."""
    found = [row for row in heat.rows if any(cell.shade or cell.spoilt for cell in row.cells)]
    return found, len(heat.rows) - len(found)


def table_of(heat: Heat) -> Table:
    """Without lines where no test changes on any target."""
    rows, _ = with_changes(heat)
    columns = [Column("test"), *map(Column, short_labels(heat.targets))]
    texts = [[row.test, *(cell.text for cell in row.cells)] for row in rows]
    return Table(columns, texts, title=f"{heat.title} ratio of all targets")


def note(heats: Sequence[Heat], base: str) -> str:
    """What the figures are, and how many tests each table leaves out."""
    left_out = [f"{heat.title} {count_of(others, 'test')}" for heat in heats if (others := with_changes(heat)[1])]
    said = f"Ratios are target/{base}; their intervals are in the tables below."
    return (
        f"{said} Tests without a regression or improvement are left out: {', '.join(left_out)}." if left_out else said
    )
