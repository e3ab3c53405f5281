"""Whether target ÷ base depends on the size of the tables: a line per test, target, metric and size."""

from collections.abc import Iterator

from dbversus.report.formats.tables import sizes_table
from dbversus.report.formats.xlsx.sheets.comparisons.verdicts import verdict_cell
from dbversus.report.model import Assessment, SizeLine, Sizes
from dbversus.report.table import NOTHING, Cell, Column, Form, Lines, Sheet, Table, of_ratio, ratio_cells
from dbversus.report.words import SHORT_TITLES
from dbversus.stats.model import Finding, Metric


def sheet(assessment: Assessment) -> Sheet | None:
    found = assessment.sizes
    if not found:
        return None
    columns = [Column("test"), Column("target"), Column("metric"), Column("table size, rows", Form.COUNT)]
    columns += [*of_ratio(""), Column("is")]
    columns += [*of_ratio("over the smallest"), Column("which is"), Column("blocks", Form.COUNT)]
    rows = [list(row) for line in found.lines for metric in found.judged for row in _rows(line, metric, found)]
    notes = [*sizes_table.sentences(found), *sizes_table.notes()]
    return Sheet("Sizes", "Several table sizes", [Table(columns, rows, lead=2).trimmed(), Lines("Notes", notes)])


def _rows(line: SizeLine, metric: Metric, sizes: Sizes) -> Iterator[list[Cell]]:
    """A line per size for which anything is known."""
    for size in sizes.sizes:
        at = line.comparisons.get(size)
        ratio = at.findings.get(metric.name) if at else None
        larger = line.larger.get(size, {}).get(metric.name)
        if not any(finding and finding.ratio is not None for finding in (ratio, larger)):
            continue
        head = [Cell(line.test), Cell(line.target), Cell(SHORT_TITLES[metric.name]), Cell(size)]
        said = Cell(sizes_table.which(larger), larger.verdict) if larger else Cell(None)
        blocks = max(finding.blocks for finding in (ratio, larger) if finding)
        yield [*head, *_of(ratio), *ratio_cells(larger, said.look), said, Cell(blocks)]


def _of(finding: Finding | None) -> list[Cell]:
    if finding is None:
        return [*map(Cell, NOTHING), Cell(None)]
    return [*ratio_cells(finding, finding.verdict), verdict_cell(finding.verdict)]
