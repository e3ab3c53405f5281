"""What the clients of a test do: told where all their statements do the same."""

import pytest

from dbversus.suites import load_suite
from dbversus.suites.build.does import does_of


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("point-query", {"": "query"}),
        ("read-only-10000", {"": "query"}),
        ("insert", {"": "insert"}),
        ("update-index", {}),
        ("read-write-100", {}),
    ],
)
def test_of_the_tests_of_sysbench(test: str, expected: dict[str, str]) -> None:
    assert does_of(load_suite("sysbench").tests[test]) == expected
