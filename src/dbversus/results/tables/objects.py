"""What servers say of their tables, indexes, files and the like: over a test, at its end, and when a phase begins."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dbversus.results.records import AnyRecord, Objects, Phase, of_type
from dbversus.results.tables.table import ResultTable

_UNITS_OF_DEBT = {
    "rows_not_vacuumed": "rows",
    "rows_not_analyzed": "rows",
    "pages_not_all_visible": "pages",
    "history_list": "transactions",
    "checkpoint_running": "checkpoints",
    "compactions_pending": "compactions",
    "compactions_running": "compactions",
}

Nested = Mapping[str, Mapping[str, Mapping[str, float]]]


def object_rows(records: Iterable[AnyRecord], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """The `objects` records as rows of OBJECTS.columns; `labels`: target name → label."""
    rows = []
    for record in of_type(records, Objects):
        place = {"test": record.test, "block": record.block, "target_group": record.group}
        for name, nested in record.rise.items():
            ops = record.spanned_ops.get(name, 0)
            rows += [{**place, "target": labels[name], **row} for row in _rows(nested, ops)]
        for name, nested in record.at_end.items():
            rows += [{**place, "target": labels[name], **row} for row in _rows(nested, None)]
    return rows


def phase_rows(records: Iterable[AnyRecord], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """The `phase` records as rows of PHASES.columns. A block that was interrupted began its phases anew: the last counts."""
    last = {(record.phase, record.block, record.tag): record for record in of_type(records, Phase)}
    return [
        {"phase": record.phase, "target": labels[name], "block": record.block, "target_group": record.group, **row}
        for record in last.values()
        for name, nested in record.targets.items()
        for row in _rows(nested, None)
    ]


def _rows(nested: Nested, ops: int | None) -> Iterator[dict[str, Any]]:
    for kind, objects in nested.items():
        for name, figures in objects.items():
            for figure, value in figures.items():
                yield {
                    "kind": kind,
                    "object": name,
                    "figure": figure,
                    "unit": unit_of(figure),
                    "value": value,
                    "ops": ops,
                    "per_op": value / ops if ops else None,
                }


def unit_of(figure: str) -> str:
    """The last word of its name, pages of `read_pages`; names of debt have it elsewhere."""
    return _UNITS_OF_DEBT.get(figure) or figure.rpartition("_")[2]


# one row per target, block, test, object and figure. `per_op`: of what rose over the test; NULL for what
# there was at its end. `target_group`: as in drains
OBJECTS = ResultTable(
    "objects",
    {
        "test": "VARCHAR",
        "target": "VARCHAR",
        "block": "INTEGER",
        "target_group": "VARCHAR",
        "kind": "VARCHAR",
        "object": "VARCHAR",
        "figure": "VARCHAR",
        "unit": "VARCHAR",
        "value": "DOUBLE",
        "ops": "BIGINT",
        "per_op": "DOUBLE",
    },
    lambda of: object_rows(of.records, of.labels),
    file="objects.parquet",
)

# one row per target, block, phase, object and figure: what there was when the phase began
PHASES = ResultTable(
    "phases",
    {
        "phase": "VARCHAR",
        "target": "VARCHAR",
        "block": "INTEGER",
        "target_group": "VARCHAR",
        "kind": "VARCHAR",
        "object": "VARCHAR",
        "figure": "VARCHAR",
        "unit": "VARCHAR",
        "value": "DOUBLE",
    },
    lambda of: phase_rows(of.records, of.labels),
)
