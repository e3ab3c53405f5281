"""All targets of a matrix side by side: ratios with tests as lines, and every figure in a line of its own."""

from dbversus.report.formats.tables import matrix_table
from dbversus.report.model import Assessment, MatrixCell, MatrixRow
from dbversus.report.table import (
    Cell,
    Column,
    Form,
    Lines,
    Mean,
    Row,
    Sheet,
    Table,
    Value,
    interval_cells,
    of_ratio,
    with_interval,
)

_MEGABYTE = 1e6


def sheet(assessment: Assessment) -> Sheet | None:
    """Throughput of the base, and of all others relative to their references."""
    matrix = assessment.matrix
    if not matrix:
        return None
    base, *others = matrix.rows
    names = {
        row.label: row.label if row.reference == base.label else f"{row.label} to {row.reference}" for row in others
    }
    columns = [Column("test"), *with_interval(base.label, "ops/s")]
    columns += [column for row in others for column in of_ratio(names[row.label])]
    rows: list[Row] = []
    for test in matrix.tests:
        cells = interval_cells(found.ops_per_s if (found := base.cells.get(test)) else None)
        cells += [cell for row in others for cell in _ratio(row, row.cells.get(test))]
        rows.append([test, *cells])
    means = [Mean({f"{names[row.label]} ratio": "" for row in others})]
    notes = [*matrix_table.notes(matrix), "Geometric means are formulas over all tests that have a ratio."]
    table = Table(columns, rows, means=means).trimmed()
    return Sheet("Matrix", f"Throughput relative to {base.label}", [table, Lines("Notes", notes)])


def _ratio(row: MatrixRow, cell: MatrixCell | None) -> list[Cell]:
    """What is its own reference has no ratio."""
    return interval_cells(cell.ratio if cell and cell.ops_per_s.n and row.label != row.reference else None)


def figures_sheet(assessment: Assessment) -> Sheet | None:
    matrix = assessment.matrix
    if not matrix:
        return None
    columns = [Column("test"), Column("build"), Column("config"), Column("target")]
    columns += [*with_interval("throughput", "ops/s"), Column("blocks", Form.COUNT)]
    columns += [Column("reference"), *of_ratio("throughput")]
    columns += [*with_interval("memory at the end", "MB"), Column("memory, peak, MB", Form.NUMBER)]
    columns += [Column("data, MB", Form.NUMBER)]
    rows = [_row(test, row, cell) for test in matrix.tests for row in matrix.rows if (cell := row.cells.get(test))]
    return Sheet(
        "Matrix figures",
        "Throughput and memory of all targets",
        [Table(columns, rows).trimmed(), Lines("Notes", matrix_table.notes(matrix))],
    )


def _row(test: str, row: MatrixRow, cell: MatrixCell) -> list[Cell | Value]:
    return [
        test,
        row.build,
        row.config,
        row.label,
        *interval_cells(cell.ops_per_s),
        cell.ops_per_s.n,
        row.reference,
        *_ratio(row, cell),
        *interval_cells(cell.pss_bytes, 1 / _MEGABYTE),
        _megabytes(cell.peak_rss_bytes),
        _megabytes(row.data_bytes),
    ]


def _megabytes(count: float | None) -> float | None:
    return None if count is None else count / _MEGABYTE
