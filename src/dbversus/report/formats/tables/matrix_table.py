"""The tables of a matrix: a line per target and a column per test, as the reference method prints its durability results."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from dbversus.report.model import Estimate, Matrix, MatrixCell, MatrixRow
from dbversus.report.terminal import plain_table, print_table, say
from dbversus.report.words import estimate_text, number, ratio_text
from dbversus.stats.means import FEWEST_BLOCKS

# with more tests than this, tests become the lines and targets the columns
MOST_TESTS = 6
_MEGABYTE = 1e6


class Table(NamedTuple):
    """Texts for any report. `uncounted`: rows whose figures do not count; they are grey, and say why."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    uncounted: frozenset[int] = frozenset()


def tables(matrix: Matrix, intervals: bool = True) -> list[Table]:
    """Throughput, and memory and sizes where they are known."""
    if len(matrix.tests) > MOST_TESTS:
        return [_relative(matrix, intervals), *_memory_by_target(matrix)]
    return [_throughput(matrix, intervals), *_memory(matrix)]


def _throughput(matrix: Matrix, intervals: bool) -> Table:
    columns = ["build", "config"]
    for test in matrix.tests:
        columns += [f"{test}, ops/s", "ratio"]
    rows = []
    for row in matrix.rows:
        cells = [_cell_texts(row, row.cells.get(test), intervals) for test in matrix.tests]
        rows.append([row.build, row.config, *(text for pair in cells for text in pair)])
    return Table("Throughput of all targets", columns, rows)


def _cell_texts(row: MatrixRow, cell: MatrixCell | None, intervals: bool) -> tuple[str, str]:
    if cell is None or not cell.ops_per_s.n:
        return "–", "–"
    throughput = estimate_text(cell.ops_per_s) if intervals else number(cell.ops_per_s.value)
    return throughput, "1" if row.label == row.reference else _ratio_text(cell.ratio, intervals)


def _ratio_text(estimate: Estimate, intervals: bool) -> str:
    return ratio_text(estimate.value, estimate, intervals)


def _relative(matrix: Matrix, intervals: bool) -> Table:
    """Tests as lines: the base's throughput, and the ratio of every other target."""
    base, *others = matrix.rows
    rows = []
    for test in matrix.tests:
        first = base.cells.get(test)
        texts = [_cell_texts(row, row.cells.get(test), intervals)[1] for row in others]
        rows.append([test, estimate_text(first.ops_per_s) if first else "–", *texts])
    return Table(
        "Throughput relative to the reference",
        ["test", f"{base.label}, ops/s", *(row.label for row in others)],
        rows,
    )


def _memory(matrix: Matrix) -> list[Table]:
    if not _has_memory(matrix):
        return []
    columns = ["build", "config"]
    for test in matrix.tests:
        columns += [f"{test}, MB", "peak"]
    rows = []
    for row in matrix.rows:
        texts = [text for test in matrix.tests for text in _memory_texts(row.cells.get(test))]
        rows.append([row.build, row.config, *texts, _megabytes(row.data_bytes)])
    return [Table("Memory of the servers, and size of their data", [*columns, "data, MB"], rows)]


def _memory_texts(cell: MatrixCell | None) -> tuple[str, str]:
    if cell is None:
        return "–", "–"
    return _megabytes(cell.pss_bytes.value), _megabytes(cell.peak_rss_bytes)


def _memory_by_target(matrix: Matrix) -> list[Table]:
    """With many tests: the most that any of them took."""
    if not _has_memory(matrix):
        return []
    rows = []
    for row in matrix.rows:
        held = max((cell.pss_bytes.value or 0 for cell in row.cells.values()), default=0)
        peak = max((cell.peak_rss_bytes or 0 for cell in row.cells.values()), default=0)
        rows.append([row.build, row.config, *(_megabytes(value or None) for value in (held, peak, row.data_bytes))])
    columns = ["build", "config", "most at the end of a test, MB", "peak", "data, MB"]
    return [Table("Memory of the servers, and size of their data", columns, rows)]


def _has_memory(matrix: Matrix) -> bool:
    return any(cell.pss_bytes.n or cell.peak_rss_bytes for row in matrix.rows for cell in row.cells.values())


def _megabytes(value: float | None) -> str:
    return "–" if value is None else number(value / _MEGABYTE)


def notes(matrix: Matrix) -> list[str]:
    """What the figures are, and what the disk takes for fsync."""
    counts = {cell.ops_per_s.n for row in matrix.rows for cell in row.cells.values()} - {0} or {0}
    blocks = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else str(max(counts))
    beside = "95 % intervals" if max(counts) >= FEWEST_BLOCKS else "ranges"
    means = f"Geometric means over {blocks} blocks with their {beside}"
    of = means if max(counts) > 1 else "Figures of one block or run, without intervals"
    rows = "; both are measured against the base in the same rows" if max(counts) > 1 else ""
    lines = [
        f"{of}; ratios are to the first config of the same build, and to the base where a build has one config only{rows}."
        f"{_of_verdicts(matrix)}"
    ]
    if _has_memory(matrix):
        lines.append(
            "Memory: resident at the end of the test, shared pages counted once (PSS); peak: of the process that had most "
            "since the test began (VmHWM). Data: tables and indexes when the tests began."
        )
    cells = (row.cells.get(test) for row in matrix.rows for test in matrix.tests)
    if any(cell is None or not cell.ops_per_s.n for cell in cells):
        lines.append("–: not measured.")
    return [*lines, *_sync_lines(matrix)]


def _of_verdicts(matrix: Matrix) -> str:
    """That the ratios to the base are those of the verdicts, where there are any."""
    base = matrix.rows[0].label
    cells = [cell for row in matrix.rows if row.reference == base != row.label for cell in row.cells.values()]
    if all(cell.ratio.low is None for cell in cells):
        return ""
    return f" Ratios to {base} and their intervals are those of the verdicts."


def _sync_lines(matrix: Matrix) -> Iterator[str]:
    if not matrix.sync_latency:
        return
    shown = [
        f"{name.replace('_', ' ')} {number(one['p50_us'])} µs (95th percentile {number(one['p95_us'])}, n = {one['count']})"
        for name, one in matrix.sync_latency.items()
    ]
    fastest_us = min(one["p50_us"] for one in matrix.sync_latency.values())
    limit = f"; a client that waits for it does at most {number(1e6 / fastest_us)} commits/s" if fastest_us else ""
    yield f"A write and its sync took on the data disk, median: {'; '.join(shown)}{limit}."


def render(matrix: Matrix, console: Console) -> None:
    """For the terminal; intervals are left out where it is too narrow for them."""
    show(lambda intervals: tables(matrix, intervals), console)
    for line in notes(matrix):
        say(console, line, "dim")
    console.print()


def show(make: Callable[[bool], Sequence[Table]], console: Console) -> None:
    """Prints the tables that `make` makes with intervals, or without where the terminal is too narrow for them."""
    found = make(True)
    if console.is_terminal and any(_width(table, console) > console.width for table in found):
        found = make(False)
    for table in found:
        say(console, table.title, "bold")
        print_table(console, _rich(table))
        console.print()


def _rich(table: Table) -> RichTable:
    made = plain_table(*table.columns)
    for place, row in enumerate(table.rows):
        made.add_row(*(Text(cell) for cell in row), style="dim" if place in table.uncounted else "")
    return made


def _width(table: Table, console: Console) -> int:
    return console.measure(_rich(table), options=console.options.update(max_width=100_000)).maximum


def flat(matrix: Matrix) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Columns and rows as numbers, for CSV and JSON: `build`, `config`, `<test>_per_s` of each test, then the rest."""
    lines = [_flat_row(row, matrix.tests) for row in matrix.rows]
    columns = list(dict.fromkeys(name for line in lines for name in line))
    return columns, [tuple(line.get(name) for name in columns) for line in lines]


def _flat_row(row: MatrixRow, tests: tuple[str, ...]) -> dict[str, Any]:
    names = {test: test.replace("-", "_") for test in tests}
    cells = [(names[test], row.cells.get(test)) for test in tests]
    line: dict[str, Any] = {"build": row.build, "config": row.config}
    line |= {f"{name}_per_s": _rounded(cell.ops_per_s.value) if cell else None for name, cell in cells}
    for name, cell in cells:
        if cell is not None:
            line |= _flat_cell(name, cell)
    return line | {"data_bytes": row.data_bytes}


def _flat_cell(name: str, cell: MatrixCell) -> dict[str, Any]:
    return {
        f"{name}_per_s_low": _rounded(cell.ops_per_s.low),
        f"{name}_per_s_high": _rounded(cell.ops_per_s.high),
        f"{name}_per_s_least": _rounded(cell.ops_per_s.least),
        f"{name}_per_s_most": _rounded(cell.ops_per_s.most),
        f"{name}_blocks": cell.ops_per_s.n,
        f"{name}_ratio": cell.ratio.value,
        f"{name}_ratio_low": cell.ratio.low,
        f"{name}_ratio_high": cell.ratio.high,
        f"{name}_ratio_least": cell.ratio.least,
        f"{name}_ratio_most": cell.ratio.most,
        f"{name}_ratio_confidence": None if cell.ratio.low is None else cell.ratio.confidence,
        f"{name}_pss_bytes": cell.pss_bytes.value,
        f"{name}_peak_rss_bytes": cell.peak_rss_bytes,
    }


def _rounded(value: float | None) -> float | None:
    """Whole numbers from 100 on: no benchmark knows more digits."""
    return value if value is None else round(value) if value >= 100 else round(value, 2)
