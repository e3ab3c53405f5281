"""Three joined tables with JSON, times, floats, decimals, booleans and bytes: same answers on all DBMSs, verdicts."""

import pytest

from dbversus.home import home_dir
from dbversus.results.read import open_results
from dbversus.results.records import Check, Failure, of_type

from .conftest import Bench

pytestmark = pytest.mark.e2e

FLEET = r'''title = "A fleet of vehicles"

[variables]
day = 86_400_000_000            # microseconds

[tables.depots]
rows = 20
primary_key = ["id"]
[tables.depots.columns]
id = { type = "int2", values = { gen = "sequence" } }
opened = { type = "date", values = { gen = "uniform", low = 2001-01-01, high = 2023-12-31 } }
place = { type = "json", values = { gen = "text", template = '{"city": "@@@@@@", "dock": #, "open": true, "size": 1.50}' } }
token = { type = "uuid", values = { gen = "text", template = "########-####-4###-8###-############" } }

[tables.vehicles]
rows = "table_size / 20"
primary_key = ["id"]
indexes = [{ name = "vehicles_depot", columns = ["depot"] }]
[tables.vehicles.columns]
id = { type = "int4", values = { gen = "sequence" } }
depot = { type = "int2", values = { gen = "uniform", low = 1, high = 20 } }
plate = { type = "char(7)", values = { gen = "text", template = "@@-####" } }
active = { type = "bool", values = { gen = "uniform", low = 0, high = 1 }, default = true }
price = { type = "decimal(10,2)", values = { gen = "uniform", low = 9_999.5, high = 250_000 } }
secret = { type = "bytes(16)", values = { gen = "bytes", length = 16 } }
cargo = { type = "float4", values = { gen = "uniform", low = 0, high = 7.5 } }

[tables.positions]
primary_key = ["id"]
indexes = [{ name = "positions_at", columns = ["vehicle", "at"] }]
[tables.positions.columns]
id = { type = "int8", values = { gen = "sequence" }, identity = true }
vehicle = { type = "int4", values = { gen = "zipfian", low = 1, high = "table_size / 20" } }
at = { type = "timestamp", values = { gen = "uniform", low = 2024-01-01T00:00:00Z, high = 2024-12-31T00:00:00Z } }
received = { type = "timestamp(6)", values = { gen = "ref", of = "at", add = 1_234_567 } }
lat = { type = "float8", values = { gen = "gaussian", low = -90, high = 90.0, round = 5 } }
speed = { type = "float8", nullable = true, values = { gen = "uniform", low = 0, high = 33.3, nulls = 0.1 } }

[generators]
month = { gen = "uniform", low = 2024-01-01T00:00:00Z, high = 2024-11-30T00:00:00Z, type = "timestamp" }
any_vehicle = { gen = "uniform", low = 1, high = "table_size / 20" }
any_speed = { gen = "uniform", low = 10, high = 30, type = "float8" }
any_price = { gen = "uniform", low = 9_999.5, high = 250_000, type = "decimal(10,2)" }
any_day = { gen = "uniform", low = 2001-01-01, high = 2010-01-01, type = "date" }
yes_or_no = { gen = "uniform", low = 0, high = 1, type = "bool" }
secret = { gen = "bytes", length = 16 }

[tests.track]
title = "Positions of a vehicle in a month"
group = "range"
[[tests.track.statements]]
name = "track"
sql = """
SELECT p.id, p.at, p.received, p.lat, p.speed, v.plate, v.active, v.price, v.secret, v.cargo, d.opened, d.place, d.token
FROM positions p JOIN vehicles v ON v.id = p.vehicle JOIN depots d ON d.id = v.depot
WHERE p.vehicle = :vehicle AND p.at >= :from AND p.at < :to ORDER BY p.at, p.id LIMIT 100"""
[tests.track.statements.params]
vehicle = { gen = "zipfian", low = 1, high = "table_size / 20" }
from = "month"
to = { gen = "ref", of = "from", add = "30 * day" }

[tests.fast]
title = "Mean speed of fast vehicles by depot"
group = "range-aggregate"
[[tests.fast.statements]]
name = "fast"
answers = { tolerance = 1e-9 }
sql = """
SELECT d.id, d.opened, count(*), avg(p.speed), sum(p.lat), min(p.at), max(p.received)
FROM positions p JOIN vehicles v ON v.id = p.vehicle JOIN depots d ON d.id = v.depot
WHERE p.speed > :speed AND v.price < :price AND d.opened > :opened AND v.active = :active GROUP BY d.id, d.opened"""
params = { speed = "any_speed", price = "any_price", opened = "any_day", active = "yes_or_no" }

[tests.fast-text]
title = "The same as text"
group = "range-aggregate"
[[tests.fast-text.statements]]
name = "fast"
mode = "text"
answers = { tolerance = 1e-9 }
sql = """
SELECT d.id, d.opened, count(*), avg(p.speed), sum(p.lat), min(p.at), max(p.received)
FROM positions p JOIN vehicles v ON v.id = p.vehicle JOIN depots d ON d.id = v.depot
WHERE p.speed > :speed AND v.price < :price AND d.opened > :opened AND v.active = :active
  AND (p.received < :received OR v.secret = :secret) GROUP BY d.id, d.opened"""
[tests.fast-text.statements.params]
speed = "any_speed"
price = "any_price"
opened = "any_day"
active = { gen = "constant", value = true }
received = { gen = "uniform", low = 2024-01-01T00:00:00Z, high = 2024-11-30T00:00:00Z, type = "timestamp(6)" }
secret = "secret"

[tests.report]
title = "A new position, and a change of a vehicle"
group = "write"
transaction = true
[[tests.report.statements]]
name = "position"
sql = "INSERT INTO positions (vehicle, at, received, lat, speed) VALUES (:vehicle, :at, :received, :lat, :speed)"
[tests.report.statements.params]
vehicle = "any_vehicle"
at = "month"
received = { gen = "ref", of = "at", add = 1, type = "timestamp(6)" }
lat = { gen = "gaussian", low = -90, high = 90, type = "float8", round = 5 }
speed = { gen = "uniform", low = 0, high = 33.3, type = "float8", nulls = 0.5 }
[[tests.report.statements]]
name = "vehicle"
sql = "UPDATE vehicles SET price = :price, secret = :secret, active = :active, cargo = :cargo WHERE id = :id"
[tests.report.statements.params]
price = "any_price"
secret = "secret"
active = "yes_or_no"
cargo = { gen = "uniform", low = 0, high = 7.5, type = "float4" }
id = "any_vehicle"

[[phases]]
name = "reads"
suffix = ".pre"
tests = ["track", "fast", "fast-text"]

[[phases]]
name = "writes"
tests = ["report", "track", "fast"]
'''
TESTS = {"track.pre", "fast.pre", "fast-text.pre", "report", "track", "fast"}


def test_types_of_all_kinds_are_loaded_sent_and_answered_alike(
    bench: Bench, postgres: str, of_mysqls_family: list[str]
) -> None:
    (bench.folder / "fleet.toml").write_text(FLEET)
    (bench.home / "builds").symlink_to(home_dir() / "builds")
    targets = ["sqlite:bundled", postgres, *of_mysqls_family]
    bench.run("run", bench.write(targets, "*", 'suite = "fleet.toml"\n', looks=(2,)), "--out", bench.out)
    results = open_results(bench.out)
    assert set(results.slots["test"]) == TESTS
    assert of_type(results.records, Failure) == []
    checks = of_type(results.records, Check)
    assert {check.test: check.differs for check in checks} == {test: [] for test in TESTS}
    assert all(answers.rows for check in checks for answers in check.targets.values() if check.test != "report")
    verdicts = (bench.out / "report.md").read_text()
    assert "wrong result" not in verdicts and all(name in verdicts for name in TESTS)


def test_an_answer_that_is_another_is_seen_beyond_the_tolerance(bench: Bench, postgres: str) -> None:
    (bench.folder / "mean.toml").write_text(MEAN)
    file = bench.write(["sqlite:bundled", postgres], "*", 'suite = "mean.toml"\n', looks=(2,))
    bench.run("run", file, "--out", bench.out)
    checks = of_type(open_results(bench.out).records, Check)
    assert {check.test: check.agree for check in checks} == {"near": True, "far": False}


MEAN = """title = "Means"
[tables.t]
columns = { x = { type = "float8", values = { gen = "uniform", low = 0.5, high = 99.5 } } }
[tests.near]
title = "The mean of all"
group = "range-aggregate"
statements = [{ name = "mean", sql = "SELECT avg(x) FROM t", answers = { tolerance = 1e-9 } }]
[tests.far]
title = "A mean that is one in a thousand larger"
group = "range-aggregate"
statements = [
  { name = "mean", sql = "SELECT avg(x) FROM t", sql_postgres = "SELECT avg(x) * 1.001 FROM t", answers = { tolerance = 1e-9 } },
]
[[phases]]
name = "all"
tests = ["near", "far"]
"""
