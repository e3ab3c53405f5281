"""Every bundled suite makes sense on every DBMS, and says on MySQL what the reference method says."""

import re

import pytest

from dbversus.suites import Suite, definition, list_suites, literal_statement, load_suite
from dbversus.suites.file.shape import DBMS_NAMES
from dbversus.suites.send.define import statements_in

POINT = "SELECT c FROM sbtest{table} WHERE id = :id"
RANGE = "FROM sbtest{table} WHERE id BETWEEN :low AND :high"
RANGES = [
    f"SELECT c {RANGE}",
    f"SELECT SUM(k) {RANGE}",
    f"SELECT c {RANGE} ORDER BY c",
    f"SELECT DISTINCT c {RANGE} ORDER BY c",
]
UPDATE_INDEX = "UPDATE sbtest{table} SET k = k + 1 WHERE id = :id"
UPDATE_NONINDEX = "UPDATE sbtest{table} SET c = :c WHERE id = :id"
DELETE = "DELETE FROM sbtest{table} WHERE id = :id"
AGAIN = "INSERT INTO sbtest{table} (id, k, c, pad) VALUES (:again, :k, :c, :pad)"
WRITES = [UPDATE_INDEX, UPDATE_NONINDEX, DELETE, AGAIN]

# shapes of single tests, reference method 1.4 and 1.5
SHAPES = {
    "point-query": [POINT],
    **{
        name: ["SELECT c FROM sbtest{table} WHERE id IN (:ids)"]
        for name in ("random-points-10", "random-points-100", "random-points-1000", "hot-points")
    },
    **{f"read-only-{rows}": [POINT, *RANGES] for rows in (10, 100, 10000)},
    "points-covered-pk": ["SELECT id FROM sbtest{table} WHERE id IN (:ids)"],
    "points-notcovered-pk": ["SELECT id, c FROM sbtest{table} WHERE id IN (:ids)"],
    "points-covered-si": ["SELECT k FROM sbtest{table} WHERE k IN (:ks)"],
    "points-notcovered-si": ["SELECT k, c FROM sbtest{table} WHERE k IN (:ks)"],
    "range-covered-pk": ["SELECT id FROM sbtest{table} WHERE id BETWEEN :low AND :high"],
    "range-notcovered-pk": ["SELECT id, c FROM sbtest{table} WHERE id BETWEEN :low AND :high"],
    "range-covered-si": ["SELECT k FROM sbtest{table} WHERE k BETWEEN :low AND :high"],
    "range-notcovered-si": ["SELECT k, c FROM sbtest{table} WHERE k BETWEEN :low AND :high"],
    "update-inlist": ["UPDATE sbtest{table} SET c = :c WHERE id IN (:ids)"],
    "update-index": [UPDATE_INDEX],
    **{f"update-{kind}": [UPDATE_NONINDEX] for kind in ("nonindex", "one", "zipf")},
    "write-only": WRITES,
    **{f"read-write-{rows}": [POINT, *RANGES, *WRITES] for rows in (10, 100)},
    "scan": ["SELECT * FROM sbtest{table} WHERE LENGTH(c) < 0"],
    "delete": [DELETE],
    "insert": ["INSERT INTO sbtest{table} (k, c, pad) VALUES (:k, :c, :pad)"],
}
# rows of a range: the reference's oltp tests read `range` rows, its covered tests one more
ROWS_LESS_ONE = {"read-only-10": 9, "read-write-100": 99, "range-covered-pk": 100, "range-notcovered-si": 100}
TEXT_MODE = {"scan", "insert"}


@pytest.mark.parametrize("dbms", DBMS_NAMES)
@pytest.mark.parametrize("suite", list_suites(), ids=lambda suite: str(suite.name))
def test_every_test_of_every_suite_has_its_sql(suite: Suite, dbms: str) -> None:
    for test in suite.tests.values():
        made = definition(test, dbms, 100_000, 2)
        assert all(statement["sql"] for statement in statements_in(made))
        for _, sql in literal_statement(test, dbms, 100_000, 2):
            assert not re.search(r"(?<![:\w]):[a-z]|[{}]", sql)


@pytest.mark.parametrize("dbms", ["mysql", "mariadb", "myrocks", "postgres"])
def test_the_43_tests_have_the_statements_of_the_reference(dbms: str) -> None:
    tests = load_suite("sysbench").reported_tests
    assert {test.base for test in tests} == SHAPES.keys()
    for test in tests:
        made = definition(test, dbms, 10_000)
        assert [statement["sql"] for statement in made["statements"]] == SHAPES[test.base], test.name
        modes = {statement.get("mode", "prepared") for statement in made["statements"]}
        assert modes == ({"text"} if test.base in TEXT_MODE else {"prepared"}), test.name


def test_ranges_have_as_many_rows_as_in_the_reference() -> None:
    tests = load_suite("sysbench").tests
    for name, added in ROWS_LESS_ONE.items():
        statements = definition(tests[name], "mysql", 10_000)["statements"]
        ends = [statement["params"]["high"] for statement in statements if "high" in statement["params"]]
        assert {end["add"] for end in ends} == {added}


def test_the_sequence_of_2017() -> None:
    assert load_suite("sysbench-2017").sequence == [
        "load",
        "point-query.pre",
        "read-only-10000.pre",
        "random-points-100.pre",
        "full-scan.pre",
        "update-inlist",
        "update-one",
        "update-index",
        "update-nonindex",
        "delete",
        "read-write-100",
        "read-write-10000",
        "read-only-100",
        "read-only-10000",
        "point-query",
        "random-points-100",
        "hot-points",
        "full-scan.post",
        "insert",
    ]


def test_the_allocator_test_sorts_four_times() -> None:
    made = definition(load_suite("allocators").tests["read-only-order"], "mysql", 10_000)
    assert [(one["name"], one["repeat"]) for one in made["statements"]] == [("point", 10), ("range-order", 4)]
    assert made["statements"][1]["params"]["high"]["add"] == 999
    assert made["transaction"]


def test_the_durability_tests_are_bounded_by_time_and_probe_the_disk() -> None:
    suite = load_suite("durability")
    assert suite.sequence == ["load", "insert", "update-index", "update-nonindex"]
    assert suite.probes == ("sync",)
    assert all(test.changes_data and not test.by_count for test in suite.tests.values())
    usual = load_suite("sysbench")
    assert not usual.probes
    for name, test in suite.tests.items():
        assert usual.tests[name].by_count
        assert definition(test, "mysql", 1000) == definition(usual.tests[name], "mysql", 1000)
