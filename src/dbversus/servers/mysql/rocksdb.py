"""MyRocks' unpaid background work, paying it, and the sizes of its tables and indexes."""

import contextlib
import re
from collections.abc import Iterator

from dbversus.servers.mysql.debt import StorageEngine
from dbversus.servers.mysql.query import Connection, rows, variables

# What MyRocks itself writes (statistics of indexes, its dictionary) is no debt of the tables.
_OWN_FAMILY = "__system__"
_TRIGGER = "level0_file_num_compaction_trigger"
_LEVEL_0 = re.compile(r"^\s*L0\s+(\d+)/(\d+)", re.MULTILINE)
_FAMILY = re.compile(r"\*\* Compaction Stats \[(.+?)\] \*\*")
_PENDING_BYTES = re.compile(r"Estimated pending compaction bytes:\s*(\d+)", re.IGNORECASE)


def debt(connection: Connection) -> dict[str, int]:
    """Unpaid work by name.

    `memtable_bytes`: rows in memory only. `l0_files`: files of the first level, which every read has to look into.
    `compactions_pending`: column families that wait for a compaction; `compactions_running`: where the server shows them.
    `pending_compaction_bytes`: where it estimates them.
    """
    families = _families(connection)
    text = status_text(connection)
    owed = {
        "memtable_bytes": sum(_memtable_bytes(stats) for stats in families.values()),
        "l0_files": sum(files for family, files in level_0_files(text).items() if family != _OWN_FAMILY),
        "compactions_pending": sum(stats.get("COMPACTION_PENDING", 0) for stats in families.values()),
        "compactions_running": _running(connection, text),
    }
    pending = [int(found) for found in _PENDING_BYTES.findall(text)]
    return owed | ({"pending_compaction_bytes": sum(pending)} if pending else {})


def _families(connection: Connection) -> dict[str, dict[str, int]]:
    """Numbers by kind, by name of the column family, of those that hold tables."""
    found: dict[str, dict[str, int]] = {}
    for family, kind, value in rows(
        connection, "SELECT cf_name, stat_type, value FROM information_schema.rocksdb_cfstats"
    ):
        if family != _OWN_FAMILY:
            found.setdefault(family, {})[kind] = int(value)
    return found


def _memtable_bytes(stats: dict[str, int]) -> int:
    """An empty memtable takes some memory too, which is not owed to anyone."""
    entries = stats.get("NUM_ENTRIES_ACTIVE_MEM_TABLE", 0) + stats.get("NUM_ENTRIES_IMM_MEM_TABLES", 0)
    return stats.get("CUR_SIZE_ALL_MEM_TABLES", entries) if entries else 0


def level_0_files(text: str) -> dict[str, int]:
    """Files of the first level by column family, from the status report."""
    found: dict[str, int] = {}
    parts = _FAMILY.split(text)[1:]
    for family, part in zip(parts[::2], parts[1::2], strict=True):
        level = _LEVEL_0.search(part)
        if level:  # a family's second table, by priority, has no levels
            found[family] = int(level[1])
    return found


def _running(connection: Connection, text: str) -> int:
    """Compactions at work now: from the view that new versions have, else from the threads in the status report."""
    views = rows(
        connection,
        "SELECT table_name FROM information_schema.tables WHERE table_name = 'rocksdb_active_compaction_stats'",
    )
    if views:
        return len(rows(connection, "SELECT * FROM information_schema.rocksdb_active_compaction_stats"))
    return len(re.findall(r"operation:\s*(?:Compaction|Flush)", text, re.IGNORECASE))


def status_text(connection: Connection) -> str:
    """All parts of the report, each under its name."""
    found = rows(connection, "SHOW ENGINE ROCKSDB STATUS")
    return "\n".join(f"{kind} {name}\n{text}" for kind, name, text in found)


@contextlib.contextmanager
def paying(connection: Connection) -> Iterator[None]:
    """Writes memtables out and has the files of the first level compacted, by the server's ordinary compaction.

    `rocksdb_force_flush_memtable_and_lzero_now` would do both, and is not safe (see the reference method).
    """
    known = variables(connection, "rocksdb%")
    rows(connection, "SET GLOBAL rocksdb_force_flush_memtable_now = 1")
    if "rocksdb_compact_lzero_now" in known:
        rows(connection, "SET GLOBAL rocksdb_compact_lzero_now = 1")
        yield
        return
    triggers = _triggers(connection)
    try:
        for family in triggers:
            _set_trigger(connection, family, 1)
        yield
    finally:
        for family, trigger in triggers.items():
            _set_trigger(connection, family, trigger)


def _triggers(connection: Connection) -> dict[str, int]:
    """Files of the first level at which a compaction starts, by column family."""
    found = rows(
        connection,
        "SELECT cf_name, value FROM information_schema.rocksdb_cf_options "  # noqa: S608
        f"WHERE option_type = '{_TRIGGER.upper()}'",
    )
    return {family: int(value) for family, value in found if family != _OWN_FAMILY}


def _set_trigger(connection: Connection, family: str, files: int) -> None:
    rows(connection, f"SET GLOBAL rocksdb_update_cf_options = '{family}={{{_TRIGGER}={files}}}'")


ROCKSDB = StorageEngine("ROCKSDB", debt, paying)


def sizes(connection: Connection, database: str) -> dict[str, int]:
    """Bytes in files, compressed, by `table.<name>` (rows are in its primary index) and `index.<name>`.

    A file may hold several indexes: each has the share of its blocks that it has of its bytes before compression.
    """
    found: dict[str, int] = {}
    for table, index, kind, size in rows(
        connection,
        "SELECT d.table_name, d.index_name, d.index_type, "  # noqa: S608
        "coalesce(sum(f.data_size * p.data_block_size / (p.raw_key_size + p.raw_value_size)), 0) "
        "FROM information_schema.rocksdb_ddl d LEFT JOIN information_schema.rocksdb_index_file_map f "
        "ON f.column_family = d.column_family AND f.index_number = d.index_number "
        "LEFT JOIN information_schema.rocksdb_sst_props p ON p.sst_name = f.sst_name "
        f"WHERE d.table_schema = '{database}' GROUP BY d.table_name, d.index_name, d.index_type ORDER BY 1, 2",
    ):
        found[f"table.{table}" if int(kind) == 1 or index == "PRIMARY" else f"index.{index}"] = int(size)
    return found
