"""What an operation must do, from the suites' definitions."""

import importlib
from typing import Any

import pytest

from dbversus.suites import load_suite

counters: Any = importlib.import_module("counters")


@pytest.mark.parametrize(
    ("test", "rows", "affected", "statements", "commits", "postgres", "mysql"),
    [
        ("point-query", 1, 0, 1, 0, 1, 1),
        ("read-only-10", 41, 0, 14, 1, 50, 54),
        ("read-write-10", 41, 4, 18, 1, 53, 57),
        ("write-only", 0, 4, 4, 1, 3, 3),
        ("range-covered-pk", 101, 0, 1, 0, 101, 102),
        ("range-notcovered-si", 101, 0, 1, 0, 101, 101),
        ("scan", 0, 0, 1, 0, 5000, 5000),
        ("insert", 0, 1, 1, 0, 0, 0),
    ],
)
def test_an_operation_must_do_this(
    test: str, rows: float, affected: float, statements: int, commits: int, postgres: float, mysql: float
) -> None:
    suite, client = load_suite("sysbench"), {"rows": rows, "affected": affected}
    ours = counters.expectations(suite.tests[test], "mysql", 5000, client)
    assert (ours["statements"], ours["commits"], ours["rows changed"]) == (statements, commits, affected)
    assert ours["prepared executes"] == (0 if test in ("scan", "insert") else statements)
    assert ours["rows read"] == pytest.approx(mysql)
    theirs = counters.expectations(suite.tests[test], "postgres", 5000, client)
    assert theirs["commits"] == 1 and theirs["rows read"] == pytest.approx(postgres)


def test_a_difference_is_a_share_and_where_nothing_must_be_done_a_number() -> None:
    assert counters.Line("s", "t", "commits", 4.0, 5.0, 10).difference == pytest.approx(0.25)
    assert counters.Line("s", "t", "commits", 0.0, 0.5, 10).difference == pytest.approx(0.5)
