"""The servers' own counters: what each rose by over a test, and over how many operations."""

from collections.abc import Iterable, Mapping
from typing import Any

from dbversus.dbms.renamed import counter_name
from dbversus.results.records import AnyRecord, Counters, of_type
from dbversus.results.tables.table import ResultTable


def counter_rows(records: Iterable[AnyRecord], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """The `counters` records as rows of COUNTERS.columns, under the names that versions share; `labels`: target name → label."""
    return [
        {
            "test": record.test,
            "target": labels[name],
            "block": record.block,
            "target_group": record.group,
            "counter": counter_name(counter),
            "total": total,
            "ops": ops,
            "per_op": total / ops if ops else None,
        }
        for record in of_type(records, Counters)
        for name, totals in record.delta.items()
        for ops in [_ops(record).get(name, 0)]
        for counter, total in totals.items()
    ]


def lack_spanned_ops(records: Iterable[AnyRecord]) -> bool:
    """Whether counters were journaled by an older dbversus, which did not count all operations that they span."""
    return any(record.spanned_ops is None for record in of_type(records, Counters))


def _ops(record: Counters) -> Mapping[str, int]:
    return (record.counted_ops or {}) if record.spanned_ops is None else record.spanned_ops


# one row per target, block, test and counter of the server's own. `target_group`: as in drains
COUNTERS = ResultTable(
    "counters",
    {
        "test": "VARCHAR",
        "target": "VARCHAR",
        "block": "INTEGER",
        "target_group": "VARCHAR",
        "counter": "VARCHAR",
        "total": "DOUBLE",
        "ops": "BIGINT",
        "per_op": "DOUBLE",
    },
    lambda of: counter_rows(of.records, of.labels),
)
