"""What more clients bring: a line per test, target and number of clients, and the verdicts over all of these."""

from dbversus.report.formats.tables import scaleup_table
from dbversus.report.formats.xlsx.sheets.comparisons import verdicts
from dbversus.report.model import Assessment
from dbversus.report.table import MEANS_NOTE, Column, Form, Lines, Mean, Sheet, Table, of_ratio

_KINDS = ("throughput", "CPU/op", "throughput over base's")


def sheet(assessment: Assessment) -> Sheet | None:
    found = assessment.scaleup
    if not found:
        return None
    _, rows = scaleup_table.flat(found)
    columns = [Column("test"), Column("target"), Column("clients", Form.COUNT), Column("of clients", Form.COUNT)]
    columns += [column for kind in _KINDS for column in of_ratio(kind)]
    shown = list(dict.fromkeys((row[1], row[2]) for row in rows))
    of = {f"{kind} ratio": "" for kind in _KINDS}
    means = [Mean(of, {"target": target, "clients": clients}) for target, clients in shown]
    table = Table([*columns, Column("blocks", Form.COUNT)], rows, lead=3, means=means).trimmed()
    notes = [*scaleup_table.notes(found), "Geometric means are formulas over all tests with so many clients."]
    return Sheet("Scale-up", "With more clients, against the fewest", [table, Lines("Notes", notes)])


def verdicts_sheet(assessment: Assessment) -> Sheet | None:
    found = assessment.scaleup
    if not found or not found.pooled:
        return None
    table = verdicts.table(found.pooled, found.judged, {})
    notes = [scaleup_table.notes(found)[-1], MEANS_NOTE]
    return Sheet("Scale-up verdicts", "Verdicts over all numbers of clients", [table, Lines("Notes", notes)])
