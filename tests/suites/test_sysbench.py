"""The suites say what the reference method does."""

from collections import Counter

import pytest

from dbversus.suites import definition, load_suite

COVERED = [
    f"{kind}-{cover}-{index}"
    for kind in ("points", "range")
    for index in ("pk", "si")
    for cover in ("covered", "notcovered")
]
RANDOM_POINTS = ["random-points-10", "random-points-100", "random-points-1000"]
READ_ONLY = ["read-only-10", "read-only-100", "read-only-10000"]
WRITES = ["update-inlist", "update-index", "update-nonindex", "update-one", "update-zipf"]
READ_WRITE = ["write-only", "read-write-10", "read-write-100"]

JANUARY_2021 = [
    "load",
    *(f"{name}.pre" for name in ("point-query", *RANDOM_POINTS, *READ_ONLY, *COVERED)),
    *WRITES,
    *READ_WRITE,
    *READ_ONLY,
    "point-query",
    *RANDOM_POINTS,
    "hot-points",
    *COVERED,
    "scan",
    "delete",
    "insert",
]


def test_the_43_tests_of_january_2021_in_their_order() -> None:
    assert len(JANUARY_2021) == 43
    assert load_suite("sysbench").sequence == JANUARY_2021


def test_the_present_sequence() -> None:
    suite = load_suite("sysbench-now")
    assert next(test.name for test in suite.reported_tests) == "point-query.pre"
    assert list(suite.tests)[:2] == ["point-query.warm.pre", "scan.warm.pre"]
    assert {"read-only-simple", "read-only-sum", "read-only-order", "read-only-distinct", "read-only-count"} <= set(
        suite.tests
    )
    assert not [name for name in suite.sequence if "warm" in name]
    assert [phase.settle for phase in suite.phases] == [True, False, True, False]


@pytest.mark.parametrize("name", ["sysbench", "sysbench-now"])
def test_quick_is_a_dozen_tests_of_all_groups(name: str) -> None:
    quick = load_suite(name).select("quick")
    assert len(quick.sequence) == 13
    groups = Counter(test.group for test in quick.tests.values() if not test.warm_up)
    assert min(groups[group] for group in ("point", "range", "range-aggregate", "write")) >= 1


@pytest.mark.parametrize("name", ["sysbench", "sysbench-2017", "sysbench-now"])
def test_random_points_fill_the_adaptive_hash_index_before_point_queries(name: str) -> None:
    phases = [[test.base for test in phase.tests] for phase in load_suite(name).phases]
    with_points = [bases for bases in phases if "point-query" in bases]
    assert len(with_points) == 2, "before and after the writes"
    for bases in with_points:
        before = bases[: bases.index("point-query")]
        assert any(base.startswith("random-points") and base.endswith(".warm") for base in before)


def test_reads_and_writes_are_all_tests_without_overlap() -> None:
    suite = load_suite("sysbench")
    reads, writes = ({test.name for test in suite.select(name).reported_tests} for name in ("reads", "writes"))
    assert not reads & writes
    assert len(reads) + len(writes) == 42
    assert {name for name, test in suite.tests.items() if test.changes_data} == writes
    assert {name for name, test in suite.tests.items() if test.group == "write"} == writes


@pytest.mark.parametrize(
    ("test", "queries"),
    [
        ("read-only-100", 16),
        ("read-write-10", 20),
        ("write-only", 6),
        ("point-query", 1),
        ("read-only-sum", 13),
        ("read-only-count", 1),
    ],
)
def test_queries_per_operation_are_those_sysbench_counts(test: str, queries: int) -> None:
    made = definition(load_suite("sysbench-now").tests[test], "postgres", 1000)
    own = sum(statement["repeat"] for statement in made["statements"])
    assert own + 2 * made["transaction"] == queries


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("update-inlist", "The list has 10 ids"),
        ("write-only", "a write test"),
        ("delete", "rows changed per operation"),
        ("scan", "of all clients together"),
        ("update-nonindex", "ran it twice by accident"),
    ],
)
def test_traps_of_the_reference_are_explained(test: str, words: str) -> None:
    assert words in load_suite("sysbench").tests[test].note


def test_parameters_of_single_tests() -> None:
    tests = load_suite("sysbench").tests

    def param(test: str, name: str) -> dict[str, object]:
        generator: dict[str, object] = definition(tests[test], "postgres", 1000)["statements"][0]["params"][name]
        return generator

    assert param("update-inlist", "ids")["count"] == 10
    assert param("update-one", "id") == {"gen": "constant", "value": 1}
    assert param("update-zipf", "id") == {"gen": "zipfian", "low": 1, "high": 1000, "exponent": 0.8}
    assert param("points-covered-si", "ks") == {"gen": "uniform", "low": 1, "high": 1000, "count": 100}
    assert tests["scan"].slow
