"""The tables of objects, the same in every report."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dbversus.report.formats.tables.matrix_table import Table
from dbversus.report.model import Estimate, ObjectLine, ObjectsPart, PhasePart, TestPart
from dbversus.report.words import estimate_text, number
from dbversus.units import count_of

PER_OP = "Reads, writes and rows per operation, by object"
AT_END = "Sizes, caches and gauges after the test, by object"
AT_PHASES = "What servers owed and held when each phase began"
PHASES_NOTE = (
    "After settling, where the phase settles. Debt is work put off; levels are those of an LSM tree, L0 the newest. Means over "
    "blocks with 95 % intervals; –: none, or not told by this DBMS."
)
NOTE = (
    "Means over blocks with 95 % intervals, of what servers themselves count; –: none, or not told by this DBMS. Most costly "
    "objects first, by what such figures usually cost. They describe; none is a verdict."
)
ONCE = "What stands at the end as it stood after an earlier test is shown there alone."
MOST_IN_ONE = 8
_UNITS = {"us": "µs"}


def tables(part: ObjectsPart, labels: Sequence[str]) -> list[Table]:
    """What rose per operation, and what there was at the end; without a table that would be empty."""
    columns = ["object", "figure", *labels]
    found = [
        Table(title, columns, [_row(line, labels) for line in lines])
        for title, lines in ((PER_OP, part.per_op), (AT_END, part.at_end))
    ]
    return [table for table in found if table.rows]


def of_tests(tests: Sequence[TestPart], labels: Sequence[str]) -> dict[str, list[Table]]:
    """Test → its tables. What stands at the end as it stood after an earlier test is shown there alone."""
    known: set[tuple[str, ...]] = set()
    return {test.name: list(_fresh(test.objects, labels, known)) if test.objects else [] for test in tests}


def _fresh(part: ObjectsPart, labels: Sequence[str], known: set[tuple[str, ...]]) -> Iterator[Table]:
    """`known`: rows at the end that were shown; those of this test are added."""
    for table in tables(part, labels):
        if table.title == AT_END:
            rows = [row for row in table.rows if tuple(row) not in known]
            known.update(map(tuple, rows))
            table = table._replace(rows=rows)
        if table.rows:
            yield table


def of_all(tests: Sequence[TestPart], labels: Sequence[str]) -> list[Table]:
    """A table of each kind for all tests, the first lines of each test; what stands at the end only where it has changed."""
    columns = ["test", "object", "figure", *labels]
    parts = [(test.name, test.objects) for test in tests if test.objects]
    rises = [[name, *_row(line, labels)] for name, part in parts for line in part.per_op[:MOST_IN_ONE]]
    held: dict[tuple[str, ...], list[str]] = {}
    for name, part in parts:
        for line in part.at_end[:MOST_IN_ONE]:
            row = _row(line, labels)
            held.setdefault(tuple(row), [name, *row])
    found = [Table(PER_OP, columns, rises), Table(AT_END, columns, list(held.values()))]
    return [table for table in found if table.rows]


def of_phases(parts: Sequence[PhasePart], labels: Sequence[str]) -> list[Table]:
    """One table for all phases; none where no server had anything to tell."""
    rows = [[part.name, *_row(line, labels)] for part in parts for line in part.lines]
    return [Table(AT_PHASES, ["phase", "object", "figure", *labels], rows)] if rows else []


def _row(line: ObjectLine, labels: Sequence[str]) -> list[str]:
    return [
        f"{line.kind} {line.object}",
        figure_words(line),
        *(_cell(line.estimates.get(label)) for label in labels),
    ]


def _cell(estimate: Estimate | None) -> str:
    """Without an interval where all blocks agree."""
    if estimate is None:
        return "–"
    settled = estimate.low is not None and estimate.low == estimate.high
    return number(estimate.value) if settled else estimate_text(estimate)


def figure_words(line: ObjectLine) -> str:
    """`read_pages` as `read, pages`."""
    unit = _UNITS.get(line.unit, line.unit)
    if not line.figure.endswith(f"_{line.unit}"):
        return line.figure.replace("_", " ")
    return f"{line.figure.removesuffix(f'_{line.unit}').replace('_', ' ')}, {unit}"


def notes(part: ObjectsPart) -> list[str]:
    """What is left out, and what could not be asked."""
    return [*_left_out(part.left_out + part.at_end_left_out), *(f"Not known of {said}." for said in part.lacking)]


def _left_out(hidden: int) -> Iterator[str]:
    if hidden:
        yield f"Left out: {count_of(hidden, 'figure')} that are small or come later; the table `objects` of `show --sql` has all."


def notes_of_all(tests: Sequence[TestPart], most: int | None = MOST_IN_ONE) -> list[str]:
    """What several tests lack is said once; figures that are left out are counted over all. `most`: lines shown of each test."""
    parts = [test.objects for test in tests if test.objects]
    hidden = sum(
        _hidden(part.per_op, part.left_out, most) + _hidden(part.at_end, part.at_end_left_out, most) for part in parts
    )
    lacking = dict.fromkeys(said for part in parts for said in part.lacking)
    return [NOTE, *_left_out(hidden), *(f"Not known of {said}." for said in lacking)] if parts else []


def _hidden(lines: Sequence[ObjectLine], left_out: int, most: int | None) -> int:
    return left_out + len(lines[len(lines) if most is None else most :])


def as_json(part: ObjectsPart | None) -> dict[str, Any] | None:
    return asdict(part) if part else None
