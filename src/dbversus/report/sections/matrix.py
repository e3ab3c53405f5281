"""All targets of a matrix side by side, as the reference has durability: throughput, ratio to a neighbour, memory and size."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from dbversus.report.figures import block_figures, estimate, geometric
from dbversus.report.judged import Judged
from dbversus.report.model import Estimate
from dbversus.report.section import Part, Section
from dbversus.report.table import Cell, Column, Form, Mean, Row, Table, Value, figure_cell
from dbversus.report.words import number
from dbversus.results.stored import Results, Target
from dbversus.results.tables.memory import MEMORY
from dbversus.stats.across.contrast import differences
from dbversus.stats.judge import judge
from dbversus.stats.means import FEWEST_BLOCKS, spread_of
from dbversus.stats.metrics import THROUGHPUT, metric_named
from dbversus.stats.model import Finding
from dbversus.stats.values.blocks import block_values
from dbversus.stats.values.imported import imported_findings, is_imported

# up to three targets, the verdict tables say it all
LEAST_TARGETS = 4

# block → value
Values = Mapping[int, float]
Key = tuple[str, str]
# with more tests than this, tests become the lines and targets the columns
MOST_TESTS = 6
_MEGABYTE = 1e6


@dataclass(frozen=True)
class MatrixCell:
    """One test on one target. `ratio`: of throughput to that of the row's reference, from values of the same blocks.

    Memory of the server at the end of the test, in bytes, as in the journal's `memory` records; the peak is the largest.
    """

    ops_per_s: Estimate
    ratio: Estimate
    pss_bytes: Estimate
    peak_rss_bytes: int | None


@dataclass(frozen=True)
class MatrixRow:
    """One target of a matrix. `reference`: label of the row that its ratios are to; its own where there is none.

    `data_bytes`: tables and indexes at their largest. `cells` by test; a test that was not measured has none.
    """

    label: str
    build: str
    config: str
    reference: str
    data_bytes: int | None
    cells: Mapping[str, MatrixCell]


@dataclass(frozen=True)
class Matrix:
    """All targets side by side. `sync_latency`: what the host took for fsync, where the suite asked (host/checks/fsync.py)."""

    tests: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    sync_latency: Mapping[str, Mapping[str, Any]]


def section(judged: Judged) -> Section | None:
    """None where there are so few targets that nobody needs it."""
    return asked(judged) if len(judged.labels) >= LEAST_TARGETS else None


def asked(judged: Judged) -> Section | None:
    return of_matrix(build_matrix(judged.results, judged.findings))


def of_matrix(matrix: Matrix) -> Section:
    """With many tests it is long, and does not stand first."""
    shown, said = tables(matrix), notes(matrix)
    return Section(
        title="The matrix",
        tables=shown,
        notes=said,
        data=[_flat(matrix), _by_test(matrix, said), _figures(matrix, said)],
        on_terminal=Part(shown, said),
        is_first=len(matrix.tests) <= MOST_TESTS,
        content=asdict(matrix),
    )


def tables(matrix: Matrix) -> list[Table]:
    """Throughput, and memory and sizes where they are known."""
    if len(matrix.tests) > MOST_TESTS:
        return [_relative(matrix), *_memory(matrix, _most_memory)]
    return [_throughput(matrix), *_memory(matrix, _memory_by_test)]


def _throughput(matrix: Matrix) -> Table:
    columns = [Column("build"), Column("config")]
    for test in matrix.tests:
        columns += [Column(test, Form.NUMBER, "ops/s", spread=True), Column("ratio", Form.RATIO, spread=True)]
    rows: list[Row] = [
        [row.build, row.config, *(cell for test in matrix.tests for cell in _cells(row, row.cells.get(test)))]
        for row in matrix.rows
    ]
    return Table(columns, rows, title="Throughput of all targets")


def _cells(row: MatrixRow, cell: MatrixCell | None) -> tuple[Cell, Cell]:
    if cell is None or not cell.ops_per_s.n:
        return Cell(None), Cell(None)
    return figure_cell(cell.ops_per_s), Cell("1") if row.label == row.reference else figure_cell(cell.ratio)


def _relative(matrix: Matrix) -> Table:
    """Tests as lines: the base's throughput, and the ratio of every other target."""
    base, *others = matrix.rows
    columns = [Column("test"), Column(base.label, Form.NUMBER, "ops/s", spread=True)]
    columns += [Column(row.label, Form.RATIO, spread=True) for row in others]
    rows: list[Row] = [
        [
            test,
            figure_cell(first.ops_per_s if (first := base.cells.get(test)) else None),
            *(_cells(row, row.cells.get(test))[1] for row in others),
        ]
        for test in matrix.tests
    ]
    return Table(columns, rows, title="Throughput relative to the reference")


def _memory(matrix: Matrix, table: Callable[[Matrix], tuple[list[str], list[list[float | None]]]]) -> list[Table]:
    if not _has_memory(matrix):
        return []
    titles, values = table(matrix)
    columns = [Column("build"), Column("config"), *(Column(title, Form.NUMBER) for title in (*titles, "data, MB"))]
    rows: list[Row] = [
        [row.build, row.config, *own, _megabytes(row.data_bytes)] for row, own in zip(matrix.rows, values, strict=True)
    ]
    return [Table(columns, rows, title="Memory of the servers, and size of their data")]


def _memory_by_test(matrix: Matrix) -> tuple[list[str], list[list[float | None]]]:
    titles = [title for test in matrix.tests for title in (f"{test}, MB", "peak")]
    return titles, [
        [value for test in matrix.tests for value in _memory_of(row.cells.get(test))] for row in matrix.rows
    ]


def _memory_of(cell: MatrixCell | None) -> tuple[float | None, float | None]:
    return (_megabytes(cell.pss_bytes.value), _megabytes(cell.peak_rss_bytes)) if cell else (None, None)


def _most_memory(matrix: Matrix) -> tuple[list[str], list[list[float | None]]]:
    """The most that any of many tests took."""
    held = [max((cell.pss_bytes.value or 0 for cell in row.cells.values()), default=0) for row in matrix.rows]
    peaks = [max((cell.peak_rss_bytes or 0 for cell in row.cells.values()), default=0) for row in matrix.rows]
    values = [[_megabytes(one or None), _megabytes(peak or None)] for one, peak in zip(held, peaks, strict=True)]
    return ["most at the end of a test, MB", "peak"], values


def _has_memory(matrix: Matrix) -> bool:
    return any(cell.pss_bytes.n or cell.peak_rss_bytes for row in matrix.rows for cell in row.cells.values())


def _megabytes(value: float | None) -> float | None:
    return None if value is None else value / _MEGABYTE


def _by_test(matrix: Matrix, said: Sequence[str]) -> Table:
    """Throughput of the base, and of all others relative to their references; with means."""
    base, *others = matrix.rows
    names = [row.label if row.reference == base.label else f"{row.label} to {row.reference}" for row in others]
    columns = [Column("test"), Column(base.label, Form.NUMBER, "ops/s", spread=True)]
    columns += [Column(f"{name} ratio", Form.RATIO, spread=True) for name in names]
    rows: list[Row] = []
    for test in matrix.tests:
        of_base = figure_cell(found.ops_per_s if (found := base.cells.get(test)) else None)
        rows.append([test, of_base, *(_ratio_cell(row, row.cells.get(test)) for row in others)])
    means = [Mean({f"{name} ratio": "" for name in names})]
    all_notes = [*said, "Geometric means are formulas over all tests that have a ratio."]
    return Table(columns, rows, 1, means, f"Throughput relative to {base.label}", all_notes, "Matrix")


def _ratio_cell(row: MatrixRow, cell: MatrixCell | None) -> Cell:
    """What is its own reference has no ratio."""
    return figure_cell(cell.ratio if cell and cell.ops_per_s.n and row.label != row.reference else None)


def _figures(matrix: Matrix, said: Sequence[str]) -> Table:
    columns = [Column("test"), Column("build"), Column("config"), Column("target")]
    columns += [Column("throughput", Form.NUMBER, "ops/s", spread=True), Column("blocks", Form.COUNT)]
    columns += [Column("reference"), Column("throughput ratio", Form.RATIO, spread=True)]
    columns += [Column("memory at the end", Form.NUMBER, "MB", spread=True), Column("memory, peak, MB", Form.NUMBER)]
    columns += [Column("data, MB", Form.NUMBER)]
    rows = [_figure(test, row, cell) for test in matrix.tests for row in matrix.rows if (cell := row.cells.get(test))]
    return Table(columns, rows, 1, (), "Throughput and memory of all targets", said, "Matrix figures")


def _figure(test: str, row: MatrixRow, cell: MatrixCell) -> list[Cell | Value]:
    of_row = test, row.build, row.config, row.label
    rate = figure_cell(cell.ops_per_s), cell.ops_per_s.n, row.reference, _ratio_cell(row, cell)
    memory = figure_cell(cell.pss_bytes, 1 / _MEGABYTE), _megabytes(cell.peak_rss_bytes), _megabytes(row.data_bytes)
    return [*of_row, *rate, *memory]


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
            "since the test began (VmHWM). Data: tables and indexes at their largest, when a block began or after a test."
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


def _flat(matrix: Matrix) -> Table:
    """For programs: `build`, `config`, `<test>_per_s` of each test, as the reference publishes them, then the rest."""
    lines = [_flat_row(row, matrix.tests) for row in matrix.rows]
    columns = list(dict.fromkeys(name for line in lines for name in line))
    return Table(list(map(Column, columns)), [[line.get(name) for name in columns] for line in lines])


def _flat_row(row: MatrixRow, tests: tuple[str, ...]) -> dict[str, Any]:
    names = {test: test.replace("-", "_") for test in tests}
    cells = [(names[test], row.cells.get(test)) for test in tests]
    line: dict[str, Any] = {"build": row.build, "config": row.config}
    line |= {f"{name}_per_s": cell.ops_per_s.value if cell else None for name, cell in cells}
    for name, cell in cells:
        if cell is not None:
            line |= _flat_cell(name, cell)
    return line | {"data_bytes": row.data_bytes}


def _flat_cell(name: str, cell: MatrixCell) -> dict[str, Any]:
    return {
        f"{name}_per_s_low": cell.ops_per_s.low,
        f"{name}_per_s_high": cell.ops_per_s.high,
        f"{name}_per_s_least": cell.ops_per_s.least,
        f"{name}_per_s_most": cell.ops_per_s.most,
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


def build_matrix(results: Results, findings: Sequence[Finding] | None = None) -> Matrix:
    """Every target with every test.

    The reference of a row is the first target of the same build where it has several configs, else the base. Ratios are of
    ratios to the base, by block: the base is up with every group, in the same rows, so that what the host did to a group
    cancels even where target and reference are in different ones. Ratios are those of the findings; where the reference is the
    base, their intervals too.
    """
    found = judge(results) if findings is None else findings
    judged = _judged(found)
    rates = {place: known.get(THROUGHPUT, []) for place, known in block_figures(results, found).items()}
    relative = _relative_to_base(results, THROUGHPUT)
    memory = _held(results)
    tests = results.repeated_tests
    references = _references(results.targets)
    rows = []
    for target in results.targets:
        reference = references[target.label]
        cells = {}
        for test in tests:
            own, theirs = (test, target.label), (test, reference)
            if rates.get(own) or memory.get(own):
                ratio = judged.get(own) if reference == results.base.label else None
                ratio = ratio or _ratio(
                    relative.get(own, {}), relative.get(theirs, {}), judged.get(own), judged.get(theirs)
                )
                cells[test] = _cell(rates.get(own, []), ratio, memory.get(own, {}))
        build, config = _parts(target)
        rows.append(MatrixRow(target.label, build, config, reference, results.data_bytes(target), cells))
    return Matrix(tests, tuple(rows), results.host.get("sync_latency") or {})


def _judged(findings: Sequence[Finding]) -> dict[Key, Estimate]:
    """(test, target label) → its throughput over that of the base, as the verdict has it: one figure has one interval."""
    return {
        (item.test, item.target): Estimate(
            item.ratio, n=item.blocks, confidence=item.confidence, **spread_of(item)._asdict()
        )
        for item in findings
        if item.metric == THROUGHPUT
    }


def _parts(target: Target) -> tuple[str, str]:
    """Build and config of a label: `mysql:8.0@bl0,dw1` → `mysql:8.0`, `bl0_dw1`."""
    build = target.label.removesuffix(f"@{target.config}")
    return build, "_".join(target.config.split(",")) if build != target.label else "base"


def _references(targets: Sequence[Target]) -> dict[str, str]:
    builds = {target.label: _parts(target)[0] for target in targets}
    configs = Counter(builds.values())
    first: dict[str, str] = {}
    for target in targets:
        first.setdefault(builds[target.label], target.label)
    base = targets[0].label
    return {label: first[build] if configs[build] > 1 else base for label, build in builds.items()}


def _held(results: Results) -> dict[Key, dict[str, list[int]]]:
    """(test, target label) → figure → its values; the base has one for each group that it was in."""
    found: dict[Key, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in results.rows(MEMORY):
        for figure in ("pss_bytes", "peak_rss_bytes"):
            if row[figure] is not None:
                found[row["test"], row["target"]][figure].append(row[figure])
    return dict(found)


def _cell(rates: Sequence[float], ratio: Estimate, memory: Mapping[str, Sequence[int]]) -> MatrixCell:
    return MatrixCell(
        ops_per_s=estimate(rates),
        ratio=ratio,
        pss_bytes=estimate(memory.get("pss_bytes", [])),
        peak_rss_bytes=max(memory.get("peak_rss_bytes", []), default=None),
    )


def _ratio(ours: Values, theirs: Values, mine: Estimate | None, of_reference: Estimate | None) -> Estimate:
    """The interval is that over blocks, around the quotient of both ratios to the base where there are such."""
    logs = list(differences(ours, theirs).values())
    if logs and mine and mine.value and of_reference and of_reference.value:
        away = math.log(mine.value / of_reference.value) - fmean(logs)
        logs = [log + away for log in logs]
    return geometric(logs)


def _relative_to_base(results: Results, metric: str) -> dict[tuple[str, str], dict[int, float]]:
    """(test, target label) → ln(metric / that of the base) of each block, from slots of the same rows; the base has 0."""
    base = results.base.label
    relative: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    if is_imported(results):
        return {
            (each.test, target): {0: math.log(ratio)}
            for each in imported_findings(results)
            if each.metric == metric and each.ratio
            for target, ratio in ((each.target, each.ratio), (base, 1.0))
        }
    if results.layout is None:
        return {}
    for value in block_values(results.layout, [metric_named(metric)]):
        if value.value is not None:
            relative[value.test, value.target][value.block] = value.value
            relative[value.test, base][value.block] = 0.0
    return dict(relative)
