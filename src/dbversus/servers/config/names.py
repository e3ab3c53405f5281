"""When two spellings name the same setting, and which settings dbversus keeps for itself."""

import re

from dbversus.dbms.flavour import MYSQL_FAMILY

_NEGATIONS = re.compile(r"^(?:skip|disable|enable)_")
_LOOSE = "loose_"

_PRIVATE = "every server gets a place of its own"
_SOCKET_ONLY = "servers listen on a private Unix socket only"
_LOG = "dbversus reads the server's log from its standard error"
_ONE_FOLDER = "all data of a target is in one folder, so that it can be kept and restored"
_INSTALLATION = "it belongs to the build"
_ENGINE = "tables of myrocks are in RocksDB"

_MYSQL = {
    **dict.fromkeys(("datadir", "pid_file", "tmpdir"), _PRIVATE),
    **dict.fromkeys(("basedir", "plugin_dir", "lc_messages_dir", "character_sets_dir"), _INSTALLATION),
    **dict.fromkeys(
        ("socket", "port", "bind_address", "networking", "mysqlx", "mysqlx_socket", "mysqlx_port"), _SOCKET_ONLY
    ),
    **dict.fromkeys(("admin_address", "admin_port", "extra_port"), _SOCKET_ONLY),
    **dict.fromkeys(("log_error", "console", "syslog"), _LOG),
    **dict.fromkeys(("innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory"), _ONE_FOLDER),
    **dict.fromkeys(("innodb_doublewrite_dir", "aria_log_dir_path", "rocksdb_datadir", "rocksdb_wal_dir"), _ONE_FOLDER),
    "user": "dbversus chooses an account without privileges",
    "secure_file_priv": "dbversus turns it off",
}
_ROCKSDB = dict.fromkeys(("default_storage_engine", "plugin_load_add", "rocksdb"), _ENGINE)
_POSTGRES = {
    **dict.fromkeys(("listen_addresses", "unix_socket_directories", "port"), _SOCKET_ONLY),
    **dict.fromkeys(("logging_collector", "log_destination"), _LOG),
    **dict.fromkeys(("data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"), _PRIVATE),
}
_OWN = {"postgres": _POSTGRES, **dict.fromkeys(MYSQL_FAMILY, _MYSQL), "myrocks": _MYSQL | _ROCKSDB}


def plain_name(dbms: str, name: str) -> str:
    """As the server itself shows it: MySQL takes hyphens for underscores, PostgreSQL and SQLite take any case."""
    return name.replace("-", "_") if dbms in MYSQL_FAMILY else name.lower()


def setting_key(dbms: str, name: str) -> str:
    """The same for all spellings that mean one setting: `loose-skip-log-bin` and `log_bin`."""
    plain = plain_name(dbms, name)
    if dbms not in MYSQL_FAMILY:
        return plain
    return _NEGATIONS.sub("", plain.removeprefix(_LOOSE))


def why_own(dbms: str, name: str) -> str:
    """Why a config may not say this setting: dbversus itself does. Empty where it may."""
    return _OWN.get(dbms, {}).get(setting_key(dbms, name), "")
