"""A transaction in the shape of TPC-C's new order, from a script of pgbench, on three DBMSs: the same answers everywhere."""

import pytest

from dbversus.results.read import open_results
from dbversus.results.records import Check, of_type

from .conftest import Bench

pytestmark = pytest.mark.e2e

SCRIPT = """\
\\set d_id random(1, 10)
\\set by_name random(1, 100)
\\set c_any random(1, 30)
BEGIN;
UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = :d_id;
SELECT d_next_o_id AS o_id, d_tax FROM district WHERE d_id = :d_id \\gset
\\if :by_name <= 60
  SELECT min(c_id) AS c_id FROM customer WHERE c_last = 'BAR' \\gset
\\else
  SELECT c_id FROM customer WHERE c_id = :c_any \\gset
\\endif
INSERT INTO orders (o_d_id, o_id, o_c_id, o_tax) VALUES (:d_id, :o_id, :c_id, :d_tax);
END;
"""
TABLES = """
[tables.district]
rows = 10
primary_key = ["d_id"]
[tables.district.columns]
d_id = { type = "int4", values = { gen = "sequence" } }
d_next_o_id = { type = "int4", values = { gen = "constant", value = 0 } }
d_tax = { type = "decimal(4,4)", values = { gen = "uniform", low = 0.0, high = 0.2 } }

[tables.customer]
rows = 30
primary_key = ["c_id"]
[tables.customer.columns]
c_id = { type = "int4", values = { gen = "sequence" } }
c_last = { type = "varchar(16)", values = { gen = "constant", value = "BAR" } }

[tables.orders]
rows = 0
primary_key = ["o_d_id", "o_id"]
[tables.orders.columns]
o_d_id = { type = "int4", values = { gen = "constant", value = 0 } }
o_id = { type = "int4", values = { gen = "constant", value = 0 } }
o_c_id = { type = "int4", values = { gen = "constant", value = 0 } }
o_tax = { type = "decimal(4,4)", values = { gen = "constant", value = 0 } }
"""


@pytest.mark.long
def test_a_new_order_of_pgbench_runs_everywhere(bench: Bench, postgres: str, of_mysqls_family: list[str]) -> None:
    (bench.folder / "new_order.sql").write_text(SCRIPT)
    bench.run("suites", "from-pgbench", "new_order.sql", "-o", "order.toml")
    with (bench.folder / "order.toml").open("a") as suite:
        suite.write(TABLES)
    targets = ["sqlite:bundled", postgres, *of_mysqls_family[:1]]
    path = bench.write(targets, "*", 'suite = "order.toml"\n', looks=(2,))
    bench.run("run", path, "--out", bench.out)
    results = open_results(bench.out)
    [check, *_] = checks = of_type(results.records, Check)
    assert all(one.agree for one in checks)
    for target in check.targets.values():
        rows = {one.name: one.rows or one.affected or 0 for one in target.statements}
        assert rows["select-customer"] + rows["select-customer-2"] == rows["select-district"] == rows["insert-orders"]
        assert rows["select-customer"] > 0 and rows["select-customer-2"] > 0
