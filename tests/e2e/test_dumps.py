"""Suites whose tables come from scripts and plain dumps: same answers, verdicts, and what a server refuses."""

import shutil
import subprocess
from pathlib import Path

import pytest

from dbversus.home import home_dir
from dbversus.results.read import open_results
from dbversus.results.records import Check, Remark, State, of_type

from ..left_out import build_at_hand
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
        build_at_hand(name)
    (bench.home / "builds").symlink_to(home_dir() / "builds")
    return list(names)


@pytest.mark.parametrize(
    "targets",
    [("postgres:16", "postgres:17"), pytest.param(("mariadb:10.11", "mysql:8.0"), marks=pytest.mark.long)],
    ids=" ".join,
)
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


# what old and careful versions of pg_dump write before and after tables, and what comes of it
OLD_POSTGRES = r"""DROP DATABASE "Shop";
CREATE DATABASE "Shop" WITH TEMPLATE = template0 ENCODING = 'UTF8' LC_COLLATE = 'de_DE.utf8';
ALTER DATABASE "Shop" OWNER TO postgres;
\connect "Shop"
\set ON_ERROR_STOP on
CREATE SCHEMA public;
ALTER SCHEMA public OWNER TO postgres;
COMMENT ON SCHEMA public IS 'standard public schema';
CREATE PROCEDURAL LANGUAGE plpgsql;
ALTER PROCEDURAL LANGUAGE plpgsql OWNER TO postgres;
CREATE EXTENSION IF NOT EXISTS nosuch WITH SCHEMA public;
COMMENT ON EXTENSION nosuch IS 'none';
ALTER TABLE ONLY public.orders DROP CONSTRAINT orders_pkey;
DROP TABLE public.orders;
SET default_tablespace = fast_ssd;
\i rows/orders.sql
ALTER TABLE ONLY "Shop".public.orders ADD CONSTRAINT orders_pkey PRIMARY KEY (id);
ALTER DEFAULT PRIVILEGES FOR ROLE postgres GRANT SELECT ON TABLES TO reader;
"""
OLD_POSTGRES_ROWS = """CREATE TABLE public.orders (id integer NOT NULL, note text);
COPY public.orders (id, note) FROM stdin;
1\ta
2\tb
\\.
"""
OLD_MYSQL = """/*M!999999\\- enable the sandbox mode */
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `my-shop` /*!40100 DEFAULT CHARACTER SET latin1 */;
USE `my-shop`;
DROP TABLE orders;
/*!50003 SET no_such_variable = 1 */;
source rows/orders.sql;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`gone`@`%`*/ /*!50003 TRIGGER t BEFORE INSERT ON orders FOR EACH ROW
BEGIN SET NEW.note = CONCAT(NEW.note, '!'); END */;;
DELIMITER ;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`gone`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `notes` AS SELECT `my-shop`.orders.note FROM orders */;
INSERT INTO `my-shop`.orders VALUES (2, 'b');
GRANT SELECT ON `my-shop`.* TO 'gone'@'%' IDENTIFIED BY 'secret';
"""
OLD_MYSQL_ROWS = "CREATE TABLE orders (id int PRIMARY KEY, note varchar(20));\nINSERT INTO orders VALUES (1, 'a');\n"
OLD = """title = "A shop as it comes"
[setup]
postgres = "postgres.sql"
mysql = "mysql.sql"
[tests.order]
title = "An order"
group = "point"
[[tests.order.statements]]
name = "order"
sql = "{sql}"
params = {{ id = {{ gen = "uniform", low = 1, high = 2 }} }}
[[phases]]
name = "all"
tests = ["order"]
"""
OLD_PASSED = {
    "postgres": [
        "DROP DATABASE",
        "CREATE DATABASE",
        "ALTER DATABASE",
        "CREATE SCHEMA",
        "CREATE PROCEDURAL",
        "CREATE EXTENSION",
        "COMMENT ON",
        "ALTER TABLE",
        "SET default_tablespace",
    ],
    "mariadb": ["CREATE DATABASE", "DEFINER=`gone`@`%`", "GRANT SELECT", "DROP TABLE", "/*!50003 SET"],
}


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("postgres:13.1", "SELECT note FROM public.orders WHERE id = :id"),
        ("mariadb:10.11", "SELECT note FROM `my-shop`.orders WHERE id = :id"),
    ],
)
def test_what_a_client_would_pass_over_is_passed_over_and_told(bench: Bench, name: str, sql: str) -> None:
    names = _targets(bench, name)
    mysql = name.startswith("mariadb")
    (bench.folder / "rows").mkdir()
    (bench.folder / "rows/orders.sql").write_text(OLD_MYSQL_ROWS if mysql else OLD_POSTGRES_ROWS)
    (bench.folder / "postgres.sql").write_text(OLD_POSTGRES)
    (bench.folder / "mysql.sql").write_text(OLD_MYSQL)
    (bench.folder / "old.toml").write_text(OLD.format(sql=sql))
    path = bench.write(
        [*names, f"{name}@{'sort_buffer_size=1M' if mysql else 'work_mem=1MB'}"],
        "*",
        'suite = "old.toml"\n',
        looks=(2,),
    )
    planned = bench.run("run", path, "--dry-run").stdout
    assert "was passed over: the database is there: dbversus makes one, and calls it" in " ".join(planned.split())
    said = bench.run("run", path, "--out", bench.out).stderr
    results = open_results(bench.out)
    for state in of_type(results.records, State)[0].targets.values():
        assert {table: facts.rows for table, facts in state.tables.items()} == {"orders": 2}
    remarks = [record.words for record in of_type(results.records, Remark) if record.target == "t0"]
    passed = [words.split("'", 1)[1] for words in remarks if "was passed over" in words]
    for begin in OLD_PASSED[name.split(":")[0]]:
        (found,) = [words for words in passed if words.startswith(begin)]
        assert f"'{found}" in said
    for file in (bench.folder / "rows/orders.sql", bench.folder / "old.toml"):
        file.unlink()
    again = bench.folder / "again"
    bench.run("run", bench.out / "experiment.toml", "--out", again)
    assert (again / "suite/setup").is_dir()
    number = 2 if mysql else 1
    assert (again / f"suite/setup/{number}/rows/orders.sql").is_file()


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
        assert "shop-postgres.sql:2: '\\i other.sql' is not accepted: there is no file" in said
    assert not bench.out.exists()
