"""Hardware use per operation under the reference's names, with our own parts of it, intervals, and ratios to the base."""

from collections.abc import Iterator, Sequence

from dbversus.report.formats.xlsx.sheets.comparisons.verdicts import IN_MEANS, MEANS_NOTE, in_means
from dbversus.report.model import Assessment, Figure, TestPart
from dbversus.report.parts.experiment.efficiency import COLUMNS
from dbversus.report.table import (
    NOTHING,
    Cell,
    Column,
    Form,
    Lines,
    Mean,
    Sheet,
    Table,
    Value,
    interval_cells,
    of_ratio,
    ratio_cells,
    with_interval,
)
from dbversus.stats.metrics import (
    BACKGROUND_CPU,
    CPU,
    DISK_READ_BYTES,
    DISK_WRITE_BYTES,
    READ_BYTES,
    SYSTEM_CPU,
    THROUGHPUT,
    USER_CPU,
    WRITE_BYTES,
)
from dbversus.stats.values.imported import MACHINE_CPU_SHARE, MACHINE_SWITCHES

_UNITS = {CPU: "µs", DISK_READ_BYTES: "KiB", DISK_WRITE_BYTES: "KiB", THROUGHPUT: "1/s"}
_CPU, *_OTHERS = [(column.metric, column.name, _UNITS.get(column.metric, ""), column.factor) for column in COLUMNS]
# metric, name, unit, factor; what is known nowhere has no columns
_SHOWN: Sequence[tuple[str, str, str, float]] = (
    _CPU,
    (USER_CPU, "user", "µs", 1.0),
    (SYSTEM_CPU, "system", "µs", 1.0),
    (BACKGROUND_CPU, "background", "µs", 1.0),
    ("client_cpu_us_per_op", "client", "µs", 1.0),
    *_OTHERS,
    (READ_BYTES, "read by the server", "KiB", 1 / 1024),
    (WRITE_BYTES, "written by the server", "KiB", 1 / 1024),
    (MACHINE_CPU_SHARE.name, "cpu/o of the machine", "% × s", 1.0),
    (MACHINE_SWITCHES.name, "cs/o of the machine", "", 1.0),
)
_LEGEND = (
    "Per operation, means over blocks, with 95 % intervals where there are several. cpu/o: CPU of the server, µs; user, system: "
    "its parts by mode; background: the part of threads or processes that serve no client; client: CPU of dbversus's own "
    "clients, which is not in it. cs/o: context switches of the server. r/o: disk reads; rKB/o and wKB/o: read from and written "
    "to the disk (KiB, as the reference counts), unless nothing tells these from other work on the disk; read and written by the "
    "server: what its own processes did. o/s: operations per second. Ratios are target/base; over 1 is more hardware, but of o/s "
    "more work."
)
_LEGEND_OF_IMPORTS = (
    "Of the machine: what other tools counted of their whole machine, clients included; cpu/o is then in percent of it × "
    "seconds."
)


def sheet(assessment: Assessment) -> Sheet | None:
    columns = [Column("test"), Column("target"), Column("blocks", Form.COUNT)]
    for _, name, unit, _ in _SHOWN:
        columns += [*with_interval(name, unit), *of_ratio(name)]
    rows = [list(row) for test in assessment.tests for row in _rows(test, assessment)]
    if not rows:
        return None
    of = {f"{name} ratio": IN_MEANS for _, name, _, _ in _SHOWN}
    means = [Mean(of, {"target": facts.target.label}) for facts in assessment.candidates]
    table = Table([*columns, Column(IN_MEANS), Column("kind")], rows, lead=2, means=means).trimmed()
    of_machine = any("of the machine" in column.title for column in table.columns)
    notes = [_LEGEND, *([_LEGEND_OF_IMPORTS] if of_machine else []), *([MEANS_NOTE] if table.means else [])]
    return Sheet("Efficiency", "Hardware use per operation", [table, Lines("Notes", notes)])


def _rows(test: TestPart, assessment: Assessment) -> Iterator[list[Cell | Value]]:
    figures = {figure.metric: figure for figure in test.figures}
    compared = {item.target: item for item in test.comparisons}
    for label in (facts.target.label for facts in assessment.targets):
        shown = [(figures.get(metric), factor) for metric, _, _, factor in _SHOWN]
        blocks = max((figure.estimates[label].n for figure, _ in shown if figure), default=0)
        cells = [cell for figure, factor in shown for cell in _cells(figure, label, factor)]
        counted = in_means(compared.get(label)) if label != assessment.base.label else ""
        yield [test.name, label, blocks, *cells, counted, test.group]


def _cells(figure: Figure | None, label: str, factor: float) -> list[Cell]:
    if figure is None:
        return [*map(Cell, NOTHING)] * 2
    return [*interval_cells(figure.estimates[label], factor), *ratio_cells(figure.findings.get(label))]
