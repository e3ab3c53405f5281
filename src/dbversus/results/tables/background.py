"""What servers did beside answering: background work by kind, and what they did after a test to pay what it had left."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from dbversus.dbms.renamed import background_name
from dbversus.results.records import AnyRecord, Background, Drain, DrainFigures, of_type
from dbversus.results.tables.table import ResultTable


def drain_rows(records: Iterable[AnyRecord], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """The `drain` records as rows of DRAINS.columns; `labels`: target name → label.

    A test that was resumed after its drain was drained again, with the same work behind it: the last record counts.
    """
    last = {(record.block, record.test, record.tag): record for record in of_type(records, Drain)}
    return [
        _drain_row(record, labels[name], figures)
        for record in last.values()
        for name, figures in record.targets.items()
    ]


def _drain_row(record: Drain, label: str, figures: DrainFigures) -> dict[str, Any]:
    return {name: getattr(figures, name, None) for name in DRAINS.columns} | {
        "test": record.test,
        "target": label,
        "block": record.block,
        "target_group": record.group,
        "drain_cpu_us_per_op": _per_op(figures.server_cpu_ns, figures.ops, 1e-3),
        "drain_write_bytes_per_op": _per_op(figures.server_write_bytes, figures.ops),
    }


def _per_op(value: float | None, ops: int, scale: float = 1.0) -> float | None:
    """None where the host could not tell the value, or nothing was done."""
    return None if value is None or not ops else value * scale / ops


def background_rows(records: Iterable[AnyRecord], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """The `background` records as rows of BACKGROUND_WORK.columns; those of one target, test and block are added up.

    What versions call otherwise has one name here. A kind that a target has in any block of a test is there in all of them, if
    need be with 0.
    """
    ops: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    cpu_ns: dict[tuple[str, str], Counter[tuple[str, int]]] = defaultdict(Counter)
    for record in of_type(records, Background):
        for name, work in record.targets.items():
            place = record.test, labels[name]
            ops[place][record.block] += work.ops
            for kind, used_ns in work.cpu_ns.items():
                cpu_ns[place][background_name(kind), record.block] += used_ns
    return [
        {
            "test": place[0],
            "target": place[1],
            "block": block,
            "kind": kind,
            "ops": done,
            "cpu_ns": used[kind, block],
            "cpu_us_per_op": _per_op(used[kind, block], done, 1e-3),
        }
        for place, used in cpu_ns.items()
        for kind in sorted({kind for kind, _ in used})
        for block, done in ops[place].items()
    ]


# one row per target, block and test that changes data. `target_group`: of those that were up together
DRAINS = ResultTable(
    "drains",
    {
        "test": "VARCHAR",
        "target": "VARCHAR",
        "block": "INTEGER",
        "target_group": "VARCHAR",
        "ops": "BIGINT",
        "idle": "BOOLEAN",
        "elapsed_ns": "BIGINT",
        "server_cpu_ns": "BIGINT",
        "server_foreground_cpu_ns": "BIGINT",
        "server_background_cpu_ns": "BIGINT",
        "server_read_bytes": "BIGINT",
        "server_write_bytes": "BIGINT",
        "drain_cpu_us_per_op": "DOUBLE",
        "drain_write_bytes_per_op": "DOUBLE",
    },
    lambda of: drain_rows(of.records, of.labels),
)

# one row per target, block, test and kind of background work
BACKGROUND_WORK = ResultTable(
    "background",
    {
        "test": "VARCHAR",
        "target": "VARCHAR",
        "block": "INTEGER",
        "kind": "VARCHAR",
        "ops": "BIGINT",
        "cpu_ns": "BIGINT",
        "cpu_us_per_op": "DOUBLE",
    },
    lambda of: background_rows(of.records, of.labels),
)
