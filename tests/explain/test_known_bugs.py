"""Which targets have a known bug in which tests."""

import pytest

from dbversus.dbms.known import KNOWN
from dbversus.explain.known_bugs import known_bugs
from dbversus.servers.config.load import available_configs
from dbversus.suites.load import load_suite

SUITES = ("sysbench", "sysbench-2017", "allocators", "insert-2021")


@pytest.mark.parametrize(
    ("test", "version", "has_it"),
    [
        ("random-points-1000.pre", "8.0.22", True),
        ("hot-points", "8.0.28", True),
        ("points-covered-si", "8.0.21", False),
        ("random-points-1000", "8.0.30", True),
        ("random-points-1000", "8.0.31", False),
        ("random-points-1000", "8.0.33", False),
        ("random-points-10", "8.0.22", False),
    ],
)
def test_bug_102037_is_of_versions_and_of_long_lists(test: str, version: str, has_it: bool) -> None:
    bug = next(bug for bug in known_bugs() if "102037" in bug.name)
    assert bug.concerns(test, "mysql", version, ["cx6d"]) == has_it
    assert not bug.concerns(test, "mariadb", version, [])


@pytest.mark.parametrize(
    ("test", "version", "has_it"),
    [
        ("insert", "8.0.12", True),
        ("update-one", "8.0.21", True),
        ("l.i1", "8.0.15", True),
        ("insert", "8.0.3", False),
        ("insert", "8.0.22", False),  # where it is a setting
        ("point-query", "8.0.15", False),
    ],
)
def test_threads_of_the_redo_log_are_of_versions_that_cannot_do_without(test: str, version: str, has_it: bool) -> None:
    bug = next(bug for bug in known_bugs() if "30088404" in bug.name)
    assert bug.concerns(test, "mysql", version, ["cx6d"]) == has_it


@pytest.mark.parametrize(
    ("version", "has_it"), [("10.5.23", True), ("10.11.19", False), ("11.8.3", False), ("8.0.17", False)]
)
def test_readahead_of_random_reads_is_of_versions_of_mariadb_with_an_older_rocksdb(version: str, has_it: bool) -> None:
    bug = next(bug for bug in known_bugs() if bug.reads)
    assert bug.concerns("points-covered-si.pre", "myrocks", version, ["cx6a"]) == has_it
    assert not bug.concerns("points-covered-pk", "myrocks", version, ["cx6a"])


def test_a_config_can_have_it() -> None:
    dives = next(bug for bug in known_bugs() if bug.name.startswith("eq_range"))
    assert dives.concerns("points-covered-si.pre", "mysql", "8.0.33", ["cx6d", "dive200"])
    assert not dives.concerns("points-covered-si.pre", "mysql", "8.0.33", ["cx6d"])
    assert not dives.concerns("points-covered-si.pre", "mysql", "5.6.24", ["dive200"])
    of_mariadb = next(bug for bug in known_bugs() if bug.dbms == ["mariadb"])
    assert of_mariadb.concerns("points-covered-si", "mariadb", "10.2.11", ["server_defaults"])
    assert not of_mariadb.concerns("points-covered-si", "mariadb", "10.11.19", ["dive10"])


def test_all_that_is_named_exists() -> None:
    tests = {test for suite in SUITES for test in load_suite(suite).tests}
    for bug in known_bugs():
        assert bug.source and bug.measured
        assert set(bug.dbms) <= {dbms.name for dbms in KNOWN}
        assert any(bug.concerns(test, bug.dbms[0], bug.since or "8.0", bug.configs) for test in tests), bug.name
        assert all(name in available_configs(bug.dbms[0]) for name in bug.configs), bug.name
