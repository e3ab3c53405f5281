"""Reads, writes and rows by table, index and file per operation; what there is of them after a test, or when a phase begins.

Objects are ordered by what their figures cost. Costs are what such a thing usually takes, for the order alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dbversus.report.figures import estimate
from dbversus.report.model import ObjectLine, ObjectsPart, PhasePart
from dbversus.results.records import Phase
from dbversus.results.stored import Results

TRIFLE = 0.01
"""Of the largest value with the same unit: less is left out."""
LEAST_PER_OP = 0.001
MOST_LINES = 24
OF_FIRST_BLOCK = frozenset({"cached_bytes", "dirty_bytes"})
"""Figures that are not asked in later blocks (servers/objects.py): nothing of them there is no 0."""
SERVER = "server"
"""The kind of a server's own gauges, which come first."""

_US_EACH = {"read_pages": 50.0, "toast_read_pages": 50.0, "hit_pages": 0.2, "fsync_calls": 100.0, "read_rows": 0.3}
_US_OF_UNIT = {"pages": 1.0, "blocks": 20.0, "calls": 10.0, "rows": 1.0, "bytes": 0.001, "us": 1.0, "scans": 0.3}

Place = tuple[str, str, str]
"""Kind of object, object, figure."""
Rows = Sequence[Mapping[str, Any]]


def objects_of(results: Results, test: str) -> ObjectsPart | None:
    """None where servers told nothing."""
    rows = [row for row in results.objects if row["test"] == test]
    lacking = _lacking(results, test)
    if not rows and not lacking:
        return None
    rises = _lines([row for row in rows if row["per_op"] is not None], "per_op")
    held_rows = [row for row in rows if row["ops"] is None]
    at_end = [
        *_lines([row for row in held_rows if row["figure"] not in OF_FIRST_BLOCK], "value"),
        *_lines([row for row in held_rows if row["figure"] in OF_FIRST_BLOCK], "value"),
    ]
    shown = _ranked([line for line in rises if _largest(line) >= LEAST_PER_OP])
    held = (
        *(line for line in at_end if line.kind == SERVER),
        *_ranked([line for line in at_end if line.kind != SERVER]),
    )
    return ObjectsPart(shown, len(rises) - len(shown), held, len(at_end) - len(held), lacking)


def phases_of(results: Results) -> tuple[PhasePart, ...]:
    """In their order; without those of which no server had anything to tell."""
    blocks: dict[str, dict[str, set[int]]] = {}
    for record in results.of_type(Phase):
        for name in record.targets:
            blocks.setdefault(record.phase, {}).setdefault(results.label(name), set()).add(record.block)
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in results.phases:
        rows.setdefault(row["phase"], []).append(row)
    found = {name: _lines(rows[name], "value", blocks[name]) for name in blocks if name in rows}
    return tuple(PhasePart(name, tuple(sorted(lines, key=_debt_first))) for name, lines in found.items())


def _debt_first(line: ObjectLine) -> tuple[bool, str, str, str]:
    return line.kind != SERVER, line.kind, line.object, line.figure


def _lacking(results: Results, test: str) -> tuple[str, ...]:
    said = {
        f"{results.label(name)}: {source}: {why}"
        for record in results.object_records
        if record.test == test
        for name, sources in record.lacking.items()
        for source, why in sources.items()
    }
    return tuple(sorted(said))


def _lines(rows: Rows, column: str, asked: Mapping[str, set[int]] | None = None) -> list[ObjectLine]:
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
