"""Tests against each other on a real server, with one target: a form that does far more, and one with other answers."""

import json

import pytest

from .conftest import Bench

pytestmark = pytest.mark.e2e

SUITE = """title = "Forms"
extends = "sysbench"
[statements.one]
sql = "SELECT c FROM sbtest{table} WHERE id = :id"
params = { id = "any_id" }
[tests.one]
title = "One row"
group = "point"
statements = ["one"]
[tests.one-scan]
title = "The same without its index"
group = "point"
against = "one"
statements = [{ use = "one", name = "scan", sql = "SELECT c FROM sbtest{table} WHERE id + 0 = :id" }]
[tests.one-other]
title = "Another column"
group = "point"
against = "one"
statements = [{ use = "one", sql = "SELECT pad FROM sbtest{table} WHERE id = :id" }]
[[phases]]
name = "all"
tests = ["one", "one-scan", "one-other"]
"""


def test_forms_are_judged_on_the_only_target(bench: Bench) -> None:
    (bench.folder / "forms.toml").write_text(SUITE)
    path = bench.write(["sqlite:bundled"], "*", 'suite = "forms.toml"\n', looks=(2,))
    done = bench.run("run", path, "--out", bench.out, "--json", "--fail-on", "wrong-result", status=99)
    assert "one-other ÷ one on sqlite:bundled" in done.stderr
    forms = {one["test"]: one for one in json.loads(done.stdout)["forms"]}
    assert {test: one["against"] for test, one in forms.items()} == {"one-scan": "one", "one-other": "one"}
    assert forms["one-other"]["verdict"] == "wrong result"
    assert forms["one-scan"]["findings"]["server_cpu_us_per_op"]["ratio"] > 1
