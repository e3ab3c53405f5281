"""Connecting as an operation, on real servers: all that it costs is counted, and its errors are told."""

import json

import pytest

from .conftest import Bench

pytestmark = pytest.mark.e2e

SUITE = """title = "Connections"
extends = "sysbench"
[statements.busy]
sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT count(*) FROM n"
table = "client"
[tests.connect]
title = "nothing but a connection"
group = "point"
connect = true
[tests.kept]
title = "work on a connection that stays"
group = "point"
statements = [{ use = "busy", mode = "text" }]
[tests.anew]
title = "the same on another connection each time"
group = "point"
connect = true
against = "kept"
statements = ["busy"]
[[phases]]
name = "all"
tests = ["connect", "kept", "anew"]
"""


@pytest.mark.parametrize("dbms", ["postgres", "sqlite"])
def test_what_connections_cost_is_counted_to_their_end(bench: Bench, postgres: str, dbms: str) -> None:
    (bench.folder / "connections.toml").write_text(SUITE)
    target = postgres if dbms == "postgres" else "sqlite:bundled"
    path = bench.write([target], "*", 'suite = "connections.toml"\n', looks=(2,))
    done = bench.run("run", path, "--out", bench.out, "--json")
    (form,) = json.loads(done.stdout)["forms"]
    # Were processes that have ended not counted, this would be far below 1.
    assert (form["test"], form["findings"]["server_cpu_us_per_op"]["ratio"] > 0.9) == ("anew", True)
    records = [json.loads(line) for line in (bench.out / "journal.jsonl").read_text().splitlines()]
    slots = [slot for one in records if one.get("test") == "connect" for slot in one.get("slots", ())]
    assert slots and all(slot["ops"] > 0 and slot["statements"] == 0 and not slot["errors"] for slot in slots)
    assert all(slot["server_cpu_ns"] > 0 for slot in slots)
