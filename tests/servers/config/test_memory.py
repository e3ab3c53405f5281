import re

import pytest

from dbversus.dbms.sizes import size_bytes
from dbversus.errors import UsageError
from dbversus.servers.config.load import load_config
from dbversus.servers.config.memory import check_together
from dbversus.servers.config.sizing import Sizing

GIB = 2**30


@pytest.mark.parametrize(
    ("text", "unit_bytes", "found"),
    [("128M", 1, 2**27), ("1GB", 8192, GIB), ("16384", 8192, 2**27), ("1.5 GB", 1, 1.5 * GIB), ("512B", 8192, 512)],
)
def test_sizes(text: str, unit_bytes: int, found: float) -> None:
    assert size_bytes(text, unit_bytes) == found
    assert size_bytes("lots") is None


def test_the_servers_that_are_up_together_must_fit() -> None:
    needs = [("a", 6.0 * GIB), ("b", 2.0 * GIB), ("c", 5.0 * GIB)]
    check_together(needs, 1, 8 * GIB)
    check_together(needs, 2, 11 * GIB)
    with pytest.raises(UsageError, match=r"ask for 11\.0 GiB \(a 6\.0 GiB, c 5\.0 GiB\), more than the 10\.0 GiB"):
        check_together(needs, 2, 10 * GIB)
    with pytest.raises(UsageError, match=r"ask for 13\.0 GiB .*--at-once"):
        check_together(needs, 3, 12 * GIB)


@pytest.mark.parametrize(
    ("dbms", "version", "found"),
    [
        ("postgres", "17.11", {"shared_buffers": "128MB", "effective_cache_size": "384MB"}),
        ("mysql", "8.0.33", {"innodb_buffer_pool_size": "192M", "innodb_buffer_pool_chunk_size": "1M"}),
        ("mysql", "8.0.33", {"innodb_flush_method": "O_DIRECT_NO_FSYNC"}),
        ("mysql", "5.7.44", {"innodb_buffer_pool_size": "256M", "innodb_buffer_pool_chunk_size": "1M"}),
        ("mariadb", "10.6.5", {"innodb_buffer_pool_size": "307M", "innodb_buffer_pool_chunk_size": "1M"}),
        ("mariadb", "10.11.19", {"innodb_buffer_pool_size": "307M", "innodb_flush_method": "O_DIRECT"}),
        ("mariadb", "11.4.2", {"innodb_buffer_pool_size": "307M", "innodb_data_file_buffering": "OFF"}),
        ("myrocks", "10.11.19", {"rocksdb_block_cache_size": "128M", "rocksdb_use_direct_reads": "ON"}),
        ("sqlite", "bundled", {"cache_size": str(-256 * 1024), "mmap_size": "0"}),
    ],
)
def test_caches_follow_from_a_limit_whatever_the_number_of_servers(
    dbms: str, version: str, found: dict[str, str]
) -> None:
    for targets in (1, 2):
        settings = load_config(dbms, version, [], Sizing(16 * GIB, targets).limited_to(GIB // 2)).settings
        assert {name: settings[name] for name in found} == found


@pytest.mark.parametrize("limit_mb", [384, 512, 2048])
def test_what_myrocks_may_take_fits_into_the_limit_with_the_server_itself(limit_mb: int) -> None:
    config = load_config("myrocks", "10.11.19", [], Sizing(16 * GIB, 2).limited_to(limit_mb * 2**20))
    memtables = re.findall(r"write_buffer_size=(\w+)", config.init_options["rocksdb_override_cf_options"])
    assert len(memtables) == 2, "of the data, and of the server's own family"
    sizes = [config.settings["rocksdb_block_cache_size"], *memtables * 4]
    taken_mb = sum(size_bytes(size) or 0 for size in sizes) / 2**20
    itself_mb = 270  # measured once indexes of 2M rows were built
    assert taken_mb > 30
    assert taken_mb + itself_mb <= limit_mb


def test_what_a_target_chooses_wins_over_the_limit_s_settings() -> None:
    limited = Sizing(16 * GIB, 2).limited_to(GIB // 2)
    config = load_config("postgres", "17.11", ["shared_buffers=64MB"], limited)
    assert config.settings["shared_buffers"] == "64MB"
    assert config.chosen == {"shared_buffers"}
    bare = load_config("mysql", "8.0.33", ["server_defaults"], limited)
    assert bare.settings["innodb_buffer_pool_size"] == "192M" and "sync_binlog" not in bare.settings
    assert not bare.chosen & {"innodb_buffer_pool_size"}


def test_a_cache_larger_than_the_limit_is_refused() -> None:
    limited = Sizing(16 * GIB, 2).limited_to(GIB // 2)
    with pytest.raises(
        UsageError, match=r"shared_buffers = 600MB asks for 0\.6 GiB, more than the 0\.5 GiB .* --memory"
    ):
        load_config("postgres", "17.11", ["shared_buffers=600MB"], limited)


def test_servers_may_not_have_more_than_the_host() -> None:
    assert Sizing(GIB, 2).limited_to(None) == Sizing(GIB, 2)
    with pytest.raises(UsageError, match=r"--memory 768m for each of 2 servers .* more than the 1\.0 GiB"):
        Sizing(GIB, 2).limited_to(768 * 2**20)


@pytest.mark.parametrize("items", [["cx6a", "limited_memory"], ["ref2017", "limited_memory"], ["limited_memory"]])
@pytest.mark.parametrize("version", ["10.5.23", "10.11.19"])
def test_under_a_limit_no_family_of_myrocks_has_large_memtables(version: str, items: list[str]) -> None:
    config = load_config("myrocks", version, items, Sizing(16 * GIB, 2).limited_to(GIB // 2))
    said = config.init_options["rocksdb_override_cf_options"]
    assert re.findall(r"(\w+)=\{write_buffer_size=(\w+)", said) == [("default", "8M"), ("__system__", "8M")]
