"""What the figures stand on: how each test was measured and disturbed, builds and servers, the host."""

from collections.abc import Iterator

from dbversus.report.model import Assessment, TargetFacts, TestPart
from dbversus.report.parts.experiment import disturbance
from dbversus.report.table import Column, Form, Lines, Sheet, Table, Value
from dbversus.report.words import flat_facts


def disturbance_sheet(assessment: Assessment) -> Sheet | None:
    if not assessment.disturbance.rows or not assessment.tests:
        return None
    columns = [
        Column("test"),
        Column("how it was measured"),
        Column("rows", Form.COUNT),
        Column("disturbed rows", Form.COUNT),
        Column("disturbed", Form.SHARE),
        Column("by what (rows)"),
        Column("other processes, of a core", Form.SHARE),
        Column("hypervisor, of a core", Form.SHARE),
    ]
    rows = [_disturbed(test) for test in assessment.tests]
    notes = disturbance.sentences(assessment)
    return Sheet("Disturbance", "How disturbed the host was", [Table(columns, rows).trimmed(), Lines("Notes", notes)])


def _disturbed(test: TestPart) -> list[Value]:
    of = test.disturbance
    causes = ", ".join(f"{cause.what}: {cause.rows:,}" for cause in of.causes)
    shares = of.foreign_cpu_share, of.steal_share
    return [test.name, test.how, of.rows, of.disturbed, of.disturbed_share, causes, *shares]


def servers_sheet(assessment: Assessment) -> Sheet | None:
    """Config files and logs line by line: a cell has no room for them."""
    columns = [Column("target"), Column("what"), Column("name"), Column("value", Form.COUNT)]
    rows = [[facts.target.label, *row] for facts in assessment.targets for row in _server(facts)]
    return Sheet("Servers", "Builds and servers", [Table(columns, rows, lead=2)]) if rows else None


def _server(facts: TargetFacts) -> Iterator[list[Value]]:
    for name, value in facts.build.items():
        if value:
            yield ["build", name, str(value)]
    for name, value in facts.sizes.items():
        yield ["size, bytes", name, value if isinstance(value, int | float) else str(value)]
    for what, text in (("config file", facts.config_text), ("end of the log", facts.log_tail)):
        for number, line in enumerate(text.splitlines(), start=1):
            yield [what, f"line {number}", line]


def host_sheet(assessment: Assessment) -> Sheet | None:
    columns = [Column("fact"), Column("value")]
    rows = flat_facts(assessment.host)
    return Sheet("Host", "Host and placement", [Table(columns, rows)]) if rows else None
