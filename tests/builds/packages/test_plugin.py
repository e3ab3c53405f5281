from pathlib import Path

import pytest

from dbversus.builds.packages.inspect import detect_dbms
from dbversus.builds.packages.plugin import find_plugin
from dbversus.builds.providers.path import build_at
from dbversus.errors import UsageError

from ..samples import mysql_server

MARIADB = "Ver 10.11.19-MariaDB for Linux on x86_64 (MariaDB Server)"
PERCONA = "Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)"
ORACLE = "Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)"
PLUGIN = "ha_rocksdb.so"


@pytest.mark.parametrize(
    ("words", "bringer"),
    [
        (MARIADB, r"the package mariadb-plugin-rocksdb \(Debian\) or MariaDB-rocksdb-engine"),
        (PERCONA, "the package percona-server-rocksdb of the same version brings it"),
        (ORACLE, "Oracle's MySQL has none; MariaDB, Percona Server and Facebook's MySQL do"),
    ],
)
def test_a_missing_plugin_is_named_with_who_brings_it(home: Path, words: str, bringer: str) -> None:
    prefix = mysql_server(home / "opt", words)
    with pytest.raises(UsageError, match=rf"opt has no MyRocks: ha_rocksdb\.so is missing; {bringer}"):
        build_at(prefix, "myrocks")


@pytest.mark.parametrize(("words", "version"), [(MARIADB, "10.11.19"), (PERCONA, "8.0.36")])
def test_a_server_with_the_plugin(home: Path, words: str, version: str) -> None:
    build = build_at(mysql_server(home / "opt", words, engine=PLUGIN), "myrocks")
    assert (build.dbms, build.version) == ("myrocks", version)


def test_an_engine_may_be_built_in(home: Path) -> None:
    prefix = mysql_server(home / "opt", "Ver 8.0.32 for Linux on x86_64 (Source distribution)")
    with (prefix / "bin/mysqld").open("a") as program:
        program.write("# default_cf_options\n")
    assert build_at(prefix, "myrocks").version == "8.0.32"
    assert build_at(prefix, "mysql").compiled == "MyRocks built in"


def test_a_server_with_the_plugin_is_still_what_it_is(home: Path) -> None:
    assert detect_dbms(mysql_server(home / "opt", MARIADB, engine=PLUGIN)).name == "mariadb"


@pytest.mark.parametrize("folder", ["lib/plugin", "lib/mysql/plugin", "lib64/mysql/plugin", "lib64/mariadb/plugin"])
def test_plugin_folders(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / PLUGIN).touch()
    assert find_plugin(tmp_path, PLUGIN) == tmp_path / folder / PLUGIN
    assert find_plugin(tmp_path, "ha_other.so") is None
