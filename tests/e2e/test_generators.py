"""Rows made of their position, walks, samples and windows are the same on all DBMSs, and so are rows that are appended."""

import pytest

from dbversus.home import home_dir
from dbversus.results.read import open_results
from dbversus.results.records import Check, Failure, of_type

from .conftest import Bench

HOSTS = """title = "Measures of hosts"
[variables]
hosts = 10
interval = "10s"
start = 2016-01-01T00:00:00Z
metrics = ["usage_user", "usage_idle"]

[tables.tags]
rows = "hosts"
primary_key = ["id"]
[tables.tags.columns]
id = { type = "int4", values = { gen = "row", expr = "row" } }
name = { type = "varchar(20)", values = { gen = "text", template = "host_{id}" } }
team = { type = "varchar(20)", values = { gen = "choice", of = ["SF", "NYC", "LON"], weights = [2, 1, 1], per = "id" } }

[tables.cpu]
rows = "hosts * 30min / interval"
primary_key = ["host", "at"]
[tables.cpu.columns]
at = { type = "timestamp", values = { gen = "row", expr = "start + row / hosts * interval" } }
host = { type = "int4", values = { gen = "row", expr = "row % hosts" } }
seen = { type = "int8", values = { gen = "exponential", low = 1, high = 1_000_000, parameter = 3 } }
[[tables.cpu.columns_each]]
list = "metrics"
column.type = "float8"
column.values = { gen = "walk", key = "host", step = "row / hosts", sd = 3, low = 0, high = 100 }

[tests.window]
title = "The highest values of some hosts in some minutes"
group = "range-aggregate"
[[tests.window.statements]]
name = "w"
sql = '''SELECT host, team, count(*), min(at), max(usage_user), max(usage_idle) FROM cpu JOIN tags ON id = host
  WHERE name IN (:some) AND at >= :w.from AND at < :w.to GROUP BY host, team'''
[tests.window.statements.params]
some = { gen = "sample", of = "hosts", count = 3, template = "host_{}" }
w = { gen = "window", type = "timestamp", low = "start", high = "start + 30min", length = "5min", resolution = "1s" }

[tests.append]
title = "Thirty rows more"
group = "write"
statements = [{ name = "more", into = "cpu", rows = 30 }]

[tests.appended]
title = "What was appended"
group = "range-aggregate"
[[tests.appended.statements]]
name = "all"
sql = "SELECT at, host, seen, usage_user, usage_idle FROM cpu WHERE at >= :end"
params.end = { gen = "constant", value = 2016-01-01T00:30:00Z }

[[phases]]
name = "all"
tests = ["window", "append", "appended"]
"""


@pytest.mark.long
def test_rows_are_the_same_on_all_dbmss_before_and_after_more_were_appended(
    bench: Bench, postgres: str, of_mysqls_family: list[str]
) -> None:
    (bench.folder / "hosts.toml").write_text(HOSTS)
    (bench.home / "builds").symlink_to(home_dir() / "builds")
    file = bench.write(
        ["sqlite:bundled", postgres, *of_mysqls_family], "*", 'suite = "hosts.toml"\nclients = 2\n', looks=(2,)
    )
    bench.run("run", file, "--out", bench.out)
    results = open_results(bench.out)
    assert of_type(results.records, Failure) == []
    checks = of_type(results.records, Check)
    assert {check.test: check.differs for check in checks} == {"window": [], "append": [], "appended": []}
    assert all(answers.rows for check in checks for answers in check.targets.values() if check.test != "append")
