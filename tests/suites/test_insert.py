"""The suites of the Insert Benchmark say what the reference method says (4.1 to 4.3)."""

from typing import Any

import pytest

from dbversus.suites import definition, load_suite
from dbversus.suites.send.define import operations_of, statements_in

NOW, OF_2021 = load_suite("insert"), load_suite("insert-2021")


def _roles(made: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {role["name"]: role for role in made["roles"]}


def test_the_steps_come_in_the_order_of_the_reference() -> None:
    steps = ["l.i0", "l.x", "l.i1", "l.i2", "pause", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"]
    assert NOW.sequence[1:] == steps
    twice = [f"q{rate}.{number}" for rate in (100, 200, 400, 600, 800, 1000) for number in (1, 2)]
    assert OF_2021.sequence[1:] == ["l.i0", "l.x", "l.i1", *twice]


@pytest.mark.parametrize(
    ("test", "rows", "operations"), [("l.i0", 100, 20_000), ("l.i1", 50, 2 * 16_000 * 2), ("l.i2", 5, 2 * 40_000 * 2)]
)
def test_loading_steps_insert_so_many_rows(test: str, rows: int, operations: int) -> None:
    step = NOW.tests[test]
    assert step.work and operations_of(step.work, step, 1_000_000, 2, clients=2) == operations  # of deleters, too
    inserts = statements_in(definition(step, "mysql", 1_000_000, 2, clients=2))
    assert {one["rows"] for one in inserts} == {rows}


def test_a_step_with_queries_has_a_rate_for_each_client() -> None:
    roles = _roles(definition(NOW.tests["qr500"], "mysql", 1_000_000, 4, clients=4))
    assert roles["inserters"]["arrivals"] == {"kind": "constant", "rate": 500 * 4 // 50}
    assert roles["inserters"]["operations"] == 60 * 500 * 4 // 50
    assert (roles["deleters"]["follows"], roles["deleters"]["lead"]) == ("inserters", 8)
    assert [one["part"]["weight"] for one in roles["queries"]["statements"]] == [1, 1, 1]
    assert all("FORCE INDEX" in one["sql"] for one in roles["queries"]["statements"])
    assert set(_roles(definition(OF_2021.tests["q400.1"], "postgres", 1_000_000))) == {"queries", "inserters"}


@pytest.mark.parametrize(
    ("dbms", "builds"), [("mysql", 1), ("mariadb", 1), ("myrocks", 3), ("postgres", 3), ("sqlite", 3)]
)
def test_indexes_are_built_as_each_dbms_does_it(dbms: str, builds: int) -> None:
    insert, *others = definition(NOW.tests["l.x"], dbms, 1000)["statements"]
    assert insert["rows"] == 100 and len(others) == builds and {one["mode"] for one in others} == {"text"}
