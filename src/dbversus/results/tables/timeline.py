"""What happened second by second in tests that last: the `series` records as rows of timeline.parquet."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dbversus.results.records import AnyRecord, Seconds, Series, of_type
from dbversus.results.schema import TIMELINE_COLUMNS

Row = dict[str, Any]
_COLUMNS = [name for name in TIMELINE_COLUMNS if name in Seconds.__struct_fields__]


def timeline_rows(records: Iterable[AnyRecord], labels: Mapping[str, str]) -> list[Row]:
    """The `series` records as rows of TIMELINE_COLUMNS; `labels`: target name → label. Those of roles come last.

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
    return [{name: row.get(name) for name in TIMELINE_COLUMNS} for row in rows]


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
