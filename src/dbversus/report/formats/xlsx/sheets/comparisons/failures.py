"""What went wrong, in the servers' own words."""

from dbversus.report.model import Assessment
from dbversus.report.table import SOFT, Cell, Column, Row, Sheet, Table
from dbversus.stats.model import Verdict


def sheet(assessment: Assessment) -> Sheet | None:
    if not assessment.failures:
        return None
    columns = [Column("target"), Column("stage"), Column("where"), Column("from here on"), Column("in its own words")]
    rows: list[Row] = [
        [
            failure.target,
            failure.stage,
            failure.where,
            Cell("out", Verdict.FAILED) if failure.final else Cell("goes on", SOFT),
            failure.message,
        ]
        for failure in assessment.failures
    ]
    return Sheet("What went wrong", "What went wrong", [Table(columns, rows)])
