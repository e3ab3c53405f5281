"""Steps and single statements on real servers: done once per block, the same on all targets, and judged."""

import signal
import time

import pytest

from dbversus.results.read import open_results
from dbversus.results.records import Check, of_type

from .conftest import Bench, wait_for

pytestmark = pytest.mark.e2e

SUITE = """title = "Work"
[tables.items]
primary_key = ["id"]
[tables.items.columns]
id = { type = "int4", values = { gen = "sequence" } }
k = { type = "int4", values = { gen = "uniform", low = 1, high = "table_size" } }

[tests.more]
kind = "step"
title = "More rows"
group = "write"
operations = "table_size / 2"
slice_ms = 20
[[tests.more.statements]]
name = "insert"
sql = "INSERT INTO items (id, k) VALUES (:id, :k)"
params = { id = { gen = "sequence", start = "table_size + 1" }, k = { gen = "uniform", low = 1, high = 1000 } }

[tests.build]
kind = "statement"
title = "An index"
group = "write"
statements = [{ name = "build", sql = "CREATE INDEX items_k ON items (k)" }]
undo = { sql = "DROP INDEX items_k" }

[tests.analyze]
kind = "statement"
title = "Statistics"
group = "write"
statements = [{ name = "analyze", sql = "ANALYZE items" }]

[tests.total]
title = "What is there then"
group = "range-aggregate"
statements = [{ name = "total", sql = "SELECT count(*), sum(k), max(id) FROM items" }]

[[phases]]
name = "all"
tests = ["more", "build", "analyze", "total"]
"""


def test_work_is_done_once_in_each_block_and_judged(bench: Bench, postgres: str) -> None:
    (bench.folder / "work.toml").write_text(SUITE)
    targets = ["sqlite:bundled", postgres]
    path = bench.write(targets, "more,build,analyze,total", 'suite = "work.toml"\n')
    dry = bench.run("run", path, "--dry-run").stdout
    assert "more: 1,000 operations in slices of 20 ms on each target" in dry
    assert "build: one statement, undone afterwards, on each target" in dry
    bench.run("run", path, "--out", bench.out)
    rows = [row for row in bench.records("row") if row["test"] == "more"]
    assert [(row["block"], row["row"]) for row in rows] == [(block, 0) for block in range(len(rows))]
    assert all(slot["ops"] == slot["affected"] == 1000 for row in rows for slot in row["slots"])
    assert {len(row["slots"]) for row in rows} == {2} and rows[0]["order"] != rows[1]["order"]
    # both targets were given the same values, and the index is gone
    results = open_results(bench.out)
    assert all(check.agree for check in of_type(results.records, Check))
    assert set(results.slots["test"]) == {"more", "build", "analyze", "total"}


@pytest.mark.on_disk  # in memory it is over before it can be interrupted
def test_an_interrupted_step_is_measured_anew(bench: Bench) -> None:
    (bench.folder / "work.toml").write_text(
        SUITE.replace('"table_size / 2"', "3_000").replace("slice_ms = 20", "slice_ms = 100")
    )
    path = bench.write(["sqlite:bundled@wal", "sqlite:bundled@wal"], "more,total", 'suite = "work.toml"\n')
    run = bench.start("run", path, "--out", bench.out)
    wait_for(lambda: (bench.out / "journal.jsonl").exists() and bool(bench.records("slots")), run)
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    assert run.wait(600) == 130 and not bench.records("row")
    bench.run("resume", bench.out)
    rows = [row for row in bench.records("row") if row["test"] == "more"]
    assert [row["block"] for row in rows] == list(range(len(rows))) and len(rows) >= 2
    assert all(check["agree"] for check in bench.records("check"))
