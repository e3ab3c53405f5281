"""Two sizes of tables in one experiment, on a real server, with an interruption in between."""

import json
import time
from signal import SIGINT

import pytest

from dbversus.stats.metrics import CPU

from .conftest import Bench

SIZES = "table_size = ['1k', '1500']\n"
SUITE = """title = "Sizes"
extends = "sysbench"
[[phases]]
name = "one"
tests = ["point-query"]
[[phases]]
name = "two"
data = "aged"
tests = ["update-index"]
"""


@pytest.mark.long
def test_each_size_is_loaded_measured_and_judged(bench: Bench, postgres: str) -> None:
    (bench.folder / "sizes.toml").write_text(SUITE)
    file = bench.write([postgres, f"{postgres}@work_mem=8MB"], "*", 'suite = "sizes.toml"\n')
    file.write_text(file.read_text().replace("table_size = 2000\n", SIZES))
    run = bench.start("run", file, "--out", bench.out)
    while run.poll() is None and not _measured(bench, "point-query@1500rows"):
        time.sleep(0.05)
    run.send_signal(SIGINT)
    assert run.wait() == 130, run.communicate()
    assert not bench.survivors()
    bench.run("resume", bench.out)
    cases = [f"{test}@{size}" for test in ("point-query", "update-index") for size in ("1k", "1500rows")]
    blocks = len([record for record in bench.records("block") if record["event"] == "finished"])
    finished = [(record["block"], record["test"]) for record in bench.records("test")]
    assert len(finished) == len(set(finished)) and {test for _, test in finished} == set(cases) and blocks >= 2
    loaded = {(record["target"], record["table"]): record for record in bench.records("load")}
    rows = {table: record["figures"]["rows"] for (name, table), record in loaded.items() if name == "t0"}
    assert rows == {"sbtest1@1k": 1000, "sbtest1@1500rows": 1500}
    states = {record["data"]: record for record in bench.records("state")}
    assert states.keys() == {f"{data}@{size}" for data in ("loaded", "aged") for size in ("1k", "1500rows")}
    assert [record["differs"] for record in bench.records("state") if record["differs"]] == []
    report = json.loads((bench.out / "report.json").read_text())["sizes"]
    assert report["table_sizes"] == [1000, 1500]
    assert {one["test"] for one in report["tests"]} == {"point-query", "update-index"}
    assert all(one["interactions"]["1500"][CPU]["blocks"] >= 2 for one in report["tests"])
    assert "Several table sizes" in (bench.out / "report.html").read_text()


def _measured(bench: Bench, case: str) -> bool:
    if not (bench.out / "journal.jsonl").exists():
        return False
    text = (bench.out / "journal.jsonl").read_text()
    return f'"type":"test","block":0,"test":"{case}"' in text
