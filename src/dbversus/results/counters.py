"""The servers' own counters: what each rose by over a test, and over how many operations."""

from collections.abc import Iterable, Mapping

from dbversus.results.records import Record, of_type


def counter_rows(records: Iterable[Record], labels: Mapping[str, str]) -> list[Record]:
    """The `counters` records as rows of COUNTER_COLUMNS; `labels`: target name → label."""
    return [
        {
            "test": record["test"],
            "target": labels[name],
            "block": record["block"],
            "target_group": record.get("group"),
            "counter": counter,
            "total": total,
            "ops": ops,
            "per_op": total / ops if ops else None,
        }
        for record in of_type(records, "counters")
        for name, totals in record["delta"].items()
        for ops in [_ops(record).get(name, 0)]
        for counter, total in totals.items()
    ]


def lack_spanned_ops(records: Iterable[Record]) -> bool:
    """Whether counters were journaled by an older dbversus, which did not count all operations that they span."""
    return any("spanned_ops" not in record for record in of_type(records, "counters"))


def _ops(record: Record) -> Mapping[str, int]:
    found: Mapping[str, int] = record["spanned_ops"] if "spanned_ops" in record else record["ops"]
    return found
