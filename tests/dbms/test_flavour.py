import pytest

from dbversus.dbms.flavour import (
    Flavour,
    create_user_statement,
    explain_formats,
    private_settings,
    reset_binlog_statement,
)
from dbversus.dbms.versions import numbers
from dbversus.servers.config.load import available_configs, load_config
from dbversus.servers.config.sizing import Sizing
from dbversus.servers.mysql.files import render
from dbversus.servers.mysql.rocksdb import level_0_files

SIZING = Sizing(memory_bytes=16 * 2**30, targets=2, cpus=8, data_bytes=2**30)


def mysql(*version: int) -> Flavour:
    return Flavour(False, version)


def mariadb(*version: int) -> Flavour:
    return Flavour(True, version)


@pytest.mark.parametrize(
    ("flavour", "statement"),
    [
        (mysql(5, 6, 24), "RESET MASTER"),
        (mysql(8, 0, 33), "RESET MASTER"),
        (mysql(8, 4, 0), "RESET BINARY LOGS AND GTIDS"),
        (mysql(9, 7, 4), "RESET BINARY LOGS AND GTIDS"),
        (mariadb(11, 8, 6), "RESET MASTER"),
    ],
)
def test_binary_logs_are_reset_in_the_words_of_the_version(flavour: Flavour, statement: str) -> None:
    assert reset_binlog_statement(flavour) == statement


@pytest.mark.parametrize(
    ("flavour", "plugin"),
    [
        (mysql(5, 5, 34), False),
        (mysql(5, 7, 22), True),
        (mysql(8, 0, 33), True),
        (mysql(8, 4, 1), False),
        (mysql(9, 7, 4), False),
        (mariadb(10, 11, 19), False),
    ],
)
def test_the_account_has_the_old_plugin_where_it_must_be_asked_for(flavour: Flavour, plugin: bool) -> None:
    assert ("mysql_native_password" in create_user_statement(flavour, "u")) == plugin


def test_formats_of_plans() -> None:
    assert explain_formats(mysql(5, 5, 34)) == ()
    assert explain_formats(mysql(5, 6, 24)) == ("JSON",)
    assert explain_formats(mysql(8, 0, 15)) == ("JSON",)
    assert explain_formats(mysql(8, 0, 16)) == ("TREE", "JSON")
    assert explain_formats(mariadb(10, 11, 19)) == ("JSON",)


def test_private_settings() -> None:
    assert "skip_networking" in private_settings(mysql(5, 5, 9))
    assert private_settings(mysql(5, 7, 22))["secure_file_priv"] == "NULL"
    assert "secure_file_priv" not in private_settings(mariadb(11, 8, 6))


@pytest.mark.parametrize("version", ["5.5.9", "5.6.24", "5.7.22", "8.0.12", "8.0.31", "8.4.2", "9.7.4"])
def test_the_base_fits_every_version_of_mysql(version: str) -> None:
    settings = load_config("mysql", version, [], SIZING).settings
    key = numbers(version)
    assert settings["innodb_buffer_pool_size"] == f"{int(16 * 1024 * 0.7 / 2) // 512 * 512}M"  # 4 instances
    assert ("eq_range_index_dive_limit" in settings) == (key >= (5, 6))
    assert ("query_cache_type" in settings) == (key < (8,))
    assert settings["innodb_flush_method"] == ("O_DIRECT" if key < (5, 6) else "O_DIRECT_NO_FSYNC")
    assert settings.get("innodb_log_file_size") == (None if key >= (8, 0, 30) else "512M" if key >= (5, 6) else "1024M")
    assert settings.get("innodb_redo_log_capacity") == ("2048M" if key >= (8, 0, 30) else None)
    assert settings.get("innodb_page_cleaners") == ("4" if key >= (5, 7) else None)
    assert settings["innodb_purge_threads"] == ("1" if key < (5, 6) else "4")
    assert ("innodb_idle_flush_pct" in settings) == (key >= (8, 0, 18))


@pytest.mark.parametrize(
    "version", ["10.1.23", "10.2.11", "10.2.40", "10.3.9", "10.3.39", "10.5.29", "10.11.19", "11.8.6"]
)
def test_the_base_fits_every_version_of_mariadb(version: str) -> None:
    settings = load_config("mariadb", version, [], SIZING).settings
    key = numbers(version)
    assert ("eq_range_index_dive_limit" in settings) == (
        key[:2] not in ((10, 1),) and version not in ("10.2.11", "10.3.9")
    )
    assert settings["innodb_log_file_size"] == ("512M" if key < (10, 5) else "2048M")
    assert ("innodb_log_files_in_group" in settings) == (key < (10, 5))
    assert ("innodb_change_buffering" in settings) == (key < (11,))
    assert ("innodb_flush_method" in settings) == (key < (11,))
    assert ("innodb_data_file_buffering" in settings) == (key >= (11,))


def test_the_base_of_myrocks_lays_data_out_by_init_options() -> None:
    config = load_config("myrocks", "10.11.19", ["zstd"], SIZING)
    assert config.init_options["rocksdb_override_cf_options"] == (
        "default={compression=kNoCompression;bottommost_compression=kZSTD}"
    )
    assert "block_based_table_factory={cache_index" in config.init_options["rocksdb_default_cf_options"]
    assert config.settings["rocksdb_block_cache_size"] == f"{int(16 * 1024 * 0.7 / 2)}M"


def test_every_config_says_what_it_is_for() -> None:
    for dbms in ("mysql", "mariadb", "myrocks"):
        for file in available_configs(dbms).values():
            assert len(file.description) > 20, file.path


@pytest.mark.parametrize("dbms", ["mysql", "mariadb"])
def test_the_durability_configs_can_be_crossed_in_any_order(dbms: str) -> None:
    version = {"mysql": "8.0.33", "mariadb": "10.11.19"}[dbms]
    without = load_config(dbms, version, ["bl1", "sync1", "dw0", "bl0"], SIZING).settings
    assert "skip_log_bin" in without
    assert "log_bin" not in without
    assert (without["sync_binlog"], without["innodb_flush_log_at_trx_commit"]) == ("1", "1")
    assert without["innodb_doublewrite"] == "OFF"
    again = load_config(dbms, version, ["bl0", "bl1"], SIZING).settings
    assert "log_bin" in again
    assert "skip_log_bin" not in again


def test_settings_as_my_cnf_writes_them() -> None:
    text = render({"skip_log_bin": "", "a": "5M", "b": "x # y", "c": r"a\b", "d": "default={x=1;y=2}"})
    assert text.splitlines() == ["skip_log_bin", "a = 5M", 'b = "x # y"', r"c = a\\b", 'd = "default={x=1;y=2}"']


def test_files_of_level_0_are_read_from_the_status_report() -> None:
    text = """
** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)
------------------------------------------
  L0      3/1   12.50 MB   0.8      0.0
  L6     10/0  200.00 MB   0.0      0.1
 Sum     13/0  212.50 MB   0.0      0.1

** Compaction Stats [default] **
Priority    Files   Size     Score
----------------------------------
 Low      0/0    0.00 KB   0.0      0.2

** Compaction Stats [__system__] **
Level    Files   Size     Score Read(GB)
  L0      2/0    2.88 KB   0.5      0.0
"""
    assert level_0_files(text) == {"default": 3, "__system__": 2}
