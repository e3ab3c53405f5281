"""Figures of the roles of tests, slot by slot, as columns: of the rows of a journal, or of roles.parquet."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from dbversus.errors import UsageError
from dbversus.results.columns import Columns, column
from dbversus.results.parquet import stored_parquet
from dbversus.results.records import Row
from dbversus.results.records.roles import RoleSlot
from dbversus.results.schema import JOURNAL, ROLE_COLUMNS


def role_columns(rows: Sequence[Row], labels: Mapping[str, str]) -> Columns:
    """One entry per target, slot and role, of ROLE_COLUMNS; `labels` maps target names to labels."""
    entries = [
        _entry(row, labels[slot.target], slot.elapsed_ns, role, done)
        for row in rows
        for slot in row.slots
        for role, done in (slot.roles or {}).items()
    ]
    return {name: column([entry[name] for entry in entries], kind) for name, kind in ROLE_COLUMNS.items()}


def _entry(row: Row, target: str, elapsed_ns: int | None, role: str, done: RoleSlot) -> dict[str, Any]:
    place = {"test": row.test, "target": target, "block": row.block, "row": row.row, "role": role}
    figures = {name: getattr(done, name) for name in RoleSlot.__struct_fields__}
    return {**place, **figures, "elapsed_ns": elapsed_ns, "errors": sum((done.errors or {}).values())}


def read_roles(path: Path) -> Columns:
    """The columns of roles.parquet; none where no test has roles. Raises UsageError when it is damaged."""
    if not path.is_file():
        return role_columns([], {})
    try:
        with stored_parquet(path, journal=path.with_name(JOURNAL)) as connection:
            read = connection.execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
            names = [part[0] for part in connection.description or []]
    except duckdb.Error as error:
        words = str(error).splitlines()[0]
        raise UsageError(f"{path} is damaged ({words}); remove slots.parquet, both are made from {JOURNAL}.") from error
    values = dict(zip(names, zip(*read, strict=True), strict=True)) if read else {}
    return {name: column(values.get(name, [None] * len(read)), kind) for name, kind in ROLE_COLUMNS.items()}
