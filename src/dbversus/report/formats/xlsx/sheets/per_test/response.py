"""Response times: percentiles, the longest, and the fixed buckets of the Insert Benchmark; a line per test, role and target."""

from dbversus.report.figures import PERCENTS
from dbversus.report.formats.tables import response_table
from dbversus.report.model import Assessment, LatencyFigures
from dbversus.report.table import (
    Cell,
    Column,
    Form,
    Lines,
    Sheet,
    Table,
    Value,
    interval_cells,
    with_interval,
)

_NOTE = "Percentiles are of all operations together, with 95 % intervals over blocks; a role that is not named is the whole test."


def sheet(assessment: Assessment) -> Sheet | None:
    columns = [Column("test"), Column("role"), Column("target"), Column("operations", Form.COUNT)]
    columns += [column for rank in PERCENTS for column in with_interval(f"p{rank:g}", "µs")]
    columns += [Column("longest, µs", Form.NUMBER)]
    *titles, _ = response_table.TITLES
    columns += [
        Column(f"{bucket}, %", Form.NUMBER)
        for bucket in (*(f"up to {title}" for title in titles), f"over {titles[-1]}")
    ]
    rows = [
        [test.name, role, target, *_cells(latency)]
        for test in assessment.tests
        for role, target, latency in response_table.lines(test.latency, test.roles)
    ]
    if not rows:
        return None
    table = Table(columns, rows, lead=3).trimmed()
    return Sheet("Response times", "Response times", [table, Lines("Notes", [_NOTE, response_table.NOTE])])


def _cells(latency: LatencyFigures) -> list[Cell | Value]:
    percentiles = [cell for rank in PERCENTS for cell in interval_cells(latency.percentiles_us.get(rank))]
    shares = response_table.shares(latency)
    lacking = [None] * (len(response_table.TITLES) - len(shares))
    return [latency.count, *percentiles, latency.max_us, *shares, *lacking]
