"""InnoDB's unpaid background work, paying it, and the sizes of its tables and indexes."""

import re
from contextlib import AbstractContextManager

from dbversus.servers.mysql.debt import StorageEngine, changed_settings
from dbversus.servers.mysql.query import Connection, rows, scalar, status

# Statistics, counters and the like: more than one table's statistics take.
_OWN_PAGES = 32
# transactions: innodb_purge_batch_size by default in 5.5
_BATCH = 20
# The limit of dirty pages comes after its low-water mark, which may not be above it.
_EAGER = {
    "innodb_max_dirty_pages_pct_lwm": "0",
    "innodb_max_dirty_pages_pct": "0",
    "innodb_idle_flush_pct": "100",
    "innodb_purge_rseg_truncate_frequency": "1",
}


def debt(connection: Connection) -> dict[str, int]:
    """Unpaid work by name. A name is missing where this version does not have that kind.

    `dirty_pages`: pages changed in the buffer pool only, beyond a few that the server itself dirties at any time.
    `history_list`: transactions whose old row versions have not been purged. `change_buffer_pages`: pages of changes to
    secondary indexes that have not been merged into these.
    """
    text = status_text(connection)
    dirty = int(status(connection, "Innodb_buffer_pool_pages_dirty")["Innodb_buffer_pool_pages_dirty"])
    owed = {"dirty_pages": max(0, dirty - _OWN_PAGES)}
    history = re.search(r"History list length (\d+)", text)
    if history:
        owed["history_list"] = _unpurged(text, int(history[1]))
    buffered = re.search(r"^Ibuf: size (\d+)", text, re.MULTILINE)
    if buffered:
        owed["change_buffer_pages"] = max(0, int(buffered[1]) - 1)  # one page is its root
    return owed


def _unpurged(text: str, length: int) -> int:
    """None when the purge has come up to the youngest transaction, or found nothing more to do; else all of the list.

    The list may still have entries then: it is cut once in 128 rounds of purging only. Version 5.5 does not tell the state
    of its purge, which sleeps until a batch is complete.
    """
    counter = re.search(r"^Trx id counter (\w+)", text, re.MULTILINE)
    done = re.search(r"^Purge done for trx's n:o < (\w+)(.*)", text, re.MULTILINE)
    if not counter or not done:
        return length
    without_state = "state:" not in done[2]
    if counter[1] == done[1] or "running but idle" in done[2] or (without_state and length < _BATCH):
        return 0
    return length


def status_text(connection: Connection) -> str:
    return str(rows(connection, "SHOW ENGINE INNODB STATUS")[0][2])


def paying(connection: Connection) -> AbstractContextManager[None]:
    """Flushing and purging do not hold back."""
    return changed_settings(connection, _EAGER)


INNODB = StorageEngine("InnoDB", debt, paying)


def sizes(connection: Connection, database: str) -> dict[str, int]:
    """Bytes by `table.<name>` (rows are in its primary index) and `index.<name>`, as of the last ANALYZE."""
    if not scalar(connection, "SELECT count(*) FROM information_schema.tables WHERE table_name = 'innodb_index_stats'"):
        return _sizes_without_indexes(connection, database)
    found: dict[str, int] = {}
    page_bytes = int(scalar(connection, "SELECT @@innodb_page_size"))
    for table, index, pages in rows(
        connection,
        "SELECT table_name, index_name, stat_value FROM mysql.innodb_index_stats "  # noqa: S608
        f"WHERE database_name = '{database}' AND stat_name = 'size' ORDER BY 1, 2",
    ):
        name = f"table.{_whole(table)}" if index in ("PRIMARY", "GEN_CLUST_INDEX") else f"index.{index}"
        found[name] = found.get(name, 0) + int(pages) * page_bytes
    return found


def _whole(table: str) -> str:
    """The table to which a partition (`orders#P#p0`) belongs."""
    return re.split("#p#", table, maxsplit=1, flags=re.IGNORECASE)[0]


def _sizes_without_indexes(connection: Connection, database: str) -> dict[str, int]:
    """Before 5.6 only the sum of a table's indexes is known: it goes by the table's name."""
    found: dict[str, int] = {}
    for table, data, indexes in rows(
        connection,
        "SELECT table_name, data_length, index_length FROM information_schema.tables "  # noqa: S608
        f"WHERE table_schema = '{database}' ORDER BY 1",
    ):
        found |= {f"table.{table}": int(data or 0), f"index.{table}": int(indexes or 0)}
    return found
