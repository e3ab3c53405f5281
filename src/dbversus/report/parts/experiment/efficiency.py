"""Hardware use per operation, target under target: the efficiency report of the reference method, from stored slots."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from dbversus.report.figures import block_figures, estimate
from dbversus.report.model import Estimate
from dbversus.report.parts.experiment.loads import total
from dbversus.report.words import estimate_text, rounded
from dbversus.results.stored import Results
from dbversus.stats.means import Spread, spread_of
from dbversus.stats.metrics import (
    BACKGROUND_CPU,
    CPU,
    DISK_READ_BYTES,
    DISK_READS,
    DISK_WRITE_BYTES,
    LOAD_TEST,
    READ_BYTES,
    SYSTEM_CPU,
    THROUGHPUT,
    USER_CPU,
    WRITE_BYTES,
)
from dbversus.stats.values.imported import MACHINE_CPU_SHARE, MACHINE_SWITCHES, is_imported

UNKNOWN = "NA"
SWITCHES, CLIENT_SWITCHES = "server_switches_per_op", "client_switches_per_op"
CLIENT_CPU = "client_cpu_us_per_op"


@dataclass(frozen=True)
class Column:
    """One figure: the reference's `name`, the metric that it comes from, a factor to its unit, digits shown."""

    name: str
    metric: str
    factor: float
    decimals: int


COLUMNS = (
    Column("cpu/o", CPU, 1.0, 2),  # µs of the server's CPU
    Column("cs/o", SWITCHES, 1.0, 3),
    Column("r/o", DISK_READS, 1.0, 3),
    Column("rKB/o", DISK_READ_BYTES, 1 / 1024, 3),
    Column("wKB/o", DISK_WRITE_BYTES, 1 / 1024, 3),
    Column("o/s", THROUGHPUT, 1.0, 2),
)
# what the reference counted of its whole machine, as it prints it
_IMPORTED = (
    Column("cpu/o", MACHINE_CPU_SHARE.name, 1.0, 6),  # percent of the machine × seconds
    Column("cs/o", MACHINE_SWITCHES.name, 1.0, 3),
    *COLUMNS[2:],
)

CPU_PARTS = {
    "server": CPU,
    "user": USER_CPU,
    "system": SYSTEM_CPU,
    "background": BACKGROUND_CPU,
    "client": CLIENT_CPU,
}
"""Name → metric: the server's CPU, by what it ran and for whom (a background thread serves no client), and the client's."""
OURS = "--- CPU of server and client, µs/o [95 % interval]"
OWN_BYTES = {"read": READ_BYTES, "written": WRITE_BYTES}
"""Name → metric: what the server's processes read from and wrote to storage, whatever else used the device meanwhile."""
OWN = "--- bytes that the server's own processes read and wrote, KiB/o [95 % interval]"
_KIB = 1 / 1024


def columns_for(results: Results) -> tuple[Column, ...]:
    return _IMPORTED if is_imported(results) else COLUMNS


@dataclass(frozen=True)
class Line:
    """One target in one test: its figures in the order of its columns, rounded as shown; None: not known. Means over `blocks`.

    `cpu`: by the names of CPU_PARTS, in µs per operation, of those that are known; `own`: by those of OWN_BYTES, in KiB.
    """

    test: str
    target: str
    figures: tuple[float | None, ...]
    blocks: int
    cpu: Mapping[str, Estimate] = field(default_factory=dict)
    own: Mapping[str, Estimate] = field(default_factory=dict)


def efficiency(results: Results) -> list[Line]:
    """A line per test and target, in their order; the load is the first test, and its operation is a row."""
    figures = block_figures(results)
    columns = columns_for(results)
    lines = [line for target in results.targets if (line := _load_line(results, target.label))]
    for test in results.tests:
        for target in results.targets:
            if known := figures.get((test, target.label)):
                blocks = max(map(len, known.values()))
                means = {name: fmean(of) for name, of in known.items()}
                lines.append(Line(test, target.label, _rounded(means, columns), blocks, _cpu(known), _own(known)))
    return lines


def _load_line(results: Results, label: str) -> Line | None:
    known = load_per_row(results, label)
    once = {metric: [value] for metric, value in known.items()}
    return Line(LOAD_TEST, label, _rounded(known, COLUMNS), 1, _cpu(once), _own(once)) if known else None


def _cpu(known: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    return {name: estimate(values) for name, metric in CPU_PARTS.items() if (values := known.get(metric))}


def _own(known: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    return {
        name: estimate([value * _KIB for value in values])
        for name, metric in OWN_BYTES.items()
        if (values := known.get(metric))
    }


_OF_LOADS = {
    CPU: ("server_cpu_ns", 1e-3),
    CPU_PARTS["user"]: ("server_user_ns", 1e-3),
    CPU_PARTS["system"]: ("server_system_ns", 1e-3),
    CPU_PARTS["background"]: ("server_background_cpu_ns", 1e-3),
    SWITCHES: ("server_switches", 1.0),
    CLIENT_CPU: ("client_cpu_ns", 1e-3),
    CLIENT_SWITCHES: ("client_switches", 1.0),
    READ_BYTES: ("server_read_bytes", 1.0),
    WRITE_BYTES: ("server_write_bytes", 1.0),
    DISK_READS: ("disk_reads", 1.0),
    DISK_READ_BYTES: ("disk_read_bytes", 1.0),
    DISK_WRITE_BYTES: ("disk_write_bytes", 1.0),
}
"""Metric → the column of a load's figures, and the factor to its unit."""


def load_per_row(results: Results, label: str) -> dict[str, float]:
    """Metric → its value per row loaded, throughput in rows/s, over all tables; empty where nothing is known of a load.

    Empty too where blocks repeat the load: it is a test then, whose operation is a row.
    """
    if results.judges_load:
        return {}
    last = {load.table: load.figures for load in results.loads if results.label(load.target) == label}
    rows, elapsed_ns = (total(last.values(), name) for name in ("rows", "elapsed_ns"))
    if not rows or not elapsed_ns:
        return {}
    totals = {metric: (total(last.values(), column), scale) for metric, (column, scale) in _OF_LOADS.items()}
    per_row = {metric: amount * scale / rows for metric, (amount, scale) in totals.items() if amount is not None}
    return per_row | {THROUGHPUT: rows / elapsed_ns * 1e9}


def _rounded(known: Mapping[str, float], columns: Sequence[Column]) -> tuple[float | None, ...]:
    return tuple(
        round(known[column.metric] * column.factor, column.decimals) if column.metric in known else None
        for column in columns
    )


def relative(value: float | None, base: float | None) -> float | None:
    """value/base by the rule of all the reference's relative tables: 0/0 is 1, anything else over 0 is inf."""
    if value is None or base is None:
        return None
    if base == 0:
        return 1.0 if value == 0 else math.inf
    return value / base


def ratios(line: Line, base: Line) -> tuple[float | None, ...]:
    """Of the rounded figures, as the reference has it: so that they can be checked with what is printed."""
    return tuple(relative(value, of_base) for value, of_base in zip(line.figures, base.figures, strict=True))


def flat(results: Results) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and one row per test and target: figures, their ratios to the test's first target, parts of CPU, own bytes."""
    names = [column.name for column in COLUMNS]
    rows = [
        (line.test, line.target, *line.figures, *ratios(line, lines[0]), line.blocks, *_flat(line))
        for lines in _by_test(efficiency(results))
        for line in lines
    ]
    units = [*(f"{name} us/o" for name in CPU_PARTS), *(f"{name} by the server KB/o" for name in OWN_BYTES)]
    parts = [f"{name}{end}" for name in units for end in ("", *(f" {end}" for end in Spread._fields))]
    return ["test", "target", *names, *(f"{name} ratio" for name in names), "blocks", *parts], rows


def _flat(line: Line) -> Iterator[object]:
    for known in (*map(line.cpu.get, CPU_PARTS), *map(line.own.get, OWN_BYTES)):
        yield from map(rounded, (known.value, *spread_of(known)) if known else (None, *Spread()))


def text(results: Results) -> str:
    """The reference's form: per test absolute figures, then those relative to the first target; tabs between columns.

    Below these stands what it does not have, where it is known: the CPU of server and client by its parts, and the bytes of the
    server's own processes.
    """
    columns = columns_for(results)
    return "\n\n".join("\n".join(_part(lines, columns)) for lines in _by_test(efficiency(results)))


def _by_test(lines: Sequence[Line]) -> list[list[Line]]:
    tests: dict[str, list[Line]] = {}
    for line in lines:
        tests.setdefault(line.test, []).append(line)
    return list(tests.values())


def _part(lines: Sequence[Line], columns: Sequence[Column]) -> Iterator[str]:
    yield lines[0].test
    yield "--- absolute"
    yield "\t".join([*(column.name for column in columns), "dbms"])
    for line in lines:
        cells = [cell(value, column.decimals) for value, column in zip(line.figures, columns, strict=True)]
        yield "\t".join([*cells, line.target])
    if len(lines) > 1:
        yield "--- relative to first result"
    for line in lines[1:]:
        pairs = zip(line.figures, lines[0].figures, strict=True)
        yield "\t".join([*(relative_cell(value, base) for value, base in pairs), line.target])
    yield from _estimates(OURS, CPU_PARTS, [(line.target, line.cpu) for line in lines])
    yield from _estimates(OWN, OWN_BYTES, [(line.target, line.own) for line in lines])


def _estimates(title: str, names: Iterable[str], lines: Sequence[tuple[str, Mapping[str, Estimate]]]) -> Iterator[str]:
    """Nothing where nothing is known."""
    shown = [name for name in names if any(name in known for _, known in lines)]
    if shown:
        yield title
        yield "\t".join([*shown, "dbms"])
        for target, known in lines:
            yield "\t".join([*(estimate_text(known[name]) if name in known else UNKNOWN for name in shown), target])


def cell(value: float | None, decimals: int) -> str:
    """Nothing at all is `0` without decimals, as in the reference."""
    if value is None:
        return UNKNOWN
    return f"{value:.{decimals}f}" if value else "0"


def relative_cell(value: float | None, base: float | None) -> str:
    """`1` without decimals is 0/0, as in the reference."""
    ratio = relative(value, base)
    if ratio is None:
        return UNKNOWN
    return f"{ratio:.2f}" if value or base else "1"
