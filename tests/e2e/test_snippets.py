"""Braces in SQL on real servers of two DBMSs: each has its own SQL, and the answers are the same."""

import json

import pytest

from dbversus.stats.metrics import THROUGHPUT

from .conftest import Bench

SUITE = """title = "Braces"

[variables]
columns = ["a", "b"]

[snippets.bucket]
args = ["column", "width"]
postgres = "({column} / {width}) * {width}"
sqlite = "{column} - {column} % {width}"

[snippets.joined]
args = ["first", "second"]
sql = "{first} || '-' || {second}"

[groups.bucket]
title = "sums by bucket"

[tables.t]
primary_key = ["id"]
[tables.t.columns]
id = { type = "int4", values = { gen = "sequence" } }
a = { type = "int4", values = { gen = "uniform", low = 1, high = 1000 } }
b = { type = "int4", values = { gen = "uniform", low = 1, high = 1000 } }

[tests.sums]
title = "Sums of {n} columns by bucket"
group = "bucket"
variants = [{ name = "one", n = 1, width = 100 }, { name = "both", n = 2, width = 250 }]
work_per_op = { summed_columns = "n" }
settings_postgres = { max_parallel_workers_per_gather = 0 }
[[tests.sums.statements]]
name = "sums"
sql = '''SELECT {bucket(a, {width})} AS bucket, {joined(min('{width}'), max('x'))} AS name,
  {each columns[:n]: sum({}) AS sum_{} | , } FROM t WHERE id <= :last GROUP BY 1 ORDER BY 1'''
params = { last = { gen = "uniform", low = 1, high = "table_size" } }

[[phases]]
name = "one"
tests = ["sums"]
"""


def test_each_dbms_has_its_own_sql_and_gives_the_same_answers(bench: Bench, postgres: str) -> None:
    (bench.folder / "braces.toml").write_text(SUITE)
    file = bench.write([postgres, "sqlite:bundled"], "*", 'suite = "braces.toml"\n', looks=(2,))
    file.write_text(file.read_text().replace("[2, 3]", "[1]"))
    bench.run("run", file, "--out", bench.out)
    checks = bench.records("check")
    assert {check["test"] for check in checks} == {"sums-one", "sums-both"}
    assert all(check["agree"] and check["targets"]["t0"]["rows"] > 20 for check in checks)
    (header,) = bench.records("experiment")
    assert set(header["kinds"].values()) == {"sums by bucket"}
    settings = {"postgres": {"max_parallel_workers_per_gather": 0}}
    assert header["settings"] == {"sums-one": settings, "sums-both": settings}
    assert "sums by bucket" in (bench.out / "report.html").read_text()
    report = json.loads((bench.out / "report.json").read_text())
    (both,) = [test for test in report["tests"] if test["name"] == "sums-both"]
    rates = {figure["metric"]: figure["targets"]["sqlite:bundled"]["value"] for figure in both["figures"]}
    assert rates["work.summed_columns_per_s"] == pytest.approx(2 * rates[THROUGHPUT])
