"""Parquet files of a results directory. Kilobytes can hold billions of rows: what they unpack to is asked first."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from dbversus.errors import UsageError
from dbversus.results.schema import JOURNAL, SLOTS

_MOST_SHARE = 0.5
"""Of the memory of this host, for one file."""
_NUMBER_BYTES, _TEXT_BYTES = 16, 64
"""What a value takes in NumPy and Python at most; of a text, besides its length."""
_FEWEST_BYTES_OF_SLOT = 16
"""In the journal: a slot names its target and has figures."""


@contextmanager
def stored_parquet(
    path: Path, *, columns: Collection[str] = (), journal: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that may read `columns` of `path` (empty: all), with a bound on its memory.

    `journal`: what the rows of the file were made from.

    Raises UsageError when the file has more rows than its journal can tell of, or these columns unpack to more than half of this
    host's memory; duckdb.Error when the file is damaged.
    """
    memory_bytes = int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * _MOST_SHARE)
    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit='{memory_bytes}B'")
        rows = _rows(connection, path)
        if journal is not None and rows * _FEWEST_BYTES_OF_SLOT > journal.stat().st_size:
            raise UsageError(
                f"{path} says that it holds {rows:,} rows, more than {journal.name} beside it can tell of; remove it, it is made "
                "again from that."
            )
        unpacked_bytes = _unpacked_bytes(connection, path, columns, rows, memory_bytes)
        if unpacked_bytes > memory_bytes:
            raise UsageError(
                f"{path} unpacks to some {unpacked_bytes / 1e9:,.0f} GB ({rows:,} rows); accepted is half of this host's memory, "
                f"{memory_bytes / 1e9:.1f} GB."
            )
        yield connection


def _rows(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    found = connection.execute("SELECT sum(num_rows) FROM parquet_file_metadata(?)", [str(path)]).fetchone()
    return int(found[0]) if found else 0


def _unpacked_bytes(
    connection: duckdb.DuckDBPyConnection, path: Path, wanted: Collection[str], rows: int, most_bytes: int
) -> int:
    """At least that much, where it is more than `most_bytes`: the lengths of texts are then not looked at."""
    described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
    kinds = {str(name): kind for name, kind, *_ in described if not wanted or name in wanted}
    texts = [name.replace('"', '""') for name, kind in kinds.items() if kind == "VARCHAR"]
    fixed_bytes = rows * (len(texts) * _TEXT_BYTES + (len(kinds) - len(texts)) * _NUMBER_BYTES)
    if fixed_bytes > most_bytes or not texts:
        return fixed_bytes
    lengths = " + ".join(f'coalesce(sum(strlen("{name}")), 0)' for name in texts)
    found = connection.execute(f"SELECT {lengths} FROM read_parquet(?)", [str(path)]).fetchone()  # noqa: S608
    return fixed_bytes + (int(found[0]) if found else 0)


def is_sealed(directory: Path) -> bool:
    """Whether slots.parquet is there and no older than the journal."""
    sealed, journal = directory / SLOTS, directory / JOURNAL
    return sealed.is_file() and sealed.stat().st_mtime_ns >= journal.stat().st_mtime_ns
