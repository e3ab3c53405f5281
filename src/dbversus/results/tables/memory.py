"""What each server held in memory at the end of a test."""

import msgspec

from dbversus.results.records import Memory, of_type
from dbversus.results.tables.table import Recorded, ResultTable, Row


def memory_rows(recorded: Recorded) -> list[Row]:
    return [
        {"test": record.test, "target": recorded.labels[name], "block": record.block, **msgspec.structs.asdict(use)}
        for record in of_type(recorded.records, Memory)
        for name, use in record.targets.items()
    ]


# one row per target, block and test (of the base: one per group): memory of its server at the end
MEMORY = ResultTable(
    "memory",
    {
        "test": "VARCHAR",
        "target": "VARCHAR",
        "block": "INTEGER",
        "processes": "INTEGER",
        "pss_bytes": "BIGINT",
        "rss_bytes": "BIGINT",
        "peak_rss_bytes": "BIGINT",
    },
    memory_rows,
)
