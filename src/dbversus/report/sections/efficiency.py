"""Hardware use per operation under the reference's names, with our own parts of it, intervals, and ratios to the base."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dbversus.report.judged import Judged, in_means
from dbversus.report.model import Figure, TestPart
from dbversus.report.parts.experiment import efficiency
from dbversus.report.parts.experiment.efficiency import COLUMNS
from dbversus.report.section import Section
from dbversus.report.table import (
    IN_MEANS,
    MEANS_NOTE,
    Cell,
    Column,
    Form,
    Mean,
    Row,
    Table,
    figure_cell,
    ratio_cell,
)
from dbversus.report.texts import verbatim
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

_TITLE = "Hardware use per operation"
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


def section(judged: Judged) -> Section | None:
    return of_tests(judged.tests, judged.labels)


def asked(judged: Judged) -> Section:
    """In the form of the reference method."""
    names, lines = efficiency.flat(judged.results)
    data = Table(list(map(Column, names)), lines)
    return Section(title=_TITLE, data=[data], print_on=verbatim(efficiency.text(judged.results)), is_exact=True)


def of_tests(tests: Sequence[TestPart], labels: Sequence[str]) -> Section | None:
    columns = [Column("test"), Column("target"), Column("blocks", Form.COUNT)]
    for _, name, unit, _ in _SHOWN:
        columns.append(Column(name, Form.NUMBER, unit, spread=True))
        columns.append(Column(f"{name} ratio", Form.RATIO, spread=True))
    rows = [row for test in tests for row in _rows(test, labels)]
    if not rows:
        return None
    of = {f"{name} ratio": IN_MEANS for _, name, _, _ in _SHOWN}
    means = [Mean(of, {"target": label}) for label in labels[1:]]
    table = Table([*columns, Column(IN_MEANS), Column("kind")], rows, 2, means, _TITLE, sheet="Efficiency")
    of_machine = any(figure.metric == MACHINE_CPU_SHARE.name for test in tests for figure in test.figures)
    notes = [_LEGEND, *([_LEGEND_OF_IMPORTS] if of_machine else []), *([MEANS_NOTE] if means else [])]
    return Section(title=_TITLE, data=[replace(table, notes=notes)])


def _rows(test: TestPart, labels: Sequence[str]) -> Iterator[Row]:
    figures = {figure.metric: figure for figure in test.figures}
    compared = {item.target: item for item in test.comparisons}
    for label in labels:
        shown = [(figures.get(metric), factor) for metric, _, _, factor in _SHOWN]
        blocks = max((figure.estimates[label].n for figure, _ in shown if figure), default=0)
        cells = [cell for figure, factor in shown for cell in _cells(figure, label, factor)]
        yield [
            test.name,
            label,
            blocks,
            *cells,
            in_means(compared.get(label)) if label != labels[0] else "",
            test.group,
        ]


def _cells(figure: Figure | None, label: str, factor: float) -> tuple[Cell, Cell]:
    if figure is None:
        return Cell(None), Cell(None)
    return figure_cell(figure.estimates[label], factor), ratio_cell(figure.findings.get(label))
