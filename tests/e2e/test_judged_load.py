"""The load as a test: repeated in every block on empty tables, the same rows on all targets, and begun again when interrupted."""

import signal
import time
from functools import partial

import pytest

from dbversus.results.read import open_results
from dbversus.results.records import Check, State, of_type
from dbversus.stats.judge import judge

from .conftest import Bench, wait_for

pytestmark = pytest.mark.e2e


def test_every_block_loads_all_tables_before_its_other_tests(bench: Bench) -> None:
    path = bench.write(
        ["sqlite:bundled", "sqlite:bundled@wal"], "point-query.pre", "judge_load = true\ntables = 2\nclients = [1, 2]\n"
    )
    assert "load: 4,000 rows, 1,000 to an INSERT, then indexes" in bench.run("run", path, "--dry-run").stdout
    bench.run("run", path, "--out", bench.out)
    rows = [row for row in bench.records("row") if row["test"] == "load"]
    assert [(row["block"], row["row"]) for row in rows] == [(block, 0) for block in range(len(rows))] and len(rows) >= 2
    slots = [slot for row in rows for slot in row["slots"]]
    assert {(slot["ops"], slot["affected"], slot["statements"]) for slot in slots} == {(4000, 4000, 6)}
    results = open_results(bench.out)
    assert all(check.agree for check in of_type(results.records, Check))
    states = of_type(results.records, State)
    assert {state.data for state in states} == {"empty", "loaded"} and not any(state.differs for state in states)
    found = {finding.metric: finding for finding in judge(results) if finding.test == "load"}
    assert found["throughput_ops_per_s"].blocks == len(rows) and "load_rows_per_s" not in found


def test_each_target_loads_as_its_config_says(bench: Bench, postgres: str) -> None:
    path = bench.write(
        [postgres, f"{postgres}@ddl.index=WITH (fillfactor = 20)"], "load", "judge_load = true\n", looks=(2,)
    )
    bench.run("run", path, "--out", bench.out)
    assert not bench.records("load") and not bench.survivors()  # there was nothing else to load
    rows = bench.records("row")
    assert {row["test"] for row in rows} == {"load"} and len(rows) == 2
    assert {slot["ops"] for row in rows for slot in row["slots"]} == {2000}
    (first, _) = bench.records("space")
    usual, sparse = (first["targets"][name]["database_bytes"] for name in ("t0", "t1"))
    assert sparse > usual + 50_000


def has_more_blocks(bench: Bench, than: int) -> bool:
    return (bench.out / "journal.jsonl").exists() and len(bench.records("block")) > than


@pytest.mark.on_disk  # in memory it is over before it can be interrupted
def test_a_load_that_was_interrupted_or_killed_is_begun_again(bench: Bench) -> None:
    path = bench.write(["sqlite:bundled@wal", "sqlite:bundled@wal"], "load", "judge_load = true\n")
    words: tuple[object, ...] = ("run", path, "--table-size", "200k", "--out", bench.out)
    for number, status in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        run = bench.start(*map(str, words))
        wait_for(partial(has_more_blocks, bench, len(bench.records("block")) if words[0] == "resume" else 0), run)
        time.sleep(0.3)
        run.send_signal(number)
        assert run.wait(600) == status
        words = ("resume", bench.out)
    bench.run("resume", bench.out)
    rows = bench.records("row")
    assert [row["block"] for row in rows] == list(range(len(rows))) and len(rows) >= 2
    assert {slot["affected"] for row in rows for slot in row["slots"]} == {200_000}
    assert not bench.survivors()
