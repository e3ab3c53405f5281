"""Settings that act only when a data directory is created: they are options of its creation, however they are written."""

from dbversus.dbms.flavour import MYSQL_FAMILY
from dbversus.servers.config.names import setting_key

_OF_MYSQL = ("innodb_page_size", "innodb_data_file_path", "innodb_undo_tablespaces", "lower_case_table_names")
AT_CREATION: dict[str, tuple[str, ...]] = {
    "postgres": ("checksums", "wal_segsize", "fillfactor"),
    "sqlite": ("page_size", "encoding", "auto_vacuum"),
    **dict.fromkeys(MYSQL_FAMILY, _OF_MYSQL),
}


def creation_name(dbms: str, name: str) -> str | None:
    """The option of creation that a setting means; None for a setting of a running server."""
    plain = setting_key(dbms, name)
    return plain if plain in AT_CREATION.get(dbms, ()) else None
