"""Every setting of every config exists in the versions that it is said for (tests/option_lists.py writes what they know)."""

from pathlib import Path

import pytest

from dbversus.dbms.known import names_of
from dbversus.dbms.model import Family
from dbversus.dbms.settings import setting_key
from dbversus.servers.config.file import Item
from dbversus.servers.config.load import available_configs
from dbversus.servers.config.option_lists import FOLDER

LISTS = sorted(FOLDER.glob("*.txt"))
# Percona Server and Facebook's MySQL with RocksDB cannot be fetched: their other settings are those of MySQL
MYROCKS_AS_MYSQL = ("5.6.24", "5.7.22", "8.0.12", "8.0.31")


def unknown(dbms: str, version: str, path: Path, prefix_elsewhere: str = "") -> list[str]:
    known = {setting_key(dbms, name) for name in path.read_text().split()}
    return [
        f"{item.where}: {item.name}"
        for file in available_configs(dbms).values()
        for item in file.items
        if item.applies(version)
        and _is_setting(dbms, item)
        and setting_key(dbms, item.name) not in known
        and not (prefix_elsewhere and item.name.startswith(prefix_elsewhere))
    ]


def _is_setting(dbms: str, item: Item) -> bool:
    """What creates data is an option of the server as well, in the MySQL family."""
    return item.section == "settings" or (item.section == "init" and dbms in names_of(Family.MYSQL))


def test_there_are_lists_from_the_oldest_to_the_newest() -> None:
    names = {path.stem for path in LISTS}
    assert {"postgres-9.6.24", "mysql-5.5.9", "mariadb-10.1.23", "myrocks-10.5.23"} <= names
    assert len(names) > 25


@pytest.mark.parametrize("path", LISTS, ids=[path.stem for path in LISTS])
def test_every_setting_of_every_config_is_known_to_this_version(path: Path) -> None:
    dbms, _, version = path.stem.partition("-")
    assert unknown(dbms, version, path) == []


@pytest.mark.parametrize("version", MYROCKS_AS_MYSQL)
def test_configs_of_myrocks_fit_the_versions_of_mysql_that_it_comes_with(version: str) -> None:
    (path,) = (path for path in LISTS if path.stem == f"mysql-{version}")
    assert unknown("myrocks", version, path, "rocksdb_") == []
