"""PostgreSQL."""

from dbversus.dbms.model import Dbms, Disk, Family, Settings, Stored
from dbversus.dbms.reasons import LOG, PRIVATE, SOCKET_ONLY
from dbversus.dbms.sizes import WRITTEN_BYTES, size_bytes

_MB = 2**20
_BLOCK_BYTES = 8192
_HEAP_BYTES, _INDEX_BYTES = 222, 38  # of a row

_OWN = {
    **dict.fromkeys(("listen_addresses", "unix_socket_directories", "port"), SOCKET_ONLY),
    **dict.fromkeys(("logging_collector", "log_destination"), LOG),
    **dict.fromkeys(("data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"), PRIVATE),
}


def _row_bytes(stored: Stored) -> float:
    full = int(stored.init_options.get("fillfactor", 100)) / 100
    return _HEAP_BYTES / full + _INDEX_BYTES / min(1.0, full / 0.9)


def _log_bytes(stored: Stored, data_bytes: float) -> float:
    most = size_bytes(stored.settings.get("max_wal_size", "1GB"), _MB) or 2**30
    segment = int(stored.init_options.get("wal_segsize", 16)) * _MB
    return max(2 * segment, min(most, data_bytes + WRITTEN_BYTES))


POSTGRES = Dbms(
    name="postgres",
    title="PostgreSQL",
    family=Family.POSTGRES,
    settings=Settings(
        own=_OWN,
        at_creation=("checksums", "wal_segsize", "fillfactor"),
        caches=("shared_buffers",),
        cache_bytes=lambda value: size_bytes(value, _BLOCK_BYTES),
        show_bytes=lambda count: f"{count // _MB}MB" if count >= _MB else f"{count // 1024}kB",
    ),
    disk=Disk(_row_bytes, _log_bytes),
    aliases=("pg", "postgresql"),
    binaries=("bin/postgres",),
    version_pattern=r"\(PostgreSQL\) (\d+(?:\.\d+)*(?:devel|(?:alpha|beta|rc)\d*)?)",
    cache_dumps=("autoprewarm.blocks",),
)
