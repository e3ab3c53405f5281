"""Reads a results directory (docs/results-directory.md), checking it on the way. Statistics and reports build on this alone."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from dbversus.errors import RunError, UsageError
from dbversus.results import schema1
from dbversus.results.attributed import attributed_slots, not_own
from dbversus.results.columns import Columns, column, slot_columns
from dbversus.results.journal import header_of, parse_journal
from dbversus.results.other_base import with_base
from dbversus.results.parquet import is_sealed, stored_parquet
from dbversus.results.records import (
    AnyRecord,
    Row,
    of_type,
)
from dbversus.results.schema import (
    CAMPAIGN,
    DRIVEN_COLUMNS,
    HOST,
    JOURNAL,
    LATER_SLOT_COLUMNS,
    ROLES,
    SLOT_COLUMNS,
    SLOTS,
)
from dbversus.results.stored import Results, Target, json_object
from dbversus.results.tables.roles import read_roles, role_columns
from dbversus.results.write import safe_name


def open_results(directory: Path, base: str | None = None) -> Results:
    """Opens a results directory; `base`: label of the target that others are compared with, instead of the first.

    Raises UsageError with one sentence when it is none, damaged, of a newer schema, or has no such target.
    """
    results = _open(Path(directory))
    return results if base is None else with_base(results, base)


def _open(directory: Path) -> Results:
    journal = directory / JOURNAL
    if not journal.is_file() and (directory / CAMPAIGN).is_file():
        raise UsageError(
            f"{directory} is a campaign; expected the results of one experiment: `dbversus show {directory}` lists its own."
        )
    if not journal.is_file():
        raise UsageError(f"{directory} has no {JOURNAL}; expected a results directory written by dbversus.")
    sealed = is_sealed(directory)
    try:
        found, _ = parse_journal(journal, with_rows=not sealed)
        header = header_of(found, journal)
    except (RunError, OSError) as error:
        raise UsageError(str(error)) from error
    for one in header.targets:
        if safe_name(one.name) != one.name:
            raise UsageError(f"{journal}, line 1: a target has the name {one.name!r}; accepted: t0, t1 and so on.")
    targets = tuple(
        Target(one.name, one.label, one.dbms, one.version or "", one.config or "", one.spelled)
        for one in header.targets
    )
    slots = _sealed_slots(directory / SLOTS) if sealed else _journal_slots(found, targets, journal)
    _check_counts(slots, directory / (SLOTS if sealed else JOURNAL))
    labels = {target.name: target.label for target in targets}
    roles = read_roles(directory / ROLES) if sealed else role_columns(of_type(found, Row), labels)
    others = tuple(record for record in found if not isinstance(record, Row))
    host_path = directory / HOST
    host = (
        json_object(host_path.read_text(errors="replace", encoding="utf-8"), str(host_path))
        if host_path.is_file()
        else {}
    )
    slots = attributed_slots(slots, not_own(others, list(labels)), labels)
    return Results(directory, header, targets, tuple(header.tests), others, host, slots, roles)


def _journal_slots(found: Iterable[AnyRecord], targets: Iterable[Target], journal: Path) -> Columns:
    labels = {target.name: target.label for target in targets}
    try:
        return slot_columns(of_type(found, Row), labels)
    except (KeyError, OverflowError) as error:
        raise UsageError(f"{journal}: a `row` record is damaged ({type(error).__name__}: {error}).") from error


def _check_counts(slots: Columns, path: Path) -> None:
    for name in ("ops", "elapsed_ns", "server_cpu_ns"):
        if np.any(np.ma.filled(np.ma.asarray(slots[name], dtype=np.float64), 0.0) < 0):
            raise UsageError(f"{path} is damaged: {name} of a slot is below 0.")


def _sealed_slots(path: Path) -> Columns:
    try:
        with stored_parquet(path, journal=path.with_name(JOURNAL)) as connection:
            read = connection.execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchnumpy()
    except duckdb.Error as error:
        words = str(error).splitlines()[0]
        raise UsageError(f"{path} is damaged ({words}); remove it, it is made again from {JOURNAL}.") from error
    read |= {name: read[then] for name, then in schema1.COLUMNS.items() if then in read}
    slots = len(read["test"]) if "test" in read else 0
    read |= {name: column([None] * slots, SLOT_COLUMNS[name]) for name in LATER_SLOT_COLUMNS - read.keys()}
    read |= {name: read[alone] for name, alone in DRIVEN_COLUMNS.items() if name not in read and alone in read}
    missing = [name for name in SLOT_COLUMNS if name not in read]
    if missing:
        raise UsageError(f"{path} lacks the column {missing[0]}; remove it, it is made again from {JOURNAL}.")
    return {name: _same_shape(read[name], kind) for name, kind in SLOT_COLUMNS.items()}


def _same_shape(values: Any, kind: str) -> Any:
    """As `columns.column` gives them, so that both origins look alike."""
    if kind == "VARCHAR":
        texts = np.array(np.ma.getdata(values), dtype=object)
        texts[np.ma.getmaskarray(values)] = None
        return texts
    return np.ma.masked_array(values, mask=np.ma.getmaskarray(values))
