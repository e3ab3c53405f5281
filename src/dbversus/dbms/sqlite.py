"""SQLite."""

from dbversus.dbms.model import Dbms, Disk, Family, Settings
from dbversus.dbms.sizes import BYTES_PER_ROW, size_bytes

_PAGE_BYTES = 4096


def _cache_bytes(value: str) -> float | None:
    """Pages, or below zero KiB."""
    count = size_bytes(value)
    if count is None:
        return None
    return count * _PAGE_BYTES if count > 0 else -count * 1024


SQLITE = Dbms(
    name="sqlite",
    title="SQLite",
    family=Family.SQLITE,
    settings=Settings(
        at_creation=("page_size", "encoding", "auto_vacuum"), caches=("cache_size",), cache_bytes=_cache_bytes
    ),
    disk=Disk(lambda _: BYTES_PER_ROW, lambda _, data_bytes: data_bytes),  # the journal of one large transaction
    aliases=("sqlite3",),
    library="libsqlite3.so",
    always_here=("bundled", "host"),
    embedded=True,
)
