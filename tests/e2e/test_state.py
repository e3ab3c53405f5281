"""The state of the data at the start of blocks, cold and mixed caches, and servers that stay up from block to block."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dbversus.builds.store import obtain
from dbversus.builds.target import parse_target
from dbversus.errors import DbversusError
from dbversus.experiment.asked.spec import ExperimentSpec, read_spec
from dbversus.experiment.cell import block as blocks
from dbversus.experiment.rig.data.prepare import restore
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.experiment.run import run_experiment
from dbversus.home import home_dir
from dbversus.host import page_cache
from dbversus.servers.sqlite.server import SqliteServer

from ..silent import Silent
from .conftest import Bench

READS_AND_WRITES = "point-query,update-index"


def _mariadb(bench: Bench) -> list[str]:
    """A target with another DBMS, where there is one: it restarts in its own way, and reads past the page cache."""
    try:
        obtain(parse_target("mariadb:10.11"))
    except DbversusError:
        return []
    (bench.home / "builds").symlink_to(home_dir() / "builds")
    return ["mariadb:10.11"]


def _slots(bench: Bench, test: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for row in bench.records("row"):
        if row["test"] == test:
            for slot in row["slots"]:
                yield row["block"], slot


def _on_disk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the files themselves leave the page cache: others may be at work on this host."""
    monkeypatch.setattr(page_cache, "DROP_CACHES", Path("/no/such/switch"))
    try:
        page_cache.check(bench.folder)
    except DbversusError:
        pytest.skip(f"{bench.folder} is in memory: what is dropped there is not read again")


@pytest.mark.on_disk
def test_the_state_is_journaled_and_is_the_same_in_all_blocks(bench: Bench, postgres: str) -> None:
    targets = [postgres, "sqlite:bundled@wal", *_mariadb(bench)]
    done = bench.run("run", bench.write(targets, READS_AND_WRITES), "--out", bench.out)
    states = bench.records("state")
    assert [state["block"] for state in states] == list(range(len(states))) and len(states) >= 2
    for state in states:
        assert len(state["targets"]) == len(targets) and not _beyond_debt(state), state["differs"]
        for of_target in state["targets"].values():
            table = of_target["tables"]["sbtest1"]
            assert (table["rows"], table["lowest_id"], table["highest_id"]) == (2000, 1, 2000)
            assert table["statistics_rows"] and not any(of_target["debt"].values())
            assert of_target["sizes_bytes"]["database"] > 0
    said = f"State: the same at the start of all {len(states)} blocks (rows, structure, sizes, statistics, debt)."
    assert said in done.stdout
    assert json.loads((bench.out / "report.json").read_text())["data_state"] == [said]
    # and with warm caches nothing is read from the disk except a piece of a program that nobody had needed yet
    reads = [slot["server_read_bytes"] for _, slot in _slots(bench, "point-query") if slot["target"] == "t0"]
    assert len(reads) >= 10 and sum(map(bool, reads)) <= len(reads) / 10
    assert "page_cache_dropped_by" not in json.loads((bench.out / "host.json").read_text())


def _spec(bench: Bench, targets: list[str], tests: str, more: str = "") -> ExperimentSpec:
    return read_spec(bench.write(targets, tests, more), lambda _: {}).model_copy(update={"looks": [2]})


def _run(bench: Bench, monkeypatch: pytest.MonkeyPatch, spec: ExperimentSpec) -> None:
    """In this process."""
    monkeypatch.chdir(bench.folder)
    for name, value in bench.places.items():
        monkeypatch.setenv(name, value)
    run_experiment(spec, bench.out, "", Silent(), wait=True)


def test_data_that_was_not_restored_as_it_was_takes_its_target_out(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(target: Target, data: str) -> None:
        restore(target, data)
        server = target.server
        if target.name == "t1" and "t1" in seen and isinstance(server, SqliteServer):
            connection = sqlite3.connect(server.database)
            connection.execute("DELETE FROM sbtest1 WHERE id IN (3, 4)")
            connection.commit()
            connection.close()
        seen.add(target.name)

    seen: set[str] = set()
    monkeypatch.setattr("dbversus.experiment.rig.start.restore", damaged)
    spec = _spec(bench, ["sqlite:bundled@wal", "sqlite:bundled", "sqlite:bundled@cache_64mb"], "point-query")
    _run(bench, monkeypatch, spec)
    (failure,) = bench.records("failure")
    assert (failure["target"], failure["block"], failure["stage"], failure["final"]) == ("t1", 1, "state", True)
    words = "sbtest1 has 1,998 rows, block 1 had 2,000"
    assert failure["message"].startswith(f"state differs, block 2: {words}")
    assert words in bench.records("state")[1]["differs"]["t1"]
    measured = {(block, slot["target"]) for block, slot in _slots(bench, "point-query")}
    assert (0, "t1") in measured and (1, "t1") not in measured and (1, "t2") in measured
    bench.run("report", bench.out)
    assert words in (bench.out / "report.md").read_text()


@pytest.mark.on_disk
@pytest.mark.long
def test_with_cold_caches_every_row_begins_after_a_restart(
    bench: Bench, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _on_disk(bench, monkeypatch)
    targets = [postgres, *(_mariadb(bench) or [postgres])]
    tests = "point-query,scan,update-index"
    _run(bench, monkeypatch, _spec(bench, targets, tests, '[lab]\ncache = "cold"\ncold_slot_ms = 200\n'))
    bench.run("report", bench.out)
    rows = bench.records("row")
    assert {row["test"] for row in rows} == set(tests.split(","))
    for record in bench.records("test"):
        own = [row for row in rows if (row["block"], row["test"]) == (record["block"], record["test"])]
        assert len(own) == 1
    firsts = [tuple(row["order"]) for row in rows if row["test"] == "scan" and row["row"] == 0]
    assert set(firsts) == {("t0", "t1"), ("t1", "t0")}
    for test in ("point-query", "update-index", "scan"):
        for block, slot in _slots(bench, test):
            assert slot["settle_ops"] == 0 and slot["server_read_bytes"] > 0, (test, block, slot)
    for row in rows:
        assert len({slot["ops"] for slot in row["slots"]}) == 1, row
    assert {slot["ops"] for _, slot in _slots(bench, "scan")} == {1}
    host = json.loads((bench.out / "host.json").read_text())
    assert host["page_cache_dropped_by"] == "posix_fadvise"
    assert "cold caches" in (bench.out / "report.md").read_text()
    assert not bench.records("counters") and not bench.survivors()


@pytest.mark.on_disk
def test_with_mixed_caches_a_block_begins_cold_and_gets_warm(
    bench: Bench, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _on_disk(bench, monkeypatch)
    # a scan reads all of its table at once, however slow the disk; a small table would be read by what is not counted
    spec = _spec(bench, [postgres, postgres], "scan", '[lab]\ncache = "mixed"\n')
    _run(bench, monkeypatch, spec.model_copy(update={"warm_up_ms": 0.0, "table_size": 50_000}))
    read_bytes: dict[tuple[int, str], list[int]] = {}
    for block, slot in _slots(bench, "scan"):
        read_bytes.setdefault((block, slot["target"]), []).append(slot["server_read_bytes"])
    # the first block has a pilot before it
    later = {key: of_slots for key, of_slots in read_bytes.items() if key[0] > 0}
    assert later and all(of_slots[0] > sum(of_slots[1:]) for of_slots in later.values()), later


def test_a_host_that_cannot_drop_its_page_cache_is_told_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "drop", lambda directories: "posix_fadvise")
    spec = _spec(bench, ["sqlite:bundled", "sqlite:bundled@wal"], "point-query", '[lab]\ncache = "mixed"\n')
    with pytest.raises(DbversusError, match="cannot be dropped here") as error:
        _run(bench, monkeypatch, spec)
    assert error.value.status == 2 and not bench.out.exists()


def _pids(bench: Bench, monkeypatch: pytest.MonkeyPatch, spec: ExperimentSpec) -> dict[str, list[int | None]]:
    """Process of each server at the end of each block."""
    pids: dict[str, list[int | None]] = {}
    stop_block = blocks.stop_block

    def look(rig: Rig) -> None:
        for target in rig.alive:
            pids.setdefault(target.name, []).append(target.server.root_pid)
        stop_block(rig)

    monkeypatch.setattr(blocks, "stop_block", look)
    _run(bench, monkeypatch, spec)
    return pids


def _beyond_debt(state: Mapping[str, Any]) -> list[str]:
    """What differs in a `state` record; not debts: autovacuum may write between paying them and looking."""
    return [words for found in state["differs"].values() for words in found if not words.startswith("it owes")]


@pytest.mark.parametrize("restart", ["never", "block"])
def test_servers_stay_up_and_data_is_kept_where_that_is_wanted(
    bench: Bench, postgres: str, monkeypatch: pytest.MonkeyPatch, restart: str
) -> None:
    more = f'drain_s = 0\n[lab]\nrestart = "{restart}"\nrestore = "never"\n'
    pids = _pids(bench, monkeypatch, _spec(bench, [postgres, postgres], "insert", more))
    for of_target in pids.values():
        assert len(of_target) >= 2 and len(set(of_target)) == (1 if restart == "never" else len(of_target))
    rows = [
        {name: target["tables"]["sbtest1"]["rows"] for name, target in state["targets"].items()}
        for state in bench.records("state")
    ]
    assert rows[0] == {"t0": 2000, "t1": 2000}
    assert rows[1]["t0"] > 2000 and rows[1]["t0"] == rows[1]["t1"]
    assert not any(_beyond_debt(state) for state in bench.records("state"))
    assert not bench.records("drain")
    assert not bench.survivors()
