"""Suites whose tables come from scripts and plain dumps: same answers, verdicts, and what a server refuses."""

import shutil
import subprocess
from pathlib import Path

import pytest

from dbversus.builds.store import obtain
from dbversus.builds.target import parse_target
from dbversus.errors import DbversusError
from dbversus.home import home_dir
from dbversus.results.read import open_results
from dbversus.results.records import Check, Remark, State, of_type

from .conftest import Bench

pytestmark = pytest.mark.e2e

DUMPS = Path(__file__).parents[1] / "data/dumps"
TESTS = {"order", "latest", "spent", "attributes", "note"}
ROWS = {"customers": 100, "items": 1000, "orders": 500, "products": 80}
LITE = """title = "A shop in SQLite"
[setup]
sqlite = ["shop.sql.gz", "more.sql"]
[tests.order]
title = "An order"
group = "point"
[[tests.order.statements]]
name = "order"
sql = "SELECT note FROM orders WHERE id = :id"
params = { id = { gen = "uniform", low = 1, high = 9 } }
[[phases]]
name = "all"
tests = ["order"]
"""


def _targets(bench: Bench, *names: str) -> list[str]:
    for name in names:
        try:
            obtain(parse_target(name))
        except DbversusError as error:
            pytest.skip(f"{name} cannot be had: {error}")
    (bench.home / "builds").symlink_to(home_dir() / "builds")
    return list(names)


@pytest.mark.parametrize("targets", [("postgres:16", "postgres:17"), ("mariadb:10.11", "mysql:8.0")], ids=" ".join)
def test_a_dump_of_a_shop_is_loaded_and_compared(bench: Bench, targets: tuple[str, str]) -> None:
    names = _targets(bench, *targets)
    path = bench.write(names, "*", f'suite = "{DUMPS / "shop.toml"}"\n', looks=(2,))
    bench.run("run", path, "--out", bench.out)
    results = open_results(bench.out)
    assert set(results.slots["test"]) == TESTS
    checks = of_type(results.records, Check)
    assert {check.test for check in checks} == TESTS and all(check.agree for check in checks)
    for state in of_type(results.records, State)[0].targets.values():
        assert {name: table.rows for name, table in state.tables.items()} == ROWS
    passed = [remark.words for remark in of_type(results.records, Remark) if "was passed over" in remark.words]
    assert all("shop" in words for words in passed) and bool(passed) == ("postgres:16" in targets)
    assert (bench.out / "suite/setup/1-shop-postgres.sql").read_bytes() == (DUMPS / "shop-postgres.sql").read_bytes()


def test_a_folder_of_results_repeats_with_the_scripts_that_it_holds(bench: Bench) -> None:
    made = "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT); INSERT INTO orders VALUES (1, 'it''s; one'), (2, NULL);"
    dump = subprocess.run(["sqlite3", ":memory:", made, ".dump"], capture_output=True, text=True, check=True).stdout
    (bench.folder / "shop.toml").write_text(LITE)
    (bench.folder / "shop.sql").write_text(dump)
    subprocess.run(["gzip", bench.folder / "shop.sql"], check=True)
    (bench.folder / "more.sql").write_text("INSERT INTO orders SELECT id + 2, note FROM orders; -- twice as many\n")
    path = bench.write(["sqlite:bundled", "sqlite:bundled@wal"], "*", 'suite = "shop.toml"\n', looks=(2,))
    bench.run("run", path, "--out", bench.out)
    for name in ("shop.toml", "shop.sql.gz", "more.sql"):
        (bench.folder / name).unlink()
    again = bench.folder / "again"
    bench.run("run", bench.out / "experiment.toml", "--out", again)
    for folder in (bench.out, again):
        table = of_type(open_results(folder).records, State)[0].targets["t1"].tables["orders"]
        assert (table.rows, table.highest_id) == (4, 4)
    (again / "suite/setup/2-more.sql").write_text("SELECT 1;")
    assert "2-more.sql was edited" in bench.run("resume", again, status=2).stderr


def test_a_dump_that_fails_half_way_is_told_with_line_and_statement(bench: Bench, postgres: str) -> None:
    shutil.copy(DUMPS / "shop.toml", bench.folder)
    shutil.copy(DUMPS / "shop-mysql.sql", bench.folder)
    dump = (DUMPS / "shop-postgres.sql").read_text()
    broken = dump.replace("\n99\tCustomer 99", "\n98\tCustomer 99")
    assert broken != dump
    (bench.folder / "shop-postgres.sql").write_text(broken)
    path = bench.write([postgres, f"{postgres}@work_mem=1MB"], "order", 'suite = "shop.toml"\n', looks=(2,))
    said = bench.run("run", path, "--out", bench.out, status=2).stderr
    line = 1 + broken[: broken.index("ADD CONSTRAINT customers_pkey")].count("\n") - 1
    assert (
        f"shop-postgres.sql:{line}: {postgres} refuses a statement: ERROR 23505: could not create unique index" in said
    )
    assert "(statement: ALTER TABLE ONLY public.customers ADD CONSTRAINT customers_pkey PRIMARY KEY (id))" in said
    assert not bench.out.exists() and not bench.survivors()
    assert not list((bench.home / "snapshots").glob("*/key.json")) and not list((bench.home / "work").glob("*"))


def test_what_cannot_be_taken_is_refused_before_anything_is_started(bench: Bench, postgres: str) -> None:
    shutil.copy(DUMPS / "shop.toml", bench.folder)
    shutil.copy(DUMPS / "shop-mysql.sql", bench.folder)
    path = bench.write([postgres, f"{postgres}@work_mem=1MB"], "order", 'suite = "shop.toml"\n', looks=(2,))
    words = "shop.toml:4: there is no file shop-postgres.sql; a script of SQL is accepted"
    assert words in bench.run("run", path, "--dry-run", status=2).stderr
    (bench.folder / "shop-postgres.sql").write_text("SELECT 1;\n\\i other.sql\n")
    for more in (["--dry-run"], ["--out", bench.out]):
        said = bench.run("run", path, *more, status=2).stderr
        assert "shop-postgres.sql:2: '\\i other.sql' is a command of psql" in said
    assert not bench.out.exists()
