"""Load figures of each target's own: where two targets share data, one load is not told twice."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from dbversus.results.records import Load
from dbversus.results.records.usage import Usage


def own_loads(loads: Iterable[Load], label: Callable[[str], str]) -> list[Load]:
    """The last record of each target and table; where data is shared, `shares` (a label) instead of figures.

    Newer journals say so themselves. Older ones repeat another target's figures as those of an earlier load.
    """
    last = {(load.target, load.table): load for load in loads}
    owners: dict[tuple[object, ...], str] = {}
    return [_own(load, owners, label) for load in last.values()]


def _own(load: Load, owners: dict[tuple[object, ...], str], label: Callable[[str], str]) -> Load:
    figures = load.own
    if figures is None:
        return load
    # no two loads take the same number of nanoseconds
    owner = owners.setdefault((load.table, figures.elapsed_ns, figures.server_cpu_ns), load.target)
    if owner == load.target or load.loaded_at or not load.earlier:
        return load
    return msgspec.structs.replace(load, shares=label(owner), figures=None)


def load_row(load: Load, label: str) -> dict[str, Any]:
    """A load as a row of a table: its story, and its figures where it has any, its own before what it used."""
    content = {name: value for name, value in msgspec.structs.asdict(load).items() if name != "figures"}
    figures = msgspec.structs.asdict(load.figures) if load.figures else {}
    used = {name: figures.pop(name) for name in Usage.__struct_fields__ if name in figures}
    return {**content, "target": label, **figures, **used}
