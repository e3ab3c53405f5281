"""Room that InnoDB takes for rows and logs, by its settings and version."""

from dbversus.dbms.model import Disk, Stored
from dbversus.dbms.sizes import WRITTEN_BYTES, size_bytes
from dbversus.dbms.versions import numbers

# of a row: all of it, its CHAR columns, its index on k
_ROW_BYTES, _TEXT_BYTES, _SECONDARY_BYTES = 220, 180, 16
_PAGE_HEAD_BYTES = 200
_CHARSET_BYTES = {"utf8mb4": 4, "utf8mb3": 3, "utf8": 3, "utf32": 4, "utf16": 4, "ucs2": 2}


def disk(*, is_mariadb: bool) -> Disk:
    return Disk(
        lambda stored: _row_bytes(stored, is_mariadb=is_mariadb),
        lambda stored, _: (
            redo_bytes(stored, is_mariadb=is_mariadb)
            + (WRITTEN_BYTES if _has_binlog(stored, is_mariadb=is_mariadb) else WRITTEN_BYTES / 4)
        ),
    )


def _row_bytes(stored: Stored, *, is_mariadb: bool) -> float:
    settings = stored.settings
    row = float(_ROW_BYTES)
    if settings.get("innodb_default_row_format", "").upper() == "REDUNDANT":
        # it keeps room for the longest text of as many characters; the others for the text that there is
        row += _TEXT_BYTES * (_CHARSET_BYTES.get(_charset(stored, is_mariadb=is_mariadb), 1) - 1)
    page = size_bytes(stored.init_options.get("innodb_page_size", "16384")) or 16384
    rows_per_page = max(1, int((page - _PAGE_HEAD_BYTES) * 15 / 16 / row))
    full = float(settings.get("innodb_fill_factor", 100)) / 100
    return page / rows_per_page + _SECONDARY_BYTES / max(full, 0.1)


def _charset(stored: Stored, *, is_mariadb: bool) -> str:
    newer = (11, 6) if is_mariadb else (8,)
    default = "utf8mb4" if numbers(stored.version) >= newer else "latin1"
    return stored.settings.get("character_set_server", default)


def redo_bytes(stored: Stored, *, is_mariadb: bool) -> float:
    """InnoDB allocates all of its redo logs at once."""
    settings, version = stored.settings, numbers(stored.version)
    size, files = settings.get("innodb_log_file_size"), settings.get("innodb_log_files_in_group")
    if not is_mariadb and version >= (8, 0, 30):
        capacity = settings.get("innodb_redo_log_capacity")
        if capacity or not (size or files):
            return size_bytes(capacity or "100M") or 0.0
    one_file = is_mariadb and version >= (10, 5)
    default = "96M" if one_file else "5M" if not is_mariadb and version < (5, 6, 8) else "48M"
    return (size_bytes(size or default) or 0.0) * (1 if one_file else int(files or 2))


def _has_binlog(stored: Stored, *, is_mariadb: bool) -> bool:
    settings = stored.settings
    refused = any(name in settings for name in ("skip_log_bin", "disable_log_bin"))
    if refused or settings.get("log_bin") in ("0", "OFF"):
        return False
    return "log_bin" in settings or (not is_mariadb and numbers(stored.version) >= (8,))
