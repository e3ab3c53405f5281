"""What is taken to act on stored data, and what is known not to."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.servers.base import ServerConfig
from dbversus.servers.config.load import Complete, available_configs, load_config
from dbversus.servers.config.run_time import acts_on_data, run_time_groups
from dbversus.servers.config.sizing import Sizing

SIZING = Sizing(memory_bytes=2**30, targets=2, cpus=2, data_bytes=2**20)
VERSIONS = {"postgres": "17.2", "mysql": "8.0.40", "mariadb": "10.11.8", "myrocks": "10.11.8", "sqlite": "3.46"}
# all others change nothing but how a server runs
ON_DATA = {
    "postgres": {"checksums_off", "dedup_off", "partitioned", "server_defaults"},
    "mysql": {"server_defaults", "partitioned"},
    "mariadb": {"server_defaults", "partitioned"},
    "myrocks": {
        "server_defaults",
        "cx6a",
        "ref2017",
        "partitioned",
        "limited_memory",
        "scaled_levels",
        "none",
        "lz4",
        "lz4_zstd",
        "zstd",
    },
    "sqlite": {"wal", "wal_sync_normal", "rollback_sync_full"},
}
ALLOCATORS = {"jemalloc", "tcmalloc", "mimalloc"}  # those would be fetched


def on_data(dbms: str, *items: str) -> dict[str, dict[str, str]]:
    return acts_on_data(dbms, load_config(dbms, VERSIONS[dbms], items, SIZING))


@pytest.mark.parametrize("dbms", VERSIONS)
def test_configs_that_come_with_dbversus_load_anew_only_where_they_act_on_data(dbms: str) -> None:
    base = on_data(dbms)
    names = [name for name, file in available_configs(dbms).items() if file.applies(VERSIONS[dbms])]
    assert {name for name in names if name not in ALLOCATORS and on_data(dbms, name) != base} == ON_DATA[dbms]


@pytest.mark.parametrize(
    "item",
    [
        "innodb_default_row_format=REDUNDANT",
        "innodb_fill_factor=50",
        "character_set_server=utf8mb4",
        "collation_server=latin1_bin",
        "innodb_page_size=8192",
        "innodb_stats_persistent_sample_pages=100",
        "innodb_compression_level=1",
        "sql_mode=ANSI",
        "a_setting_of_a_plugin=1",
    ],
)
def test_whatever_is_not_known_to_act_at_run_time_alone_loads_anew(item: str) -> None:
    assert on_data("mysql", item) != on_data("mysql")


@pytest.mark.parametrize(
    "item",
    [
        "innodb_buffer_pool_size=64M",
        "innodb-flush-log-at-trx-commit=1",
        "loose_optimizer_switch=mrr=on",
        "env.LD_PRELOAD=/x",
    ],
)
def test_run_time_settings_share_however_they_are_written(item: str) -> None:
    assert on_data("mysql", item) == on_data("mysql")


def test_a_variable_of_the_process_that_nobody_knows_loads_anew() -> None:
    assert on_data("postgres", "env.TZ=UTC") != on_data("postgres")


def test_every_group_has_a_reason() -> None:
    for dbms in VERSIONS:
        groups = run_time_groups(dbms)
        assert groups and all(group.reason and (group.settings or group.environment) for group in groups)


def test_a_list_of_ones_own_is_read_as_well(tmp_path: Path) -> None:
    (tmp_path / "run_time").mkdir()
    file = tmp_path / "run_time/postgres.toml"
    file.write_text('[[run_time]]\nsettings = ["my_extension.*"]\nreason = "counts calls"\n')
    config = ServerConfig("", {"my_extension.depth": "3", "work_mem": "1MB", "wal_level": "minimal"})
    assert acts_on_data("postgres", config, tmp_path)["settings"] == {"wal_level": "minimal"}
    assert acts_on_data("postgres", config)["settings"] == {"my_extension.depth": "3", "wal_level": "minimal"}


def test_a_results_folder_has_lists_of_its_own_or_those_that_come_with_dbversus(tmp_path: Path) -> None:
    assert run_time_groups("mariadb", Complete(tmp_path)) == run_time_groups("mysql")
    (tmp_path / "run_time").mkdir()
    (tmp_path / "run_time/1-mysql.toml").write_text('[[run_time]]\nsettings = ["a"]\nreason = "b"\n')
    assert [group.reason for group in run_time_groups("mariadb", Complete(tmp_path))] == ["b"]


@pytest.mark.parametrize(
    ("text", "words"), [("[[run_time]]\nsettings = ['x']", "'run_time.0.reason'"), ("[[", "cannot be read as TOML")]
)
def test_a_list_with_a_mistake_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "run_time").mkdir()
    (tmp_path / "run_time/sqlite.toml").write_text(text)
    with pytest.raises(UsageError, match=rf"run_time/sqlite\.toml.*{words}"):
        acts_on_data("sqlite", ServerConfig("", {}), tmp_path)
