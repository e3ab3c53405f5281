"""How the tables were loaded: once each."""

from dbversus.report.model import Assessment
from dbversus.report.parts.experiment.loads import loads_note, origin_text
from dbversus.report.table import Column, Form, Lines, Sheet, Table


def sheet(assessment: Assessment) -> Sheet | None:
    if not assessment.loads:
        return None
    columns = [
        Column("target"),
        Column("table"),
        Column("rows", Form.COUNT),
        Column("rows/s", Form.NUMBER),
        Column("time, s", Form.NUMBER),
        Column("server CPU, µs/row", Form.NUMBER),
        Column("rows/s ratio", Form.RATIO),
        Column("CPU/row ratio", Form.RATIO),
        Column("loaded"),
        Column("note"),
    ]
    rows = [
        [load.target, load.table, load.rows, load.rows_per_s, load.seconds, load.server_cpu_us_per_row, load.rate_ratio,
         load.cpu_ratio, origin_text(load), load.note]
        for load in assessment.loads
    ]  # fmt: skip
    title, notes = "Load (one run each, n = 1)", Lines("Notes", [loads_note(assessment)])
    return Sheet("Load", title, [Table(columns, rows, lead=2).trimmed(), notes])
