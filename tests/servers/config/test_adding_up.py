"""Lists of options and switches: a later config replaces what it names, and takes nothing else away."""

import re

import pytest

from dbversus.errors import UsageError
from dbversus.servers.config.adding_up import added
from dbversus.servers.config.load import load_config
from dbversus.servers.config.sizing import Sizing

NAME = "rocksdb_override_cf_options"
SIZING = Sizing(memory_bytes=16 * 2**30, targets=2, cpus=4, data_bytes=2**30)


@pytest.mark.parametrize(
    ("earlier", "later", "both"),
    [
        ("default={a=1;b=2}", "default={b=3}", "default={a=1;b=3}"),
        ("default={a=1}", "other={a=2};default={c=3}", "default={a=1;c=3};other={a=2}"),
        ("default={t={x=1;y={z=2}};b=2}", "default={t={x=2}}", "default={t={x=2};b=2}"),
        ("default={a=1;}", "default={}", "default={a=1}"),
        ("", "default={a=1}", "default={a=1}"),
        ("mrr=off,icp=on", "icp=off", "mrr=off,icp=off"),
        ("mrr=off", "default,icp=off", "default,icp=off"),
        ("default,mrr=off", "icp=off", "default,mrr=off,icp=off"),
    ],
)
def test_what_the_later_does_not_name_stays(earlier: str, later: str, both: str) -> None:
    assert added(earlier, later) == both


@pytest.mark.parametrize(
    ("dbms", "version", "items", "unread"),
    [
        ("myrocks", "10.11.19", ["zstd", f"{NAME}=default={{b=2"], "default={b=2"),
        ("myrocks", "10.11.19", [f"{NAME}=nonsense", "zstd"], "nonsense"),
        ("myrocks", "10.11.19", ["zstd", f"{NAME}=b=2"], "b=2"),
        ("mysql", "8.0.33", ["optimizer_switch=mrr=off", "optimizer_switch=icp"], "icp"),
    ],
)
def test_what_cannot_be_read_is_refused_and_takes_nothing_away(
    dbms: str, version: str, items: list[str], unread: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(f"adds up over configs, and '{unread}' cannot be read; accepted: ")):
        load_config(dbms, version, items, SIZING)


def test_switches_of_two_configs_are_both_set() -> None:
    for dbms, version in (("mysql", "8.0.33"), ("mariadb", "10.11.19"), ("myrocks", "10.11.19")):
        config = load_config(dbms, version, ["optimizer_switch=mrr=off", "optimizer-switch=semijoin=off"], SIZING)
        assert config.settings["optimizer_switch"] == "mrr=off,semijoin=off"


@pytest.mark.parametrize("compression", ["zstd", "lz4_zstd", "lz4", "none"])
@pytest.mark.parametrize(
    "items", [[], ["limited_memory"], ["cx6a", "scaled_levels"], ["init.rocksdb_block_size=16384"]]
)
def test_compression_stays_with_every_size_of_memtables(compression: str, items: list[str]) -> None:
    alone = load_config("myrocks", "10.11.19", [compression], SIZING)
    said = alone.init_options[NAME].removeprefix("default={").removesuffix("}").split(";")
    for order in ([compression, *items], [*items, compression]):
        for sizing in (SIZING, SIZING.limited_to(2**29)):
            config = load_config("myrocks", "10.11.19", order, sizing)
            assert NAME not in config.settings, "what data is created with is said once"
            of_data = config.init_options[NAME].removeprefix("default={").partition("}")[0]
            assert set(said) <= set(of_data.split(";"))
    assert "write_buffer_size" in config.init_options[NAME]


def test_a_setting_is_said_once_however_it_is_written() -> None:
    for items in (
        ["init.innodb_checksum_algorithm=none", "innodb_checksum_algorithm=crc32"],
        ["loose-innodb-checksum-algorithm=none", "init.innodb_checksum_algorithm=crc32"],
    ):
        config = load_config("mysql", "8.0.33", items, SIZING)
        said = {name: value for name, value in {**config.init_options, **config.settings}.items() if "checksum" in name}
        assert said | {"binlog_checksum": ""} == {"innodb_checksum_algorithm": "crc32", "binlog_checksum": ""}
