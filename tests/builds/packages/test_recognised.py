from pathlib import Path

import pytest

from dbversus.builds.packages.inspect import detect_dbms, inspect_build
from dbversus.builds.providers.path import build_at
from dbversus.builds.target import parse_target
from dbversus.dbms.known import find_dbms
from dbversus.errors import RunError, UsageError

from ..samples import mysql_server

# What servers print after their name when asked for their version.
LINES = [
    ("Ver 5.5.9 for Linux on x86_64 (Source distribution)", "mysql", "5.5.9"),
    ("Ver 5.5.34 for linux2.6 on x86_64 (MySQL Community Server (GPL))", "mysql", "5.5.34"),
    ("Ver 5.6.24-log for linux-glibc2.5 on x86_64 (MySQL Community Server (GPL))", "mysql", "5.6.24"),
    ("Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)", "mysql", "8.0.33"),
    ("Ver 8.0.32-0ubuntu0.20.04.2 for Linux on x86_64 ((Ubuntu))", "mysql", "8.0.32"),
    ("Ver 9.7.4-2 for Linux on x86_64 ((Debian))", "mysql", "9.7.4"),
    ("Ver 5.5.49-37.9 for Linux on x86_64 (Percona Server (GPL), Release 37.9, Revision efa0073)", "mysql", "5.5.49"),
    ("Ver 8.0.18-9 for Linux on x86_64 (Percona Server (GPL), Release 9, Revision 53e606f)", "mysql", "8.0.18"),
    ("Ver 10.1.23-MariaDB for Linux on x86_64 (MariaDB Server)", "mariadb", "10.1.23"),
    ("Ver 10.5.29-MariaDB-0+deb11u1 for debian-linux-gnu on x86_64 (Debian 11)", "mariadb", "10.5.29"),
    ("Ver 11.4.5-MariaDB for linux-systemd on x86_64 (MariaDB Server)", "mariadb", "11.4.5"),
    ("Ver 11.8.9-MariaDB-4 from Debian for debian-linux-gnu on x86_64 (-- Please help)", "mariadb", "11.8.9"),
    ("Ver 5.5.5-10.6.14-9-MariaDB-enterprise-log for Linux on x86_64", "mariadb", "10.6.14"),
]


@pytest.mark.parametrize(("words", "dbms", "version"), LINES)
def test_flavour_and_version_of_a_path(home: Path, words: str, dbms: str, version: str) -> None:
    prefix = mysql_server(home / "opt", words)
    assert parse_target(str(prefix)).dbms == dbms
    build = build_at(prefix, dbms)
    assert (build.dbms, build.version, build.prefix) == (dbms, version, prefix)


@pytest.mark.parametrize("binary", ["bin/mariadbd", "sbin/mysqld", "libexec/mysqld", "usr/sbin/mariadbd"])
def test_places_of_the_server(home: Path, binary: str) -> None:
    mysql_server(home / "opt", "Ver 10.11.5-MariaDB for Linux on x86_64 (MariaDB Server)", binary)
    prefix = (home / "opt" / binary).parents[1]
    for path in (home / "opt", prefix, prefix / Path(binary).parent.name):
        assert detect_dbms(path).name == "mariadb"
        assert build_at(path, "mariadb").prefix == prefix


def test_mariadb_is_not_taken_for_mysql(home: Path) -> None:
    prefix = mysql_server(home / "opt", "Ver 10.11.5-MariaDB for Linux on x86_64 (MariaDB Server)")
    with pytest.raises(UsageError, match=r"bin/mysqld is the server of MariaDB, not of MySQL; write mariadb instead"):
        inspect_build(prefix, "mysql")


def test_server_that_cannot_run_is_told_by_its_name(home: Path) -> None:
    for binary, dbms in (("bin/mariadbd", "mariadb"), ("bin/mysqld", "mysql")):
        prefix = mysql_server(home / dbms, "", binary)
        (prefix / binary).write_bytes(b"\x7fELF")
        assert detect_dbms(prefix).name == dbms
        with pytest.raises(RunError, match="is not an executable of this system"):
            inspect_build(prefix, dbms)


def test_an_option_file_of_the_host_has_no_say(home: Path) -> None:
    prefix = mysql_server(home / "opt", "Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)")
    script = (prefix / "bin/mysqld").read_text()
    (prefix / "bin/mysqld").write_text(script.replace("echo", '[ "$1" = --no-defaults ] && echo'))
    assert inspect_build(prefix, "mysql").version == "8.0.33"


def test_maker_is_noted(home: Path) -> None:
    words = "Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)"
    assert build_at(mysql_server(home / "opt", words), "mysql").compiled == "Percona Server"


def test_aliases() -> None:
    assert find_dbms("Maria").name == "mariadb"
    with pytest.raises(UsageError, match="known are postgres, mysql, mariadb, myrocks, sqlite, null"):
        find_dbms("oracle")


@pytest.mark.parametrize(("dbms", "program"), [("mysql", "mysqld"), ("mariadb", "mariadbd"), ("myrocks", "mariadbd")])
def test_prefix_without_a_server(tmp_path: Path, dbms: str, program: str) -> None:
    with pytest.raises(UsageError, match=rf"is no installation of .*: .*bin/{program} is missing"):
        inspect_build(tmp_path, dbms)
