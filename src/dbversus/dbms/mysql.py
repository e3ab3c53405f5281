"""MySQL, MariaDB, and MyRocks: a server of either, or of their relatives, whose tables are in RocksDB."""

from collections.abc import Mapping
from dataclasses import replace

from dbversus.dbms import innodb_disk
from dbversus.dbms.model import Dbms, Disk, Family, Settings
from dbversus.dbms.reasons import ENGINE, INSTALLATION, LOG, ONE_FOLDER, PRIVATE, SOCKET_ONLY
from dbversus.dbms.sizes import BYTES_PER_ROW, WRITTEN_BYTES, size_bytes

DEFERRED_WORK_S = 1.1
"""InnoDB's purge of what is less than a batch, or in newer MariaDB of all, and its writing of pages begin once a second."""

# Tarballs (bin), Debian and packages of the makers (sbin), Red Hat (libexec).
_BINARIES = ("bin/mariadbd", "bin/mysqld", "sbin/mariadbd", "sbin/mysqld", "libexec/mariadbd", "libexec/mysqld")
# Without the first, an option file of the host could keep a server from telling its version.
_VERSION_OPTIONS = ("--no-defaults", "--version")
_VERSION = r"(?:Ver|from) (?:5\.5\.5-)?(\d+\.\d+\.\d+)"
_DUMPS = ("ib_buffer_pool",)

_OWN: Mapping[str, str] = {
    **dict.fromkeys(("datadir", "pid_file", "tmpdir"), PRIVATE),
    **dict.fromkeys(("basedir", "plugin_dir", "lc_messages_dir", "character_sets_dir"), INSTALLATION),
    **dict.fromkeys(
        ("socket", "port", "bind_address", "networking", "mysqlx", "mysqlx_socket", "mysqlx_port"), SOCKET_ONLY
    ),
    **dict.fromkeys(("admin_address", "admin_port", "extra_port"), SOCKET_ONLY),
    **dict.fromkeys(("log_error", "console", "syslog"), LOG),
    **dict.fromkeys(("innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory"), ONE_FOLDER),
    **dict.fromkeys(("innodb_doublewrite_dir", "aria_log_dir_path", "rocksdb_datadir", "rocksdb_wal_dir"), ONE_FOLDER),
    "user": "dbversus chooses an account without privileges",
    "secure_file_priv": "dbversus turns it off",
}
_OWN_OF_ROCKSDB = dict.fromkeys(("default_storage_engine", "plugin_load_add", "rocksdb"), ENGINE)

_SETTINGS = Settings(
    flags=True,
    own=_OWN,
    adds_up=("optimizer_switch",),
    at_creation=("innodb_page_size", "innodb_data_file_path", "innodb_undo_tablespaces", "lower_case_table_names"),
    caches=("innodb_buffer_pool_size", "rocksdb_block_cache_size", "key_buffer_size", "aria_pagecache_buffer_size"),
    cache_bytes=size_bytes,
    show_bytes=lambda count: f"{count // 2**20}M" if count >= 2**20 else f"{count // 1024}K",
)

MYSQL = Dbms(
    name="mysql",
    title="MySQL",
    family=Family.MYSQL,
    settings=_SETTINGS,
    disk=innodb_disk.disk(is_mariadb=False),
    binaries=_BINARIES,
    version_pattern=_VERSION + r"(?!\S*MariaDB)",
    version_options=_VERSION_OPTIONS,
    cache_dumps=_DUMPS,
    deferred_work_s=DEFERRED_WORK_S,
)
MARIADB = replace(
    MYSQL,
    name="mariadb",
    title="MariaDB",
    disk=innodb_disk.disk(is_mariadb=True),
    aliases=("maria",),
    version_pattern=_VERSION + r"(?=\S*MariaDB)",
    sql_of="mysql",
)
MYROCKS = replace(
    MYSQL,
    name="myrocks",
    title="MyRocks",
    settings=replace(
        _SETTINGS, own={**_OWN, **_OWN_OF_ROCKSDB}, adds_up=("optimizer_switch", "rocksdb_override_cf_options")
    ),
    disk=Disk(lambda _: BYTES_PER_ROW, lambda _, __: WRITTEN_BYTES),
    version_pattern=_VERSION,
    plugin="ha_rocksdb.so",
    built_in="default_cf_options",  # the name of one of its settings
    sql_of="mysql",
    deferred_work_s=0.0,
    compacts=True,
)
