"""Tests in words: what people who look at a suite are told of work with an end, and of roles."""

from pathlib import Path

from dbversus.suites import load_suite
from dbversus.suites.assembly.words import role_words, work_words

SUITE = """\
title = "Words"
extends = "sysbench"

[variables]
rate = 50

[tests.build]
kind = "statement"
title = "Analyze"
group = "write"
statements = [{ name = "analyze", sql = "ANALYZE" }]

[tests.churn]
kind = "step"
title = "Churn"
group = "write"
builds_on = ["build"]

[tests.churn.roles.orders]
clients = 2
arrivals = { kind = "burst", rate = "rate * clients", size = 10 }
operations = "table_size / 2"
statements = ["update-index"]

[tests.churn.roles.after]
follows = "orders"
lead = 8
counts = false
statements = ["point"]

[tests.churn.roles.readers]
statements = ["point"]

[[phases]]
name = "all"
tests = ["point-query", "build", "churn"]
"""


def test_operations_rates_and_what_it_builds_on_are_told(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SUITE)
    tests = load_suite(tmp_path / "mine.toml").tests
    assert work_words(tests["point-query"]) == []
    assert work_words(tests["build"]) == ["run once"]
    assert work_words(tests["churn"]) == [
        "step: ends with the operations of its roles",
        "builds on build",
        "where rate = 50",
    ]
    assert [role_words(role) for role in tests["churn"].roles] == [
        "2 clients, (rate * clients)/s (burst of 10), table_size / 2 operations",
        # as many operations as the role that it follows
        "as many clients as asked for, closed loop, table_size / 2 operations, follows orders, lead 8",
        "as many clients as asked for, closed loop",
    ]


def test_a_step_without_roles_tells_its_operations() -> None:
    tests = load_suite("insert").tests
    assert work_words(tests["l.i0"]) == [
        "step: table_size * tables / rows_per_commit operations",
        "where rows_per_commit = 100",
    ]
