"""The user's own files as tables and parameters: types of all kinds, the same answers on all DBMSs, verdicts."""

import contextlib
import sqlite3
from pathlib import Path

import duckdb
import pytest

from dbversus.home import home_dir
from dbversus.results.read import open_results
from dbversus.results.records import Check, Failure, Load, of_type

from .conftest import Bench

pytestmark = pytest.mark.e2e

WEATHER = r'''title = "Weather of one's own"

[data.stations]
file = "stations.csv"
[data.readings]
file = "readings.parquet"

[tables.stations]
data = "stations"
primary_key = ["id"]
[tables.stations.columns]
id = { type = "int2" }
code = { type = "char(4)" }
name = {}
height = { type = "float4" }
opened = {}
active = {}
area = { type = "decimal(10,3)" }
token = { type = "uuid" }
secret = { type = "bytes(4)" }
facts = { type = "json" }
seen = { type = "timestamp" }
zone = { type = "int4", values = { gen = "row", expr = "row % 7" } }

[tables.readings]                   # types and columns are the file's
data = "readings"
primary_key = ["id"]
indexes = [{ name = "readings_at", columns = ["station", "at"] }]

[tests.station]
title = "A station by all that it is known by"
group = "point"
[[tests.station.statements]]
name = "station"
sql = """
SELECT id, code, name, height, opened, active, area, token, secret, facts, seen, zone FROM stations
WHERE token = :token OR secret = :secret OR area = :area OR opened = :opened OR seen = :seen OR name = :name ORDER BY id"""
[tests.station.statements.params]
token = { gen = "data", of = "stations", column = "token" }
secret = { gen = "data", of = "stations", column = "secret" }
area = { gen = "data", of = "stations", column = "area" }
opened = { gen = "data", of = "stations", column = "opened" }
seen = { gen = "data", of = "stations", column = "seen" }
name = { gen = "data", of = "stations", column = "name", pick = "zipfian" }

[tests.readings]
title = "Readings of some stations around a time"
group = "range"
[[tests.readings.statements]]
name = "readings"
sql = """
SELECT r.id, r.at, r.day, r.temperature, r.rain, r.ok, r.raw, r.extra, s.name FROM readings r JOIN stations s ON s.id = r.station
WHERE r.station IN (:stations) AND (r.at >= :at OR r.temperature > :temperature) AND r.ok = :ok ORDER BY r.id LIMIT 50"""
[tests.readings.statements.params]
stations = { gen = "data", of = "stations", column = "id", count = 3 }
at = { gen = "data", of = "readings", column = "at" }
temperature = { gen = "data", of = "readings", column = "temperature" }
ok = { gen = "data", of = "readings", column = "ok" }

[tests.means]
title = "Means of all that can be added"
group = "range-aggregate"
[[tests.means.statements]]
name = "means"
mode = "text"
answers = { tolerance = 1e-9 }
sql = """
SELECT r.day, count(*), count(r.temperature), avg(r.temperature), sum(r.rain), min(r.at), max(r.at) FROM readings r
WHERE r.at < :at AND r.day <> :day GROUP BY r.day"""
[tests.means.statements.params]
at = { gen = "data", of = "readings", column = "at" }
day = { gen = "data", of = "readings", column = "day" }

[tests.correct]
title = "Put values of the file into other rows"
group = "write"
[[tests.correct.statements]]
name = "correct"
sql = "UPDATE readings SET temperature = :temperature, rain = :rain, raw = :raw, at = :at, day = :day, ok = :ok WHERE id = :id"
[tests.correct.statements.params]
temperature = { gen = "data", of = "readings", column = "temperature", nulls = 0.2 }
rain = { gen = "data", of = "readings", column = "rain" }
raw = { gen = "data", of = "readings", column = "raw" }
at = { gen = "data", of = "readings", column = "at" }
day = { gen = "data", of = "readings", column = "day" }
ok = { gen = "data", of = "readings", column = "ok" }
id = { gen = "data", of = "readings", column = "id" }

[[phases]]
name = "reads"
suffix = ".pre"
tests = ["station", "readings", "means"]

[[phases]]
name = "writes"
tests = ["correct", "readings"]
'''
TESTS = {"station.pre", "readings.pre", "means.pre", "correct", "readings"}

STATIONS = """
SELECT i AS id, CASE WHEN i % 5 <> 0 THEN format('S{:03d}', i) END AS code,
  CASE i % 4 WHEN 0 THEN 'tab' || chr(9) || 'and "quotes", commas' WHEN 1 THEN 'Zürich ' || i
    WHEN 2 THEN 'back\\slash' || chr(10) || 'line'
    ELSE '' END AS name,
  i * 1.5 AS height, DATE '1899-12-30' + CAST(i * 400 AS INTEGER) AS opened, CASE WHEN i % 3 <> 0 THEN i % 2 = 0 END AS active,
  CASE WHEN i % 6 <> 0 THEN CAST((i - 50) / 8.0 AS DECIMAL(10,3)) END AS area,
  format('00000000-0000-4000-8000-{:012d}', i) AS token, format('0x00ff{:02x}', i) AS secret,
  CASE WHEN i % 7 <> 0 THEN format('{{"rank": {}, "tags": ["a", null, 1.5]}}', i) END AS facts,
  TIMESTAMP '1969-12-31 23:00:00' + INTERVAL (i) HOUR AS seen
FROM range(1, 101) AS of(i)
"""
READINGS = """
SELECT i AS id, CAST(i % 100 + 1 AS SMALLINT) AS station,
  TIMESTAMPTZ '2024-02-28 22:00:00.25+00' + INTERVAL (i * 977) SECOND AS at,
  CASE WHEN i % 9 <> 0 THEN CAST(DATE '2024-02-28' + CAST(i // 90 AS INTEGER) AS DATE) END AS day,
  CASE WHEN i % 10 <> 0 THEN (i * 7919 % 40013) / 1000.0 - 15 END::DOUBLE AS temperature,
  CAST((i % 50) / 10.0 AS DECIMAL(8,2)) AS rain, i % 3 = 0 AS ok,
  CASE WHEN i % 4 <> 0 THEN encode('ab' || i) END AS raw,
  CASE WHEN i % 8 <> 0 THEN {'sensor': i % 5, 'codes': [i, NULL]} END AS extra
FROM range(1, 1001) AS of(i)
"""


EXPECTED = {
    "stations": """
SELECT id::INTEGER, code, coalesce(name, ''), height::DOUBLE, opened, (active = 'true')::INTEGER, area::DOUBLE, token,
  unhex(substr(secret, 3)), facts, epoch(seen::TIMESTAMP)::BIGINT, (id::INTEGER - 1) % 7
FROM read_csv('FOLDER/stations.csv', all_varchar = true) ORDER BY 1""",
    "readings": """
SELECT id, station, epoch_us("at"), day::VARCHAR, temperature, rain::DOUBLE, ok::INTEGER, raw, to_json(extra)::VARCHAR
FROM 'FOLDER/readings.parquet' ORDER BY 1""",
}


def _write_files(folder: Path) -> None:
    with duckdb.connect() as opened:
        opened.execute("SET TimeZone = 'UTC'")
        opened.execute(f"COPY ({STATIONS}) TO '{folder}/stations.csv' (FORMAT csv, HEADER)")
        opened.execute(f"COPY ({READINGS}) TO '{folder}/readings.parquet' (FORMAT parquet)")


def _quick(experiment: Path) -> Path:
    experiment.write_text(experiment.read_text().replace("rows = 6", "rows = 3"))
    return experiment


def _check_loaded(home: Path, folder: Path) -> None:
    """What SQLite has is what DuckDB reads from the files."""
    database = next(home.glob("snapshots/*/data/db.sqlite"))
    with contextlib.closing(sqlite3.connect(database)) as loaded, duckdb.connect() as files:
        for table, expected in EXPECTED.items():
            wanted = files.execute(expected.replace("FOLDER", str(folder))).fetchall()
            assert loaded.execute(f"SELECT * FROM {table} ORDER BY id").fetchall() == wanted  # noqa: S608


def test_own_files_are_loaded_and_drawn_from_alike(bench: Bench, postgres: str, of_mysqls_family: list[str]) -> None:
    _write_files(bench.folder)
    (bench.folder / "weather.toml").write_text(WEATHER)
    (bench.home / "builds").symlink_to(home_dir() / "builds")
    targets = ["sqlite:bundled", postgres, *of_mysqls_family]
    bench.run("run", _quick(bench.write(targets, "*", 'suite = "weather.toml"\n', looks=(2,))), "--out", bench.out)
    results = open_results(bench.out)
    assert of_type(results.records, Failure) == []
    loaded = {(load.target, load.table): load.figures.rows for load in of_type(results.records, Load) if load.figures}
    tables = {"stations": 100, "readings": 1000}
    assert loaded == {(f"t{number}", name): rows for number in range(len(targets)) for name, rows in tables.items()}
    checks = of_type(results.records, Check)
    assert {check.test: check.differs for check in checks} == {test: [] for test in TESTS}
    assert all(answers.rows for check in checks for answers in check.targets.values() if check.test != "correct")
    _check_loaded(bench.home, bench.folder)
    report = (bench.out / "report.md").read_text()
    assert "wrong result" not in report and all(name in report for name in TESTS)


def test_own_files_fill_the_tables_of_an_own_schema_on_all_dbms(
    bench: Bench, postgres: str, of_mysqls_family: list[str]
) -> None:
    rows = [f'{number},{number:03d},{number}.50,"Łódź, {number}",' for number in range(1, 201)]
    (bench.folder / "orders.csv").write_text("\n".join(["id,code,total,city,note", *rows]) + "\n")
    columns = "code CHAR(3) NOT NULL, total DECIMAL(10,2) NOT NULL, city VARCHAR(40) NOT NULL, note VARCHAR(9)"
    for name, identity, rest in OWN_SCHEMA:
        (bench.folder / f"{name}.sql").write_text(f"CREATE TABLE orders (id {identity}, {columns}){rest};")
    (bench.folder / "orders.toml").write_text(ORDERS)
    (bench.home / "builds").symlink_to(home_dir() / "builds")
    targets = ["sqlite:bundled", postgres, *of_mysqls_family]
    bench.run("run", _quick(bench.write(targets, "*", 'suite = "orders.toml"\n', looks=(2,))), "--out", bench.out)
    results = open_results(bench.out)
    assert of_type(results.records, Failure) == []
    checks = {check.test: check for check in of_type(results.records, Check)}
    assert {name: check.differs for name, check in checks.items()} == {"found": [], "add": []}
    assert all(answers.rows for answers in checks["found"].targets.values())


OWN_SCHEMA = (
    ("sqlite", "INTEGER PRIMARY KEY", ""),
    ("postgres", "serial PRIMARY KEY", ""),
    ("mysql", "INT AUTO_INCREMENT PRIMARY KEY", " DEFAULT CHARSET utf8"),
)
ORDERS = """title = "Orders in a schema of one's own"
[setup]
sqlite = "sqlite.sql"
postgres = "postgres.sql"
mysql = "mysql.sql"
[data.orders]
file = "orders.csv"
[tables.orders]
made_by = "scripts"
data = "orders"
[tests.found]
title = "By city"
group = "point"
[[tests.found.statements]]
name = "found"
sql = "SELECT id, code, city, note FROM orders WHERE city = :city AND total > 0.4"
params = { city = { gen = "data", of = "orders", column = "city" } }
[tests.add]
title = "The server numbers what is added"
group = "write"
[[tests.add.statements]]
name = "add"
sql = "INSERT INTO orders (code, total, city) VALUES ('new', 1.25, 'Łódź')"
[[phases]]
name = "all"
tests = ["found", "add"]
"""


def test_the_template_of_a_suite_runs_as_it_is(bench: Bench) -> None:
    bench.run("suites", "new", "shop.toml")
    bench.run(
        "run",
        bench.write(["sqlite:bundled", "sqlite:bundled@wal"], "*", 'suite = "shop.toml"\n', looks=(2,)),
        "--out",
        bench.out,
    )
    results = open_results(bench.out)
    assert of_type(results.records, Failure) == []
    assert {check.test: check.agree for check in of_type(results.records, Check)} == {"orders-of": True, "note": True}
    assert "is there already" in bench.run("suites", "new", "shop.toml", status=2).stderr


def test_bad_files_are_refused_before_anything_is_started(bench: Bench) -> None:
    (bench.folder / "people.csv").write_text("id,born\n1,2001-02-03\n2,2001-02-30\n")
    (bench.folder / "people.toml").write_text(PEOPLE)
    path = bench.write(["sqlite:bundled", "sqlite:bundled@wal"], "*", 'suite = "people.toml"\n', looks=(2,))
    done = bench.run("run", path, "--out", bench.out, status=2)
    assert "people.csv:3: column 'born' is '2001-02-30', which is no date." in done.stderr
    assert done.stderr.count("dbversus: ") == 1 and not bench.out.exists()
    assert list(bench.home.rglob("*.tsv")) == []
    (bench.folder / "people.csv").unlink()
    assert "people.toml:3: " in bench.run("run", path, "--out", bench.out, status=2).stderr


def test_a_folder_is_measured_again_with_the_same_file_alone(bench: Bench) -> None:
    people = bench.folder / "people.csv"
    people.write_text("id,born\n1,2001-02-03\n2,2001-02-28\n")
    (bench.folder / "people.toml").write_text(PEOPLE)
    path = bench.write(["sqlite:bundled", "sqlite:bundled@wal"], "*", 'suite = "people.toml"\n', looks=(2,))
    bench.run("run", path, "--out", bench.out)
    bench.run("run", bench.out / "experiment.toml", "--out", bench.folder / "again")
    people.write_text("id,born\n1,2001-02-03\n")
    assert (
        "which is not there or has changed"
        in bench.run("run", bench.out / "experiment.toml", "--out", bench.folder / "third", status=2).stderr
    )


PEOPLE = """title = "People"
[data.people]
file = "people.csv"
[tables.people]
data = "people"
primary_key = ["id"]
columns = { id = {}, born = { type = "date" } }
[generators]
days = { gen = "data", of = "people", column = "born" }
[tests.born]
title = "Who was born on a day"
group = "range"
statements = [
  { name = "born", sql = "SELECT id FROM people WHERE born = :day", params = { day = "days" } },
]
[[phases]]
name = "all"
tests = ["born"]
"""
