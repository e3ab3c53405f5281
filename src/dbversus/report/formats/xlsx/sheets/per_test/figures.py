"""Every figure of every test, a line per target: its value, and its ratio to the base where there is one."""

from collections.abc import Iterator

from dbversus.report.formats.xlsx.sheets.comparisons.verdicts import finding_cells
from dbversus.report.model import Assessment, Figure, TestPart
from dbversus.report.table import (
    Cell,
    Column,
    Form,
    Lines,
    Sheet,
    Table,
    Value,
    interval_cells,
    of_ratio,
    with_interval,
)
from dbversus.report.words import INTERVALS, sla_mark

_NOTE = (
    f"Values are means over n blocks, with 95 % intervals. Ratios are target/base [{INTERVALS}]; only those of judged metrics "
    "make verdicts, all others are exploratory."
)


def sheet(assessment: Assessment) -> Sheet | None:
    columns = [Column("test"), Column("figure"), Column("unit"), Column("target")]
    columns += [*with_interval("value"), Column("n", Form.COUNT), *of_ratio(""), Column("which is")]
    columns += [Column("judged"), Column("kind"), Column("note")]
    rows = [
        list(row) for test in assessment.tests for figure in test.figures for row in _rows(test, figure, assessment)
    ]
    if not rows:
        return None
    return Sheet("Figures", "Figures of all tests", [Table(columns, rows).trimmed(), Lines("Notes", [_NOTE])])


def _rows(test: TestPart, figure: Figure, assessment: Assessment) -> Iterator[list[Cell | Value]]:
    for label in (facts.target.label for facts in assessment.targets):
        estimate, finding = figure.estimates[label], figure.findings.get(label)
        said = "; ".join(filter(None, [finding.note if finding else "", sla_mark(test, label).strip()]))
        judged = "" if finding is None else "yes" if finding.judged else "no"
        head = [test.name, figure.title, figure.unit, label]
        yield [*head, *interval_cells(estimate), estimate.n, *finding_cells(finding), judged, test.group, said]
