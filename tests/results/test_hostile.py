"""Results folders that came from elsewhere: half-written, of mixed schemas, or made to harm who opens them."""

import json
import os
import struct
import zlib
from base64 import b64encode
from pathlib import Path

import duckdb
import pytest

from dbversus.errors import UsageError
from dbversus.results import parquet
from dbversus.results.hdr import decode
from dbversus.results.read import open_results
from dbversus.results.schema import IMPORTED_COLUMNS, IMPORTED_FIGURES, JOURNAL, ROLES, SLOT_COLUMNS, SLOTS
from dbversus.results.tables.imported import imported_table
from dbversus.results.write import seal

from ..journals import DictJournal
from .samples import HEADER, write_journal


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write_journal(tmp_path, rows=3)
    seal(tmp_path)
    return tmp_path


def write_bomb(path: Path, columns: dict[str, str], rows: int, text: str = "'x'") -> None:
    """Equal values: kilobytes on disk, whatever the number of rows."""
    fields = ", ".join(f'{text if kind == "VARCHAR" else 1}::{kind} AS "{name}"' for name, kind in columns.items())
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {fields} FROM range({rows})) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")  # noqa: S608
    assert path.stat().st_size < 1 << 20


@pytest.mark.parametrize("file", [SLOTS, ROLES])
def test_more_rows_than_the_journal_tells_of(directory: Path, file: str) -> None:
    write_bomb(directory / file, SLOT_COLUMNS, 1_000_000)

    with pytest.raises(
        UsageError, match=rf"{file} says that it holds 1,000,000 rows, more than journal.jsonl beside it"
    ):
        open_results(directory)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 MB stand for half of this host's memory."""
    physical_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr(parquet, "_MOST_SHARE", 100e6 / physical_bytes)


@pytest.mark.slow
def test_more_than_memory_takes(directory: Path, little_memory: None) -> None:
    """An import has no rows in its journal."""
    write_bomb(directory / IMPORTED_FIGURES, IMPORTED_COLUMNS, 10_000)
    assert len(imported_table(directory, "imported")["value"]) == 10_000
    write_bomb(directory / IMPORTED_FIGURES, IMPORTED_COLUMNS, 10_000_000)

    with pytest.raises(UsageError, match=r"imported.parquet unpacks to some \d+ GB \(10,000,000 rows\); accepted is"):
        imported_table(directory, "imported")


@pytest.mark.slow
def test_one_long_text_a_thousand_times(directory: Path, little_memory: None) -> None:
    """Few rows, each of them a megabyte: it is stored once."""
    write_bomb(directory / IMPORTED_FIGURES, IMPORTED_COLUMNS, 1000, "repeat('x', 1000000)")

    with pytest.raises(UsageError, match=r"unpacks to some \d+ GB \(1,000 rows\)"):
        imported_table(directory, "imported")


def test_a_histogram_that_unpacks_to_gigabytes() -> None:
    packed = zlib.compress(bytes(128 << 20))

    with pytest.raises(ValueError, match="unpacks to more than 67,108,864 bytes"):
        decode(b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode())


@pytest.mark.parametrize("name", ["../../elsewhere", "/etc", "a/b"])
def test_a_target_whose_name_is_a_path(tmp_path: Path, name: str) -> None:
    targets = [{**HEADER["targets"][0], "name": name}, HEADER["targets"][1]]
    with DictJournal(tmp_path) as journal:
        journal.append({**HEADER, "targets": targets})

    with pytest.raises(UsageError, match=r"line 1: a target has the name .*; accepted: t0, t1 and so on\."):
        open_results(tmp_path)


def test_a_server_file_that_leads_out_of_the_folder(tmp_path: Path) -> None:
    directory, secret = tmp_path / "results", tmp_path / "secret"
    secret.write_text("top secret")
    (directory / "servers/t0").mkdir(parents=True)
    write_journal(directory, rows=1)
    (directory / "servers/t0/config.txt").symlink_to(secret)
    results = open_results(directory)

    with pytest.raises(UsageError, match=r"config\.txt is a link that leads out of the results directory"):
        results.server_text(results.base, "config.txt")


def test_an_empty_journal(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).touch()

    with pytest.raises(UsageError, match=f"{JOURNAL} does not begin with an `experiment` record"):
        open_results(tmp_path)


def test_a_newer_dbversus_resumed_it(directory: Path) -> None:
    record = {"type": "resumed", "schema": 3, "dbversus": "9.0"}
    with (directory / JOURNAL).open("a") as file:
        file.write(json.dumps(record, separators=(",", ":")) + "\n")

    with pytest.raises(UsageError, match=r"has schema 3, written by dbversus 9\.0; this dbversus reads up to 2"):
        open_results(directory)
