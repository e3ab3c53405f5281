"""Roles: kinds of clients of a test, each with statements, a number and a pace."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import Suite, definition, load_suite
from dbversus.suites.assembly.roles import clients_of, offered_rate, paces_of
from dbversus.suites.send.define import literal_statement, statements_in

MIXED = """\
title = "Mixed"
extends = "sysbench"

[variables]
rate = 50

[tests.mixed]
title = "Reads beside updates"
group = "write"

[tests.mixed.roles.readers]
statements = ["point"]

[tests.mixed.roles.orders]
clients = 2
arrivals = { kind = "burst", rate = "rate * clients", size = 10 }
transaction = true
statements = ["point", { use = "update-index", table = "point" }]

[[phases]]
name = "all"
tests = ["mixed"]
"""


def load(tmp_path: Path, text: str = MIXED) -> Suite:
    (tmp_path / "mine.toml").write_text(text)
    return load_suite(tmp_path / "mine.toml")


def test_roles_have_their_statements_clients_and_pace(tmp_path: Path) -> None:
    test = load(tmp_path).tests["mixed"]
    made = definition(test, "sqlite", 100, clients=4)
    readers, orders = made["roles"]
    assert (readers["name"], readers["clients"], readers["counted"]) == ("readers", 4, True)
    assert "arrivals" not in readers and not readers["transaction"]
    assert (orders["clients"], orders["counted"], orders["transaction"]) == (2, False, True)
    assert orders["arrivals"] == {"kind": "burst", "rate": 200, "size": 10}
    assert [statement["name"] for statement in statements_in(made)] == ["point", "point", "update-index"]
    assert [name for name, _ in literal_statement(test, "sqlite", 100)] == [
        "readers/point",
        "orders/point",
        "orders/update-index",
    ]
    assert test.changes_data and not test.by_count
    assert clients_of(test, 100, 1, 4) == 6


def test_operations_of_closed_loops_count_and_where_there_is_none_all_do(tmp_path: Path) -> None:
    test = load(tmp_path).tests["mixed"]
    assert offered_rate(test, 100, 1, 1) is None
    paced = load(tmp_path, MIXED.replace("readers]\n", 'readers]\narrivals = { kind = "poisson", rate = 0.5 }\n'))
    roles = definition(paced.tests["mixed"], "sqlite", 100)["roles"]
    assert [(role["clients"], role["counted"]) for role in roles] == [(1, True), (2, True)]
    assert offered_rate(paced.tests["mixed"], 100, 1, 1) == 50.5
    beside = load(tmp_path, MIXED.replace("readers]\n", "readers]\ncounts = false\n")).tests["mixed"]
    assert [role.counts for role in beside.roles] == [False, True]


def test_a_role_with_arrivals_has_a_rate_and_an_sla(tmp_path: Path) -> None:
    usual = load(tmp_path).tests["mixed"]
    assert paces_of(usual, 100, 1, 4) == {"orders": {"rate_per_s": 200.0, "sla": 0.95}}
    own = load(tmp_path, MIXED.replace("clients = 2", "clients = 2\nsla = 0.8")).tests["mixed"]
    assert paces_of(own, 100, 1, 4)["orders"]["sla"] == 0.8


def test_a_test_without_roles_is_sent_as_before(tmp_path: Path) -> None:
    plain = definition(load_suite("sysbench").tests["point-query"], "sqlite", 100, clients=4)
    assert plain.keys() == {"name", "transaction", "statements"}
    assert clients_of(load_suite("sysbench").tests["point-query"], 100, 1, 4) == 4


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'group = "write"',
            'group = "write"\nstatements = ["point"]',
            "mine.toml:7: the test has `statements` and `roles`; one of",
        ),
        (
            'group = "write"',
            'group = "write"\ntransaction = true',
            "`transaction` is said of each test of a mix and of each role",
        ),
        ('group = "write"', 'group = "write"\nbounded_by = "count"', "a test with roles is bounded by time"),
        ("clients = 2", "clients = 0", "mine.toml:15: clients is 0; 1 or more is accepted."),
        ("clients = 2", 'clients = "client"', "mine.toml:15: unknown variable 'client'. Did you mean 'clients'?"),
        ('"rate * clients"', "0", "mine.toml:16: rate is 0; 1 or more is accepted."),
        ('"rate * clients"', "-0.5", "mine.toml:16: rate is -0.5; a number of operations per second above 0"),
        ('"rate * clients"', '"rate * (clients - 1)"', "mine.toml:16: rate is 0; 1 or more is accepted."),
        ('"rate * clients"', '"rate * 1000000"', "mine.toml:16: rate is 5e+07; up to 10,000,000 operations/s"),
        ('"rate * clients"', "true", "mine.toml:16: tests.mixed.roles.orders.arrivals.rate is"),
        ("clients = 2", "sla = 1.5", "mine.toml:15: tests.mixed.roles.orders.sla is 1.5"),
        ('statements = ["point"]', 'statements = ["point"]\nsla = 0.9', "tests.mixed.roles.readers: `sla`, the share"),
        (", size = 10", "", "mine.toml:16: tests.mixed.roles.orders.arrivals: `size`"),
        ('kind = "burst"', 'kind = "steady"', "mine.toml:16: tests.mixed.roles.orders.arrivals.kind is 'steady'"),
        ('"point" }]', '"pont" }]', "mine.toml:18: table = 'pont' is no earlier statement."),
        ('statements = ["point"', 'counts = false\nstatements = ["point"', "mine.toml:11: no role has counts = true"),
        ('statements = ["point"]', 'statements = ["point"]\npace = 1', "mine.toml:13: tests.mixed.roles.readers: unkn"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in MIXED
    with pytest.raises(UsageError) as error:
        definition(load(tmp_path, MIXED.replace(old, new)).tests["mixed"], "sqlite", 100)
    assert expected in str(error.value)


def test_data_is_not_aged_by_a_test_with_roles(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="test 'mixed' has roles; data is aged by a test without"):
        load(tmp_path, f'{MIXED}\n[aging]\ntest = "mixed"\noperations = 5\n')
