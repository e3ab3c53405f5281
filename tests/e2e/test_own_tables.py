"""A suite with tables of its own, joined, on two DBMSs: same answers, verdicts."""

from pathlib import Path

import pytest

from dbversus.results.read import open_results
from dbversus.results.records import Check, Load, State, of_type

from .conftest import Bench

pytestmark = pytest.mark.e2e

SHOP = """title = "A shop"

[tables.customers]
rows = "table_size / 10"
primary_key = ["id"]
[tables.customers.columns]
id = { type = "int4", values = { gen = "sequence" }, identity = true }
name = { type = "varchar(40)", values = { gen = "text", template = "@@@@@@@@ @@@@@@@@@" } }

[tables.orders]
primary_key = ["id"]
indexes = [{ name = "orders_customer", columns = ["customer"] }]
[tables.orders.columns]
id = { type = "int8", values = { gen = "sequence" } }
customer = { type = "int4", values = { gen = "zipfian", low = 1, high = "table_size / 10" } }
note = { type = "text", values = { gen = "text", template = "#### @@@@@" } }

[tests.orders-of]
title = "The orders of a customer"
group = "range"
[[tests.orders-of.statements]]
name = "orders"
sql = "SELECT o.id, c.name FROM customers c JOIN orders o ON o.customer = c.id WHERE c.id = :id ORDER BY o.id LIMIT 10"
params = { id = { gen = "uniform", low = 1, high = "table_size / 10" } }

[tests.note]
title = "Change the note of an order"
group = "write"
[[tests.note.statements]]
name = "note"
sql = "UPDATE orders SET note = :note WHERE id = :id"
params = { note = { gen = "text", template = "#### #####" }, id = { gen = "uniform", low = 1, high = "table_size" } }

[[phases]]
name = "all"
tests = ["orders-of", "note"]
"""


def test_tables_of_ones_own_are_loaded_measured_and_compared(bench: Bench, postgres: str) -> None:
    (bench.folder / "shop.toml").write_text(SHOP)
    targets = ["sqlite:bundled", postgres]
    path = bench.write(targets, "orders-of,note", 'suite = "shop.toml"\n', looks=(2,))
    bench.run("run", path, "--out", bench.out)
    results = open_results(bench.out)
    assert set(results.slots["test"]) == {"orders-of", "note"}
    checks = of_type(results.records, Check)
    assert checks and all(check.agree for check in checks)
    loaded = {
        (load.target, load.table): load.figures.rows if load.figures else None
        for load in of_type(results.records, Load)
    }
    assert loaded["t0", "customers"] == 200 and loaded["t0", "orders"] == 2000
    states = of_type(results.records, State)[0].targets["t0"].tables
    assert (states["customers"].highest_id, states["orders"].highest_id) == (200, 2000)


def test_there_is_no_use_for_copies_that_a_suite_does_not_have(bench: Bench) -> None:
    (bench.folder / "shop.toml").write_text(SHOP)
    path = bench.write(
        ["sqlite:bundled", "sqlite:bundled@wal"], "note", 'suite = "shop.toml"\ntables = 3\n', looks=(2,)
    )
    done = bench.run("run", path, "--out", bench.out, status=2)
    assert "has no table with `copies`, so there is no use for --tables 3" in done.stderr
    assert not Path(bench.out).exists()


def test_a_key_that_repeats_is_refused_with_the_line_of_its_table(bench: Bench) -> None:
    repeated = SHOP.replace(
        'id = { type = "int8", values = { gen = "sequence" } }',
        'id = { type = "int8", values = { gen = "uniform", low = 1, high = 5 } }',
    )
    (bench.folder / "shop.toml").write_text(repeated)
    path = bench.write(["sqlite:bundled", "sqlite:bundled@wal"], "note", 'suite = "shop.toml"\n', looks=(2,))
    done = bench.run("run", path, "--out", bench.out, status=1)
    line = repeated.splitlines().index("[tables.orders]") + 1
    assert f"shop.toml:{line}: the rows of table 'orders' are refused: UNIQUE constraint failed" in done.stderr
    assert not bench.survivors()
