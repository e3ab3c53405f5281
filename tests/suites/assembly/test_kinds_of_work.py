"""What the clients of a test do: told where all their statements do the same."""

import pytest

from dbversus.suites import load_suite
from dbversus.suites.assembly.kinds_of_work import kinds_of_work


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("point-query", {"": "query"}),
        ("read-only-10000", {"": "query"}),
        ("insert", {"": "insert"}),
        ("update-index", {"": "update"}),
        ("delete", {"": "delete"}),
        ("read-write-100", {}),
    ],
)
def test_of_the_tests_of_sysbench(test: str, expected: dict[str, str]) -> None:
    assert kinds_of_work(load_suite("sysbench").tests[test]) == expected


def test_of_the_insert_benchmark() -> None:
    tests = load_suite("insert").tests
    assert kinds_of_work(tests["l.x"]) == {"": "index"}  # after some rows more
    assert kinds_of_work(tests["qr100"]) == {"queries": "query", "inserters": "insert", "deleters": "delete"}
