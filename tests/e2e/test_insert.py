"""The Insert Benchmark on real servers: every step does its work on the data that the one before has left."""

import json

import pytest

from .conftest import Bench

pytestmark = pytest.mark.e2e

ROWS = 2000
SHORT = """title = "Short"
extends = "{suite}"
[variables]
seconds = 1
pause_seconds = 1
hold = "300ms"
"""
LOADED = {
    "insert": {"l.i0": ROWS, "l.x": 100, "l.i1": 2 * 1600, "l.i2": 2 * 400},
    "insert-2021": {"l.i0": ROWS, "l.x": 100_000, "l.i1": ROWS},
}
ROW_BYTES = 2 * 8 + 4 * 4 + 15
AMOUNTS = "SELECT live_bytes, database_bytes, data_dir_bytes FROM amounts WHERE test = '{test}'"
QUERIES = {"insert": ["pause", "qr100", "qp500", "qr100.bursts", "qr100.long"], "insert-2021": ["q100.1", "q100.2"]}
WRITTEN = {"pause": 0, "qp500": 2 * 500, "q100.1": 100, "q100.2": 100}
WRITTEN |= dict.fromkeys(["qr100", "qr100.bursts", "qr100.long"], 2 * 100)
VARIANTS = 'suite = "short.toml"\nvariants = ["bursts", "long-transaction"]\n'


def _changed(bench: Bench) -> dict[str, set[int]]:
    """Rows that a step inserted and deleted, by test; one number where all targets did the same in all blocks."""
    found: dict[str, set[int]] = {}
    for row in bench.records("row"):
        found.setdefault(row["test"], set()).update(slot["affected"] for slot in row["slots"])
    return found


@pytest.mark.parametrize("suite", [pytest.param("insert", marks=pytest.mark.long), "insert-2021"])
def test_each_step_goes_on_where_the_last_one_ended(bench: Bench, postgres: str, suite: str) -> None:
    (bench.folder / "short.toml").write_text(SHORT.format(suite=suite))
    expected = LOADED[suite] | {name: WRITTEN[name] for name in QUERIES[suite]}
    path = bench.write(["sqlite:bundled@wal", f"{postgres}@partitioned"], ",".join(expected), VARIANTS)
    bench.run("run", path, "--out", bench.out)
    assert _changed(bench) == {name: {rows} for name, rows in expected.items()}  # each row that is deleted was there
    reads = [slot for row in bench.records("row") if row["test"] in ("qp500", "q100.1") for slot in row["slots"]]
    queries = [slot["roles"]["queries"] for slot in reads]
    assert queries and all(one["ops"] > 0 and 9 < one["rows"] / one["ops"] <= 10 for one in queries)
    _check_amounts(bench, postgres, suite)
    first = next(name for name in QUERIES[suite] if name.startswith("q"))
    plans = json.loads((bench.out / "servers/t0/plans.json").read_text())
    assert "INDEX marketsegment_1" in plans[f"{first}/queries/market"]
    _check_variants(bench, suite)


def _check_variants(bench: Bench, suite: str) -> None:
    """Bursts and open transactions last as long as was asked; only PostgreSQL of 2021 is vacuumed."""
    for row in bench.records("row"):
        if row["test"] in ("qr100.bursts", "qr100.long"):
            assert all(slot["elapsed_ns"] >= 1_000_000_000 for slot in row["slots"])  # also after the last burst
        if row["test"] == "qr100.long":
            assert all(1 <= slot["roles"]["holders"]["ops"] <= slot["elapsed_ns"] / 300e6 + 1 for slot in row["slots"])
    vacuumed = {one["target"] for one in bench.records("settled") if set(one["done"]) == {"vacuum_s"}}
    assert len(vacuumed) == (1 if suite == "insert-2021" else 0)


def _check_amounts(bench: Bench, postgres: str, suite: str) -> None:
    """Rows that clients have counted are those that the server counts, and both targets have the same; files hold them."""
    last = QUERIES[suite][-1]
    shown = bench.run("show", bench.out, "--sql", AMOUNTS.format(test=last), "--format", "json").stdout
    found = json.loads(shown)
    (live_bytes,) = {line["live_bytes"] for line in found}
    rows_left = {"insert": ROWS + 100, "insert-2021": 2 * ROWS + 100_000 + 200}[suite]
    assert live_bytes == ROW_BYTES * rows_left
    assert all(line["data_dir_bytes"] >= line["database_bytes"] > ROWS * ROW_BYTES for line in found)
    steps = json.loads(bench.run("show", bench.out, "--table", "steps", "--format", "json").stdout)
    served = [line for line in steps if line["test"] in ("l.i1", "l.x") and not line["target"].startswith("sqlite")]
    assert [line["ips"] > 0 and line["samp"] > 1 for line in served] == [True, True]
    assert [line["wamp"] is not None for line in served] == [False, True]  # files in memory: nothing is written
    (*_, asked) = json.loads(bench.run("show", bench.out, "--table", "summary", "--format", "json").stdout)
    rates = {name: asked[name] for name in QUERIES[suite] if name != "pause"}
    assert asked["figure"] == "inserts_asked_per_s"
    assert rates == {name: 500.0 if name == "qp500" else 100.0 for name in rates}
    assert "pause" not in asked  # its rate is its own, and tells nothing of a target
