"""Writes the results directory (docs/results-directory.md): the journal while measuring, then slots.parquet and latency logs."""

import errno
import os
import re
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import duckdb
import msgspec

from dbversus.errors import DbversusError, RunError, UsageError
from dbversus.files import LineFile, whole_file, why_refused, write_whole
from dbversus.private import with_short_paths
from dbversus.results.columns import Columns, slot_columns
from dbversus.results.journal import header_of, parse_journal
from dbversus.results.latency import log_text
from dbversus.results.records import TYPES, AnyRecord, Latency, Row, decode, encode, of_type
from dbversus.results.schema import (
    JOURNAL,
    LATENCY,
    ROLE_COLUMNS,
    ROLES,
    SLOT_COLUMNS,
    SLOTS,
)
from dbversus.results.sql import columns_of
from dbversus.results.tables.registry import TABLES
from dbversus.results.tables.roles import role_columns
from dbversus.results.tables.table import Recorded


def check_results_dir(path: Path, but: Collection[str] = ()) -> None:
    """Raises UsageError when something is at `path` already (`but` these), or nothing can be made there; makes nothing."""
    try:
        if path.is_dir() and any(entry.name not in but for entry in path.iterdir()):
            raise UsageError(
                f"{path} is not empty; name a new results directory, or go on with `dbversus resume {path}`."
            )
        above = next(folder for folder in (path, *path.absolute().parents) if os.path.lexists(folder))
        if not above.is_dir():
            raise UsageError(f"{above} is a file; expected the name of a new results directory.")
        if not os.access(above, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, f"no right to write in {above}")
    except OSError as error:
        raise UsageError(f"{path} cannot be created ({error.strerror}); name another results directory.") from None


def create_results_dir(path: Path, but: Collection[str] = ()) -> Path:
    """Creates the directory, or takes an empty one. Raises UsageError as `check_results_dir`."""
    check_results_dir(path, but)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be created ({error.strerror}); name another results directory.") from None
    return path


def safe_name(text: str) -> str:
    """A label or test name as part of a file name."""
    return re.sub(r"[^\w.:@=,+-]", "_", text)


class Journal(LineFile):
    """The append-only journal of one experiment; each record is on disk when `append` returns.

    `host` is what measures (host.facts.machine_id); a record that comes from another host names that itself.
    Opening an existing journal sets a last line that was cut off aside, in journal.jsonl.torn, and says so in `note`.
    Raises RunError when a line in the middle is damaged or when another process has the journal open.
    """

    def __init__(self, directory: Path, host: str):
        path = directory / JOURNAL
        super().__init__(path)
        self.directory = directory
        self._host = host
        try:
            _, good_bytes = parse_journal(path)
            self.note = self.set_aside(good_bytes)
        except DbversusError:
            self.close()
            raise

    def append(self, record: AnyRecord) -> None:
        """Adds one record, with the time and the host where it does not name them, and folders from the home.

        Raises TypeError for anything that could not be read again.
        """
        if type(record) not in TYPES:
            raise TypeError(f"{record!r} is no record of a journal")
        at_unix_ns = record.at_unix_ns or time.time_ns()
        line = encode(msgspec.structs.replace(record, host=record.host or self._host, at_unix_ns=at_unix_ns))
        try:
            decode(line)
        except msgspec.ValidationError as error:
            raise TypeError(f"{record!r} is no record of a journal: {error}") from error
        self.append_line(with_short_paths(line.decode()).encode() + b"\n")


def seal(directory: Path) -> None:
    """Makes slots.parquet and latency/*.hlog from the journal. Can be repeated: same journal, same content."""
    records, _ = parse_journal(directory / JOURNAL)
    header = header_of(records, directory / JOURNAL)
    labels = {target.name: target.label for target in header.targets}
    entries = defaultdict(list)
    for record in of_type(records, Latency):
        for target, text in record.hdr.items():
            entries[record.test, target].append((record.block, record.at_unix_ns / 1e9, text))
    for (test, target), histograms in entries.items():
        path = directory / LATENCY / f"{safe_name(test)}@{safe_name(target)}.hlog"
        write_whole(path, log_text(histograms), within=directory)
    rows = of_type(records, Row)
    if any(slot.roles for row in rows for slot in row.slots):
        write_columns(directory / ROLES, role_columns(rows, labels), ROLE_COLUMNS)
    recorded = Recorded(records, header, labels, slots={}, roles={})
    for table in TABLES:
        if table.file and (found := recorded.rows(table)):
            write_columns(directory / table.file, columns_of(found, table.columns), table.columns)
    # last: its age tells readers whether the directory is sealed
    write_slots(directory / SLOTS, rows, labels)


def write_slots(path: Path, rows: Sequence[Row], labels: Mapping[str, str]) -> None:
    """slots.parquet with the types of schema.SLOT_COLUMNS, put in place in one step."""
    write_columns(path, slot_columns(rows, labels), SLOT_COLUMNS)


def write_columns(path: Path, flat: Columns, types: Mapping[str, str]) -> None:
    """A Parquet file with these types, put in place in one step."""
    casts = ", ".join(f'"{name}"::{kind} AS "{name}"' for name, kind in types.items())
    try:
        with whole_file(path) as file, duckdb.connect() as connection:
            target = f"'/proc/self/fd/{file.fileno()}' (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
            connection.execute(f"COPY (SELECT {casts} FROM flat) TO {target}")  # noqa: S608
    except duckdb.IOException as error:
        raise RunError(f"{path} cannot be written: {why_refused(error)}.") from error
