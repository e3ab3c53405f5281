"""The suites of the Insert Benchmark say what the reference method says (4.1 to 4.3)."""

from typing import Any

import pytest

from dbversus.suites import definition, load_suite
from dbversus.suites.expression import evaluate
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


def test_vacuum_runs_on_postgres_alone_as_in_2021() -> None:
    assert [phase.vacuum for phase in OF_2021.phases] == [False, True, *[False] * 11]
    assert set(_roles(definition(OF_2021.tests["q100.1"], "postgres", 1_000_000))) == {"queries", "inserters"}
    sent = {
        dbms: _roles(definition(OF_2021.tests["q400.1"], dbms, 1_000_000))["vacuum"] for dbms in ("postgres", "mysql")
    }
    assert [one["sql"] for one in sent["postgres"]["statements"]] == ["VACUUM pi{table}"]
    assert not sent["mysql"]["statements"] and sent["mysql"]["operations"] == 1


@pytest.mark.parametrize("suite", ["insert", "insert-2021"])
def test_bursts_have_all_that_a_second_has_at_its_beginning(suite: str) -> None:
    bursty = load_suite(suite, ["bursts"])
    name = "qr500" if suite == "insert" else "q400"
    roles = _roles(definition(bursty.tests[f"{name}.bursts"], "mysql", 1_000_000, 4, clients=4))
    arrivals = roles["inserters"]["arrivals"]
    assert arrivals["kind"] == "burst" and arrivals["rate"] == arrivals["size"]  # one a second
    even = _roles(
        definition(bursty.tests[name if suite == "insert" else f"{name}.1"], "mysql", 1_000_000, 4, clients=4)
    )
    assert even["inserters"]["arrivals"] == {"kind": "constant", "rate": arrivals["rate"]}
    assert even["inserters"]["operations"] == roles["inserters"]["operations"]


def test_a_long_transaction_keeps_what_it_has_seen() -> None:
    suite = load_suite("insert", ["long-transaction"])
    holders = {
        dbms: _roles(definition(suite.tests["qp100.long"], dbms, 1_000_000))["holders"]
        for dbms in ("postgres", "mysql")
    }
    assert [one["name"] for one in holders["postgres"]["statements"]] == ["snapshot", "first"]
    assert [one.get("pause_ns") for one in holders["mysql"]["statements"]] == [10_000_000_000]
    assert all(one["transaction"] and not one["counted"] for one in holders.values())


@pytest.mark.parametrize(("suite", "step"), [("insert", "qr500"), ("insert-2021", "q400.2")])
def test_short_steps_keep_the_rate(suite: str, step: str) -> None:
    usual, short = (
        _roles(definition(load_suite(suite, variants).tests[step], "mysql", 1_000_000))["inserters"]
        for variants in ((), ("short-steps",))
    )
    assert short["arrivals"] == usual["arrivals"]
    assert 4 * short["operations"] == usual["operations"]


@pytest.mark.parametrize("rows", [1, 7, 20_000, 1_000_000])
def test_in_scattered_order_each_id_comes_once(rows: int) -> None:
    expression = "row / table_size * table_size + row % table_size * 2_147_483_647 % table_size + 1"
    (insert,) = load_suite("insert", ["scattered-order"]).tests["l.i0"].statements
    assert getattr(insert.params["id"].generator, "expr", None) == expression
    step = min(rows, 1000)
    for start in (0, rows, 3 * rows - step):
        drawn = [evaluate(expression, {"row": row, "table_size": rows}) for row in range(start, start + step)]
        assert len(set(drawn)) == step and all(
            start // rows * rows < one <= (start // rows + 1) * rows for one in drawn
        )


def test_with_indexes_from_the_beginning_none_is_built() -> None:
    suite = load_suite("insert", ["indexes-first"])
    (table,) = suite.made_tables(1000, 1)
    assert [index.name for index in table.indexes] == ["marketsegment_1", "registersegment_1", "pdc_1"]
    assert all(statement.appends for statement in suite.tests["l.x"].statements)


@pytest.mark.parametrize(
    ("dbms", "builds"), [("mysql", 1), ("mariadb", 1), ("myrocks", 3), ("postgres", 3), ("sqlite", 3)]
)
def test_indexes_are_built_as_each_dbms_does_it(dbms: str, builds: int) -> None:
    insert, *others = definition(NOW.tests["l.x"], dbms, 1000)["statements"]
    assert insert["rows"] == 100 and len(others) == builds and {one["mode"] for one in others} == {"text"}
