"""What happened second by second in tests that last: the `series` records as rows of timeline.parquet."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dbversus.results.records import AnyRecord, Seconds, Series, of_type
from dbversus.results.tables.table import ResultTable, Row


def whole_tests(seconds: Iterable[Row]) -> list[Row]:
    """Without those of roles."""
    return [row for row in seconds if not row["role"]]


def timeline_rows(records: Iterable[AnyRecord], labels: Mapping[str, str]) -> list[Row]:
    """The `series` records as rows of TIMELINE.columns; `labels`: target name → label. Those of roles come last.

    Where a test was resumed, there are several of one block: the seconds of each go on after those before.
    """
    rows: list[Row] = []
    for record, name, seconds, begin in continued(records):
        place = {
            "test": record.test,
            "block": record.block,
            "target_group": record.group,
            "target": labels[name],
        }
        rows += [{**place, **row} for row in _rows(seconds, begin)]
    return [{name: row.get(name) for name in TIMELINE.columns} for row in rows]


def continued(records: Iterable[AnyRecord]) -> Iterator[tuple[Series, str, Seconds, int]]:
    """Each record's targets: name, seconds, and the number that the first of these seconds has in its block."""
    ends: defaultdict[tuple[int, str, str, str], int] = defaultdict(int)
    for record in of_type(records, Series):
        for name, seconds in record.targets.items():
            key = (record.block, record.test, record.tag, name)
            yield record, name, seconds, ends[key]
            ends[key] += seconds.second[-1] + 1 if seconds.second else 0


def _rows(seconds: Seconds, begin: int) -> Iterator[Row]:
    # figures that an older dbversus did not have are lists without values
    columns = {name: values for name in _COLUMNS if (values := getattr(seconds, name))}
    whole = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    began: list[int | None] = [pieces[0][0] for pieces in seconds.pieces]
    began = began or [None] * len(whole)
    times = [
        {"second": row["second"] + begin, "elapsed_ns": row["elapsed_ns"], "began_unix_ns": at}
        for row, at in zip(whole, began, strict=True)
    ]
    yield from ({**row, **time, "role": ""} for row, time in zip(whole, times, strict=True))
    for role, own in seconds.roles.items():
        slowest_ns: Sequence[int | None] = own.slowest_ns or [None] * len(own.ops)
        figures = zip(times, own.ops, slowest_ns, strict=True)
        yield from ({**time, "role": role, "ops": ops, "slowest_ns": slowest} for time, ops, slowest in figures)


# one row per target, block, test and second of driven time, of tests that last, and one for each role.
# `role` is empty for the whole test; of roles `ops` and `slowest_ns` alone are known. `target_group`: as in drains
TIMELINE = ResultTable(
    "timeline",
    {
        "test": "VARCHAR",
        "target": "VARCHAR",
        "block": "INTEGER",
        "target_group": "VARCHAR",
        "role": "VARCHAR",
        "second": "INTEGER",
        "began_unix_ns": "BIGINT",
        "elapsed_ns": "BIGINT",
        "ops": "BIGINT",
        "rows": "BIGINT",
        "affected": "BIGINT",
        "errors": "BIGINT",
        "slowest_ns": "BIGINT",
        "server_cpu_ns": "BIGINT",
        "server_background_cpu_ns": "BIGINT",
        "server_read_bytes": "BIGINT",
        "server_write_bytes": "BIGINT",
    },
    lambda of: timeline_rows(of.records, of.labels),
    file="timeline.parquet",
)
_COLUMNS = [name for name in TIMELINE.columns if name in Seconds.__struct_fields__]
