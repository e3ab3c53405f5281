"""A test with two kinds of clients, on a server that stands still for a while."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path
from subprocess import Popen

import pytest

from .conftest import Bench, wait_for

pytestmark = pytest.mark.e2e

SUITE = """title = "Readers beside orders that come at a rate"
extends = "sysbench"

[tests.mixed]
title = "Reads in a closed loop beside updates at a constant rate"
group = "write"
[tests.mixed.roles.readers]
statements = ["point"]
[tests.mixed.roles.orders]
clients = 2
arrivals = { kind = "constant", rate = 100 }
statements = ["update-index"]

[[phases]]
name = "all"
tests = ["mixed"]
"""
# one target, so that it is under way nearly all the time
EXPERIMENT = """targets = ["TARGET"]
alone = true
suite = "mixed.toml"
table_size = 2000
slot_ms = 200
warm_up_ms = 1
rows = 30
seconds = 20
looks = [1]
check_events = 2
"""
STALL_S = 2.0


def servers(home: Path) -> list[int]:
    """Processes of PostgreSQL that work in `home`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_ours = os.readlink(process / "cwd").startswith(str(home))  # noqa: PTH115
            if is_ours and (process / "comm").read_text().startswith("postgres"):
                found.append(int(process.name))
    return found


def signal_all(pids: list[int], what: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, what)


def stall_once(bench: Bench, run: "Popen[str]") -> None:
    """Stops the server in the middle of its rows. Between two rows it is frozen and thawed, which may wake it."""
    wait_for_rows(bench, run, 5)
    pids = servers(bench.home)
    assert pids
    try:
        ends = time.monotonic() + STALL_S
        while time.monotonic() < ends:
            signal_all(pids, signal.SIGSTOP)
            time.sleep(0.01)
    finally:
        signal_all(pids, signal.SIGCONT)


def wait_for_rows(bench: Bench, run: "Popen[str]", number: int) -> None:
    wait_for(lambda: (bench.out / "journal.jsonl").exists() and len(bench.records("row")) >= number, run)


def test_a_stall_shows_in_the_times_of_a_rate_and_not_in_those_of_a_closed_loop(bench: Bench, postgres: str) -> None:
    (bench.folder / "mixed.toml").write_text(SUITE)
    path = bench.folder / "experiment.toml"
    path.write_text(EXPERIMENT.replace("TARGET", postgres))
    run = bench.start("run", path, "--out", bench.out)
    stall_once(bench, run)
    assert run.wait(600) == 0, run.communicate()

    (test,) = json.loads((bench.out / "report.json").read_text())["tests"]
    (orders,), (readers,) = (test["roles"][role].values() for role in ("orders", "readers"))
    tail_us = {name: times["percentiles_us"]["99"]["value"] for name, times in response_and_service(orders)}
    # 200 of some 800 updates fell due while the server stood still; one of each client was under way
    assert tail_us["response"] > 1e6 * STALL_S * 0.5, tail_us
    assert tail_us["service"] < tail_us["response"] / 3, tail_us
    assert orders["late_share"] > 0.1
    # all that the closed loop saw of it is one slow read
    assert readers["response"]["max_us"] > 1e6 * STALL_S * 0.5
    assert readers["response"]["percentiles_us"]["99"]["value"] < 1e6 * STALL_S * 0.1
    assert "Roles of mixed" in (bench.out / "report.md").read_text()

    sql = "SELECT role, sum(ops) AS ops, max(overdue) AS overdue FROM roles GROUP BY role ORDER BY role"
    shown = json.loads(bench.run("show", bench.out, "--sql", sql, "--format", "json").stdout)
    assert [line["role"] for line in shown] == ["orders", "readers"]
    assert shown[0]["overdue"] >= 100  # of 200, while the host does not keep the clients from counting


def response_and_service(role: dict[str, object]) -> list[tuple[str, dict[str, dict[str, dict[str, float]]]]]:
    return [(name, role[name]) for name in ("response", "service")]  # type: ignore[misc]
