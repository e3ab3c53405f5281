import pytest

from dbversus.dbms.settings import cache_bytes, setting_key, split_prefix, why_own


@pytest.mark.parametrize(
    ("dbms", "spelling", "key"),
    [
        ("mysql", "loose-skip-log-bin", "log_bin"),
        ("mariadb", "disable_innodb-doublewrite", "innodb_doublewrite"),
        ("postgres", "Shared_Buffers", "shared_buffers"),
        ("postgres", "skip_scan", "skip_scan"),
        ("sqlite", "CACHE_SIZE", "cache_size"),
    ],
)
def test_spellings_of_one_setting_have_one_key(dbms: str, spelling: str, key: str) -> None:
    assert setting_key(dbms, spelling) == key


def test_a_name_of_mysql_is_taken_apart() -> None:
    assert split_prefix("loose_skip_log_bin") == ("loose_", "skip_", "log_bin")
    assert split_prefix("sync_binlog") == ("", "", "sync_binlog")


def test_what_dbversus_sets_itself_has_a_reason_in_every_spelling() -> None:
    assert why_own("postgres", "Port")
    assert why_own("postgres", "port") == why_own("postgres", "PORT")
    assert not why_own("postgres", "work_mem")


def test_sizes_of_caches_are_read_as_each_server_writes_them() -> None:
    settings = {"loose-innodb-buffer-pool-size": "128M", "rocksdb_block_cache_size": "1G", "sync_binlog": "0"}
    assert cache_bytes("mysql", settings) == {"loose-innodb-buffer-pool-size": 2**27, "rocksdb_block_cache_size": 2**30}
    assert cache_bytes("postgres", {"shared_buffers": "16384", "work_mem": "4MB"}) == {"shared_buffers": 2**27}
    assert cache_bytes("sqlite", {"cache_size": "-2000"}) == {"cache_size": 2_048_000}
