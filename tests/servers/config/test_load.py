import re
from pathlib import Path

import pytest

from dbversus.dbms.versions import numbers
from dbversus.errors import UsageError
from dbversus.servers.config.file import Item, read_config
from dbversus.servers.config.load import available_configs, load_config
from dbversus.servers.config.sizing import Sizing

SIZING = Sizing(memory_bytes=16 * 2**30, targets=2, cpus=4, data_bytes=2**30)
VERSIONS = ["9.6.24", "10.23", "11.22", "12.22", "13.1", "14.0", "15.19", "16.15", "17.2", "18.6", "19rc1"]


def postgres(version: str, *items: str) -> dict[str, str]:
    return dict(load_config("postgres", version, items, SIZING).settings)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_base_fits_every_version(version: str) -> None:
    settings = postgres(version)
    major = numbers(version)[0]
    assert settings["shared_buffers"] == f"{int(16 * 1024 * 0.7 / 2)}MB"
    assert ("jit" in settings) == (major >= 11)
    assert ("autovacuum_vacuum_insert_scale_factor" in settings) == (major >= 13)
    assert ("vacuum_buffer_usage_limit" in settings) == (major >= 16)
    assert ("io_method" in settings) == (major >= 18)
    assert not any("{" in value for value in settings.values())


@pytest.mark.parametrize("memory_bytes", [2**30, 25_159_933_952, 67_463_122_944 + 4321])
@pytest.mark.parametrize("targets", [1, 2, 3, 7])
@pytest.mark.parametrize("cpus", [1, 2, 3, 8])
@pytest.mark.parametrize(
    ("dbms", "version"),
    [("postgres", "9.6.24"), ("postgres", "18.6"), ("mysql", "5.6.24"), ("mysql", "8.0.33"), ("mariadb", "10.11.19")],
)
def test_sizes_of_the_base_are_such_that_no_version_rounds_them(
    dbms: str, version: str, memory_bytes: int, targets: int, cpus: int
) -> None:
    sizing = Sizing(memory_bytes, targets, cpus, data_bytes=3_333_333_333)
    settings = load_config(dbms, version, [], sizing).settings
    sizes = {name: value for name, value in settings.items() if re.fullmatch(r"\d+ ?[kMG]B?", value)}
    assert len(sizes) >= 3
    assert not [f"{name} = {value}" for name, value in sizes.items() if "k" in value]
    if pool := sizes.get("innodb_buffer_pool_size"):
        assert int(pool[:-1]) % (128 * max(1, min(4, cpus // 2))) == 0 or pool == "128M", (
            pool
        )  # else chunks are rounded


def test_the_log_of_the_base_is_as_large_before_and_since_it_is_one_setting() -> None:
    sizing = Sizing(16 * 2**30, data_bytes=3_333_333_333)
    files = load_config("mysql", "8.0.29", [], sizing).settings["innodb_log_file_size"]
    whole = load_config("mysql", "8.0.30", [], sizing).settings["innodb_redo_log_capacity"]
    assert 4 * int(files[:-1]) == int(whole[:-1])


def test_later_items_win_over_earlier_ones_and_over_the_base() -> None:
    config = load_config("postgres", "17.2", ["sync_on", "synchronous_commit=off", "work_mem='8MB'"], SIZING)
    assert config.name == "sync_on,synchronous_commit=off,work_mem='8MB'"
    assert config.settings["synchronous_commit"] == "off"
    assert config.settings["work_mem"] == "8MB"
    assert postgres("17.2", "synchronous_commit=off", "sync_on")["synchronous_commit"] == "on"


def test_inline_environment_and_init_options_and_expressions() -> None:
    items = ["env.LD_PRELOAD=/usr/lib/libjemalloc.so.2", "init.checksums=off", "work_mem={memory / 1024}"]
    config = load_config("postgres", "17.2", items, SIZING)
    assert config.environment == {"LD_PRELOAD": "/usr/lib/libjemalloc.so.2"}
    assert config.init_options == {"checksums": "off"}
    assert config.settings["work_mem"] == "16MB"
    assert load_config("postgres", "17.2", ["checksums_off"], SIZING).init_options == {"checksums": "off"}


@pytest.mark.parametrize(
    ("dbms", "item", "option"),
    [
        ("mysql", "innodb_page_size=8192", ("innodb_page_size", "8192")),
        ("mariadb", "innodb-page-size=8192", ("innodb_page_size", "8192")),
        ("mysql", "lower_case_table_names=1", ("lower_case_table_names", "1")),
        ("postgres", "checksums=off", ("checksums", "off")),
        ("postgres", "wal_segsize=64", ("wal_segsize", "64")),
        ("postgres", "fillfactor=70", ("fillfactor", "70")),
        ("sqlite", "page_size=8192", ("page_size", "8192")),
    ],
)
def test_what_acts_at_creation_alone_needs_no_prefix(dbms: str, item: str, option: tuple[str, str]) -> None:
    config = load_config(dbms, "11.0", [item], SIZING)
    assert config.init_options == dict([option])
    assert option[0] not in config.settings
    assert load_config(dbms, "11.0", [f"init.{item}"], SIZING).init_options == dict([option])


def test_the_later_of_two_spellings_of_an_option_of_creation_wins() -> None:
    items = ["init.innodb_page_size=4096", "innodb_page_size=8192"]
    assert load_config("mysql", "8.0.40", items, SIZING).init_options == {"innodb_page_size": "8192"}


def test_wal_compression_has_another_name_before_15() -> None:
    assert postgres("14.24", "wal_pglz")["wal_compression"] == "on"
    assert postgres("15.0", "wal_pglz")["wal_compression"] == "pglz"


def test_a_config_without_base_replaces_it() -> None:
    assert postgres("17.2", "server_defaults", "work_mem=1MB") == {"work_mem": "1MB"}


def test_an_unknown_config_names_those_that_exist() -> None:
    with pytest.raises(
        UsageError, match=r"no config 'fpw_of' for postgres 17\.2 \(did you mean 'fpw_off'\?\).*small_wal"
    ):
        postgres("17.2", "fpw_of")


@pytest.mark.parametrize("name", ["./tuned.conf", "/etc/tuned", "tuned.conf"])
def test_a_path_is_no_name_of_a_config(name: str) -> None:
    with pytest.raises(UsageError, match=r"goes into configs/postgres/, and tuned\.conf there is @tuned"):
        postgres("17.2", name)


def test_a_config_for_other_versions_says_which() -> None:
    with pytest.raises(
        UsageError, match=r"'io_uring' is for postgres since 18 and says nothing for 17\.2; there are .*base"
    ):
        postgres("17.2", "io_uring")
    with pytest.raises(UsageError) as caught:
        postgres("17.2", "nothing")
    assert "io_uring" not in str(caught.value)


@pytest.mark.parametrize("item", ["=5", "a b=5", "env.=x"])
def test_an_inline_setting_needs_a_name(item: str) -> None:
    with pytest.raises(UsageError, match="name=value"):
        postgres("17.2", item)


def test_every_shipped_file_can_be_read_and_says_what_it_is_for() -> None:
    for dbms in ("postgres", "sqlite"):
        for file in available_configs(dbms).values():
            assert len(file.description) > 20, file.path
    wanted = {
        "base",
        "fpw_off",
        "sync_off",
        "wal_pglz",
        "wal_lz4",
        "small_wal",
        "checksums_off",
        "x10b",
        "io_worker",
        "io_uring",
        "jit_on",
    }
    assert wanted <= set(available_configs("postgres"))
    assert {"default", "wal", "wal_sync_normal", "rollback_sync_full", "mmap", "cache_64mb"} <= set(
        available_configs("sqlite")
    )


def test_the_directory_given_is_searched_first(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres/mine.conf").write_text("work_mem = 3MB\n")
    (tmp_path / "postgres/small_wal.conf").write_text("max_wal_size = 99MB\n")
    config = load_config("postgres", "17.2", ["mine", "small_wal"], SIZING, tmp_path)
    assert (config.settings["work_mem"], config.settings["max_wal_size"]) == ("3MB", "99MB")
    assert "min_wal_size" in config.settings  # of the base, which is found elsewhere
    with pytest.raises(UsageError, match="does not exist"):
        load_config("postgres", "17.2", [], SIZING, tmp_path / "gone")


def test_the_syntax_of_files(tmp_path: Path) -> None:
    path = tmp_path / "x.conf"
    path.write_text(
        "# For a test.\n# Two lines.\n\na = 'it''s # no comment' # a comment\n[since 12 until 15]\nb=2\n"
        "[environment since 16]\nLD_PRELOAD = /x.so\n[settings]\nc = 3\n"
    )
    file = read_config(path)
    assert file.description == "For a test. Two lines."
    assert [(item.section, item.name, item.value, item.since, item.until) for item in file.items] == [
        ("settings", "a", "it's # no comment", "", ""),
        ("settings", "b", "2", "12", "15"),
        ("environment", "LD_PRELOAD", "/x.so", "16", ""),
        ("settings", "c", "3", "", ""),
    ]


@pytest.mark.parametrize(
    ("line", "words"), [("shared_buffers 5", "name = value"), ("[after 12]", r"\[since 16\]"), ("[since", "section")]
)
def test_mistakes_in_files_name_file_and_line(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "x.conf"
    path.write_text(f"# Something.\na = 1\n{line}\n")
    with pytest.raises(UsageError, match=rf"^{path}:3: .*{words}"):
        read_config(path)


@pytest.mark.parametrize(
    ("since", "until", "inside", "outside"),
    [
        ("16", "", ["16.0", "17.2", "16rc1"], ["15.19", "9.6.1"]),
        ("", "12", ["9.6.1", "12.22"], ["13.0"]),
        ("9.6", "9.6", ["9.6.24"], ["10.1"]),
        ("17.2", "", ["17.2", "17.11", "18.0"], ["17.0"]),
    ],
)
def test_version_bounds_are_inclusive(since: str, until: str, inside: list[str], outside: list[str]) -> None:
    item = Item("settings", "a", "1", since, until, "x.conf:1")
    assert all(item.applies(version) for version in inside)
    assert not any(item.applies(version) for version in outside)


def test_a_broken_file_troubles_only_those_who_name_it(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    broken = tmp_path / "postgres/broken.conf"
    broken.write_text("work_mem 3MB\n")
    (tmp_path / "postgres/mine.conf").write_text("work_mem = 3MB\n")
    assert load_config("postgres", "17.2", ["mine"], SIZING, tmp_path).settings["work_mem"] == "3MB"
    with pytest.raises(UsageError, match=r"no config 'gone'.* mine,"):
        load_config("postgres", "17.2", ["gone"], SIZING, tmp_path)
    with pytest.raises(UsageError, match=rf"^{broken}:1: 'work_mem 3MB' is not understood"):
        load_config("postgres", "17.2", ["broken"], SIZING, tmp_path)


def test_all_spellings_of_a_setting_are_one_and_the_last_wins(tmp_path: Path) -> None:
    (tmp_path / "mysql").mkdir()
    (tmp_path / "mysql/mine.conf").write_text(
        "innodb-buffer-pool-size = 64M\nloose-innodb_io_capacity = 300\nskip-name-resolve\nskip-log-bin\n"
    )
    settings = load_config("mysql", "8.0.33", ["mine"], SIZING, tmp_path).settings
    assert (settings["innodb_buffer_pool_size"], settings["loose_innodb_io_capacity"]) == ("64M", "300")
    assert (settings["skip_name_resolve"], settings["skip_log_bin"]) == ("", "")
    assert not {"log_bin", "innodb_io_capacity", "innodb-buffer-pool-size"} & set(settings)
    again = load_config("mysql", "8.0.33", ["mine", "innodb-io-capacity=400", "bl1"], SIZING, tmp_path).settings
    assert (again["innodb_io_capacity"], again["log_bin"]) == ("400", "binlog")
    assert not {"loose_innodb_io_capacity", "skip_log_bin"} & set(again)
    assert postgres("17.2", "Work_Mem=1MB", "work_mem=2MB")["work_mem"] == "2MB"


def test_a_name_alone_is_no_setting_of_postgres(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres/mine.conf").write_text("# One.\nfsync\n")
    with pytest.raises(UsageError, match=r"mine\.conf:2: 'fsync' is not understood"):
        load_config("postgres", "17.2", ["mine"], SIZING, tmp_path)


@pytest.mark.parametrize(
    ("dbms", "version", "item"),
    [
        ("mysql", "8.0.33", "datadir=/tmp/x"),
        ("mysql", "8.0.33", "skip-networking="),
        ("mariadb", "10.11.19", "loose-pid-file=/tmp/x"),
        ("mariadb", "10.11.19", "log-error=/tmp/x"),
        ("myrocks", "10.11.19", "default_storage_engine=InnoDB"),
        ("postgres", "17.2", "Port=5432"),
        ("postgres", "17.2", "listen_addresses=*"),
        ("postgres", "17.2", "logging_collector=on"),
    ],
)
def test_what_dbversus_sets_itself_cannot_be_chosen(tmp_path: Path, dbms: str, version: str, item: str) -> None:
    name = item.partition("=")[0]
    with pytest.raises(UsageError, match=rf"^'{re.escape(item)}': '{name}' cannot be chosen: .*; leave it out\.$"):
        load_config(dbms, version, [item], SIZING)
    (tmp_path / dbms).mkdir()
    file = tmp_path / dbms / "mine.conf"
    file.write_text(f"# One.\n{item}\n")
    with pytest.raises(UsageError, match=rf"^{file}:2: '{name}' cannot be chosen"):
        load_config(dbms, version, ["mine"], SIZING, tmp_path)


@pytest.mark.parametrize(
    ("dbms", "version", "item"),
    [
        ("mysql", "8.0.33", "innodb_buffer_pool_size=1000G"),
        ("mariadb", "10.11.19", "loose-innodb-buffer-pool-size=17179869185"),
        ("myrocks", "10.11.19", "rocksdb_block_cache_size=1T"),
        ("postgres", "17.2", "shared_buffers=1000GB"),
        ("postgres", "17.2", "shared_buffers=2097153"),
        ("sqlite", "3.40.1", "cache_size=-17179870"),
        ("sqlite", "3.40.1", "cache_size=4200000"),
    ],
)
def test_more_memory_than_the_host_has_is_refused(dbms: str, version: str, item: str) -> None:
    with pytest.raises(UsageError, match=rf"^'{item}': .* asks for .* more than the 16\.0 GiB of memory"):
        load_config(dbms, version, [item], SIZING)


def test_caches_of_one_server_are_added_up() -> None:
    items = ["innodb_buffer_pool_size=10G", "rocksdb_block_cache_size=10G"]
    with pytest.raises(UsageError, match=r"asks for 20\.0 GiB, more than the 16\.0 GiB"):
        load_config("myrocks", "10.11.19", items, SIZING)
    assert load_config("myrocks", "10.11.19", items[:1], SIZING)
