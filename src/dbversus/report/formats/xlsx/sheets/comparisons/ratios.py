"""One judged metric of several targets: tests as lines, targets side by side."""

from collections.abc import Sequence

from dbversus.report.formats.xlsx.sheets.comparisons.verdicts import finding_cells, verdict_cell
from dbversus.report.judged import in_means
from dbversus.report.model import Assessment, TestPart
from dbversus.report.table import NOTHING, YES, Cell, Column, Lines, Mean, Row, Sheet, Table, of_ratio
from dbversus.report.words import SHORT_TITLES, ratios_text, worse_ratios
from dbversus.stats.comparison import Comparison
from dbversus.stats.model import Metric

_FEWEST = 2
"""With one candidate the verdicts say the same."""
_NOTE = (
    "What does not count has its verdict alone; the sheet of verdicts has its ratios. Geometric means are formulas over all "
    "ratios above 0: clear a cell, and its test is left out. They have no interval, since tests are not repetitions."
)


def sheet(metric: Metric, assessment: Assessment) -> Sheet | None:
    labels = [facts.target.label for facts in assessment.candidates]
    if metric not in assessment.judged or len(labels) < _FEWEST or not assessment.tests:
        return None
    columns = [Column("test")]
    for label in labels:
        columns += [*of_ratio(label), Column(f"{label} is")]
    rows = [_row(test, labels, metric) for test in assessment.tests]
    kinds = list(dict.fromkeys(test.group for test in assessment.tests if test.group))
    of = {f"{label} ratio": "" for label in labels}
    means = [Mean(of), *(Mean(of, {"kind": kind}) for kind in kinds if len(kinds) > 1)]
    table = Table([*columns, Column("kind")], rows, means=means, bars=list(of)).trimmed()
    base = assessment.base.label
    notes = [ratios_text(base, assessment.findings), f"{worse_ratios([metric])} worse than the base.", _NOTE]
    name = f"Ratios of {SHORT_TITLES[metric.name].replace('/', ' per ')}"
    return Sheet(name, f"{metric.title}: target ÷ {base}", [table, Lines("Notes", notes)])


def _row(test: TestPart, labels: Sequence[str], metric: Metric) -> Row:
    compared = {item.target: item for item in test.comparisons}
    cells = [cell for label in labels for cell in _cells(compared.get(label), metric)]
    return [test.name, *cells, test.group]


def _cells(item: Comparison | None, metric: Metric) -> list[Cell]:
    if item is None:
        return [*map(Cell, NOTHING), Cell(None)]
    if in_means(item) != YES:
        return [*map(Cell, NOTHING), verdict_cell(item.verdict)]
    return finding_cells(item.findings.get(metric.name))
