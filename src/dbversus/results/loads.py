"""Load figures of each target's own: where two targets share data, one load is not told twice."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dbversus.results.records import Record

_STORY = ("type", "at_unix_ns", "target", "table", "earlier")


def own_loads(loads: Iterable[Record], label: Callable[[str], str]) -> list[Record]:
    """The last `load` record of each target and table; where data is shared, `shares` (a label) instead of figures.

    Newer journals say so themselves. Older ones repeat another target's figures as those of an earlier load.
    """
    last = {(record["target"], record.get("table")): record for record in loads}
    owners: dict[tuple[object, ...], str] = {}
    return [_own(record, owners, label) for record in last.values()]


def _own(record: Record, owners: dict[tuple[object, ...], str], label: Callable[[str], str]) -> Record:
    if not is_own(record):
        return record
    # no two loads take the same number of nanoseconds
    owner = owners.setdefault(
        (record.get("table"), record["elapsed_ns"], record.get("server_cpu_ns")), record["target"]
    )
    if owner == record["target"] or record.get("loaded_at") or not record.get("earlier"):
        return record
    return {**{name: record[name] for name in _STORY if name in record}, "shares": label(owner)}


def is_own(record: Mapping[str, Any]) -> bool:
    """Whether a `load` record has figures of its own target's load."""
    return bool(record.get("elapsed_ns")) and not record.get("shares")
