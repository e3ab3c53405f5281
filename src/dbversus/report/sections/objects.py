"""Reads, writes and rows by table, index and file per operation, and what there is of them after a test.

Objects are ordered by what their figures cost. Costs are what such a thing usually takes, for the order alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dbversus.report.figures import estimate
from dbversus.report.judged import Judged
from dbversus.report.model import Estimate
from dbversus.report.section import Part, Section
from dbversus.report.table import Cell, Column, Form, Row, Table, figure_cell
from dbversus.report.texts import texts
from dbversus.results.stored import Results
from dbversus.results.tables.objects import OBJECTS
from dbversus.units import count_of

PER_OP = "Reads, writes and rows per operation, by object"
AT_END = "Sizes, caches and gauges after the test, by object"
_SHEET_TITLE = "Reads, writes, rows, sizes, caches and gauges, by object"
_NOTE = (
    "Means over blocks with 95 % intervals, of what servers themselves count; –: none, or not told by this DBMS. Most costly "
    "objects first, by what such figures usually cost. They describe; none is a verdict."
)
_ONCE = "What stands at the end as it stood after an earlier test is shown there alone."
MOST_IN_ONE = 8
"""Lines of each test, where all tests share a table."""
_UNITS = {"us": "µs"}

TRIFLE = 0.01
"""Of the largest value with the same unit: less is left out."""
LEAST_PER_OP = 0.001
MOST_LINES = 24
OF_FIRST_BLOCK = frozenset({"cached_bytes", "dirty_bytes"})
"""Figures that are not asked in later blocks (servers/objects.py): nothing of them there is no 0."""
LEAST_ROWS = 10.0
"""Per operation: fewer do not tell which index a plan uses."""
_READ_BY_INDEX = ("index", "read_rows")
SERVER = "server"
"""The kind of a server's own gauges, which come first."""

_US_EACH = {"read_pages": 50.0, "toast_read_pages": 50.0, "hit_pages": 0.2, "fsync_calls": 100.0, "read_rows": 0.3}
_US_OF_UNIT = {"pages": 1.0, "blocks": 20.0, "calls": 10.0, "rows": 1.0, "bytes": 0.001, "us": 1.0, "scans": 0.3}

Place = tuple[str, str, str]
"""Kind of object, object, figure."""
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ObjectLine:
    """A figure of a table, an index, a file …: an estimate by label of each target that has it; `unit`: last word of `figure`."""

    kind: str
    object: str
    figure: str
    unit: str
    estimates: Mapping[str, Estimate]


@dataclass(frozen=True)
class Objects:
    """What rose `per_op`, and what there was `at_end`; how many figures of each are left out; what could not be asked."""

    per_op: tuple[ObjectLine, ...]
    left_out: int
    at_end: tuple[ObjectLine, ...]
    at_end_left_out: int
    lacking: tuple[str, ...]


def section(judged: Judged) -> Section | None:
    results = judged.results
    found = {test: of_test for test in results.repeated_tests if (of_test := objects_of(results, test))}
    return of_tests(found, judged.labels) if found else None


def of_tests(found: Mapping[str, Objects], labels: Sequence[str]) -> Section:
    return Section(
        title="Objects",
        tables=_of_all(found, labels),
        notes=_notes_of_all(found.values(), MOST_IN_ONE),
        data=(_data(found),),
        of_tests=_parts(found, labels),
        of_tests_note=f"Tables by object: {_NOTE[:1].lower()}{_NOTE[1:]} {_ONCE}",
        content_of_tests={test: asdict(one) for test, one in found.items()},
    )


def _data(found: Mapping[str, Objects]) -> Table:
    rows = [
        [test, when, *row]
        for test, one in found.items()
        for when, lines in (("per operation", one.per_op), ("at the end", one.at_end))
        for line in lines
        for row in line_rows(line)
    ]
    notes = _notes_of_all(found.values(), None)
    return Table([Column("test"), Column("when"), *LINE_COLUMNS], rows, 1, (), _SHEET_TITLE, notes, "Objects")


LINE_COLUMNS = (
    Column("target"),
    Column("object"),
    Column("figure"),
    Column("value", Form.NUMBER, spread=True),
    Column("blocks", Form.COUNT),
)


def line_rows(line: ObjectLine) -> Iterator[list[Cell | str | int]]:
    """For LINE_COLUMNS."""
    for label, one in line.estimates.items():
        yield [label, f"{line.kind} {line.object}", line.figure, figure_cell(one), one.n]


def by_target(labels: Sequence[str]) -> list[Column]:
    return [Column("object"), Column("figure"), *(Column(label, Form.NUMBER, spread=True) for label in labels)]


def across(line: ObjectLine, labels: Sequence[str]) -> Row:
    """A line with all targets, for `by_target`."""
    return [f"{line.kind} {line.object}", _words(line), *(figure_cell(line.estimates.get(label)) for label in labels)]


def _words(line: ObjectLine) -> str:
    """`read_pages` as `read, pages`."""
    unit = _UNITS.get(line.unit, line.unit)
    if not line.figure.endswith(f"_{line.unit}"):
        return line.figure.replace("_", " ")
    return f"{line.figure.removesuffix(f'_{line.unit}').replace('_', ' ')}, {unit}"


def _parts(found: Mapping[str, Objects], labels: Sequence[str]) -> dict[str, Part]:
    """By test; what stands at the end as it stood after an earlier test is shown there alone."""
    known: set[tuple[str, ...]] = set()
    return {test: Part(list(_fresh(one, labels, known)), _notes(one)) for test, one in found.items()}


def _fresh(of_test: Objects, labels: Sequence[str], known: set[tuple[str, ...]]) -> Iterator[Table]:
    """`known`: rows at the end that were shown; those of this test are added."""
    columns = by_target(labels)
    if of_test.per_op:
        yield Table(columns, [across(line, labels) for line in of_test.per_op], title=PER_OP)
    at_end = Table(columns, [across(line, labels) for line in of_test.at_end], title=AT_END)
    keys = list(map(tuple, texts(at_end)))
    rows = [row for row, key in zip(at_end.rows, keys, strict=True) if key not in known]
    known.update(keys)
    if rows:
        yield Table(columns, rows, title=AT_END)


def _of_all(found: Mapping[str, Objects], labels: Sequence[str]) -> list[Table]:
    """A table of each kind for all tests, the first lines of each test; what stands at the end only where it has changed."""
    columns = [Column("test"), *by_target(labels)]
    rises = [[test, *across(line, labels)] for test, one in found.items() for line in one.per_op[:MOST_IN_ONE]]
    at_end = [[test, *across(line, labels)] for test, one in found.items() for line in one.at_end[:MOST_IN_ONE]]
    held: dict[tuple[str, ...], Row] = {}
    for row, key in zip(at_end, texts(Table(columns, at_end)), strict=True):
        held.setdefault(tuple(key[1:]), row)
    tables = Table(columns, rises, title=PER_OP), Table(columns, list(held.values()), title=AT_END)
    return [table for table in tables if table.rows]


def _notes(one: Objects) -> list[str]:
    """What is left out, and what could not be asked."""
    return [*_left_out(one.left_out + one.at_end_left_out), *(f"Not known of {said}." for said in one.lacking)]


def _left_out(hidden: int) -> Iterator[str]:
    if hidden:
        yield f"Left out: {count_of(hidden, 'figure')} that are small or come later; the table `objects` of `show --sql` has all."


def _notes_of_all(parts: Iterable[Objects], most: int | None) -> list[str]:
    """What several tests lack is said once; figures that are left out are counted over all. `most`: lines shown of each test."""
    parts = list(parts)
    hidden = sum(
        one.left_out + len(one.per_op[most or len(one.per_op) :])
        + one.at_end_left_out + len(one.at_end[most or len(one.at_end) :])
        for one in parts
    )  # fmt: skip
    lacking = dict.fromkeys(said for one in parts for said in one.lacking)
    return [_NOTE, *_left_out(hidden), *(f"Not known of {said}." for said in lacking)]


def objects_of(results: Results, test: str) -> Objects | None:
    """None where servers told nothing."""
    rows = [row for row in results.rows(OBJECTS) if row["test"] == test]
    lacking = _lacking(results, test)
    if not rows and not lacking:
        return None
    rises = lines_of([row for row in rows if row["per_op"] is not None], "per_op")
    held_rows = [row for row in rows if row["ops"] is None]
    at_end = [
        *lines_of([row for row in held_rows if row["figure"] not in OF_FIRST_BLOCK], "value"),
        *lines_of([row for row in held_rows if row["figure"] in OF_FIRST_BLOCK], "value"),
    ]
    shown = _ranked([line for line in rises if _largest(line) >= LEAST_PER_OP])
    held = (
        *(line for line in at_end if line.kind == SERVER),
        *_ranked([line for line in at_end if line.kind != SERVER]),
    )
    return Objects(shown, len(rises) - len(shown), held, len(at_end) - len(held), lacking)


def reads_by_other_indexes(results: Results) -> tuple[str, ...]:
    """Tests in which an index gave rows on one target and none on another of the same DBMS that reads by index at all."""
    dbms = {target.label: target.dbms for target in results.targets}
    rows = [row for row in results.rows(OBJECTS) if (row["kind"], row["figure"]) == _READ_BY_INDEX and row["per_op"]]
    return tuple(test for test in dict.fromkeys(row["test"] for row in rows) if _differ_in_indexes(rows, test, dbms))


def _differ_in_indexes(rows: Rows, test: str, dbms: Mapping[str, str]) -> bool:
    own = [row for row in rows if row["test"] == test]
    reading = {row["target"] for row in own}
    for line in lines_of(own, "per_op"):
        there = {label: line.estimates[label].value or 0.0 for label in reading if label in line.estimates}
        most = max(there, key=lambda label: there[label])
        alike = [label for label in reading if dbms[label] == dbms[most]]
        if there[most] >= LEAST_ROWS and any(there.get(label, 0.0) < TRIFLE * there[most] for label in alike):
            return True
    return False


def _lacking(results: Results, test: str) -> tuple[str, ...]:
    said = {
        f"{results.label(name)}: {source}: {why}"
        for record in results.object_records
        if record.test == test
        for name, sources in record.lacking.items()
        for source, why in sources.items()
    }
    return tuple(sorted(said))


def lines_of(rows: Rows, column: str, asked: Mapping[str, set[int]] | None = None) -> list[ObjectLine]:
    """A figure that a target has in one block and not in another was 0 there: zeros are not journaled.

    `asked`: blocks by target in which it was asked, where it may have had nothing at all.
    """
    blocks: dict[str, set[int]] = {name: set(of_target) for name, of_target in (asked or {}).items()}
    values: dict[Place, dict[str, dict[int, list[float]]]] = {}
    units: dict[str, str] = {}
    for row in rows:
        target, block = row["target"], row["block"]
        blocks.setdefault(target, set()).add(block)
        units[row["figure"]] = row["unit"]
        of_target = values.setdefault((row["kind"], row["object"], row["figure"]), {}).setdefault(target, {})
        of_target.setdefault(block, []).append(row[column])
    return [
        ObjectLine(
            *place,
            units[place[2]],
            {target: estimate([_mean(of_block.get(one, [])) for one in sorted(blocks[target])])
             for target, of_block in of_targets.items()},
        )
        for place, of_targets in values.items()
    ]  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    """Of a target that was up with several groups in a block."""
    return sum(values) / len(values) if values else 0.0


def _largest(line: ObjectLine) -> float:
    return max(one.value or 0.0 for one in line.estimates.values())


def _ranked(lines: Sequence[ObjectLine]) -> tuple[ObjectLine, ...]:
    """Without trifles: objects by cost, and the figures of each."""
    most: dict[str, float] = {}
    costs: dict[tuple[str, str], float] = {}
    for line in lines:
        most[line.unit] = max(most.get(line.unit, 0.0), _largest(line))
        place = line.kind, line.object
        costs[place] = costs.get(place, 0.0) + _cost_us(line)
    kept = [line for line in lines if _largest(line) >= TRIFLE * most[line.unit]]
    kept.sort(key=lambda line: (-costs[line.kind, line.object], line.kind, line.object, -_cost_us(line), line.figure))
    return tuple(kept[:MOST_LINES])


def _cost_us(line: ObjectLine) -> float:
    return _largest(line) * _US_EACH.get(line.figure, _US_OF_UNIT.get(line.unit, 0.0))
