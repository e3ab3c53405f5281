"""What happened second by second in tests that last: the `series` records as rows of timeline.parquet."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from dbversus.results.records import AnyRecord, Seconds, Series, of_type
from dbversus.results.schema import TIMELINE_COLUMNS


def timeline_rows(records: Iterable[AnyRecord], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """The `series` records as rows of TIMELINE_COLUMNS; `labels`: target name → label.

    Where a test was resumed, there are several of one block: the seconds of each go on after those before.
    """
    ends: defaultdict[tuple[int, str, str, str], int] = defaultdict(int)
    rows = []
    for record in of_type(records, Series):
        place = {"test": record.test, "block": record.block, "target_group": record.group}
        for name, seconds in record.targets.items():
            key = (record.block, record.test, record.tag, name)
            own = _rows(seconds, ends[key])
            ends[key] = own[-1]["second"] + 1 if own else ends[key]
            rows += [{**place, "target": labels[name], **row} for row in own]
    return [{name: row[name] for name in TIMELINE_COLUMNS} for row in rows]


def _rows(seconds: Seconds, begin: int) -> list[dict[str, Any]]:
    columns = {name: getattr(seconds, name) for name in TIMELINE_COLUMNS if name in Seconds.__struct_fields__}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [{**row, "second": row["second"] + begin} for row in rows]
