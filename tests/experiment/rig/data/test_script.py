"""Scripts run by a real engine, on SQLite: in order, in one go, up to what is refused."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.rig.data.refused import LoadRefused
from dbversus.experiment.rig.data.script import check_scripts, run_scripts
from dbversus.experiment.rig.engine import Engine
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.suites.load import load_suite

from ....silent import Silent

SUITE = """title = "A shop"
[setup]
{dbms} = ["a.sql", "b.sql"]
[tests.one]
title = "One"
group = "point"
statements = [{{ name = "one", sql = "SELECT 1" }}]
[[phases]]
name = "all"
tests = ["one"]
"""


class Bench:
    """A database of its own, and a suite of two scripts."""

    def __init__(self, folder: Path, engine: Engine):
        self.folder, self.engine = folder, engine
        self.remarks: list[str] = []
        (folder / "data").mkdir()
        engine.call("target", name="t0", wire="sqlite", address={"path": str(folder / "data/db.sqlite")})

    def run(self, first: str, second: str, dbms: str = "sqlite") -> None:
        for name, text in (("a.sql", first), ("b.sql", second)):
            (self.folder / name).write_text(text)
        (self.folder / "shop.toml").write_text(SUITE.format(dbms=dbms))
        suite = load_suite(self.folder / "shop.toml")
        rig = SimpleNamespace(engine=self.engine, display=Silent(), suite=suite)
        server = SimpleNamespace(dbms=dbms, data_dir=self.folder / "data")
        target = SimpleNamespace(name="t0", label="the target", server=server)
        self.remarks = run_scripts(cast(Rig, rig), cast(Target, target))

    def rows(self, sql: str) -> list[list[str | None]]:
        found: list[list[str | None]] = self.engine.call("query", target="t0", sql=sql)["rows"]
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Engine() as engine:
        yield Bench(tmp_path, engine)


def test_scripts_are_run_in_order_each_on_one_connection(bench: Bench) -> None:
    rows = "\n".join(f"INSERT INTO t VALUES ({number}, 'it''s; {number}');" for number in range(2500))  # noqa: S608
    bench.run(
        f"CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT);\nBEGIN;\n{rows}\nCOMMIT;", "DELETE FROM t WHERE id < 100"
    )
    assert bench.rows("SELECT count(*), max(note) FROM t") == [["2400", "it's; 999"]]
    assert not bench.remarks


def test_what_it_includes_is_run_where_it_stands_and_what_is_passed_over_is_told(bench: Bench) -> None:
    (bench.folder / "rows").mkdir()
    (bench.folder / "rows/one.sql").write_text(
        "INSERT INTO t VALUES (1);\n.read rows/two.sql\nINSERT INTO t VALUES (3);\n"
    )
    (bench.folder / "rows/two.sql").write_text("INSERT INTO t SELECT 1 + max(id) FROM t;\n")
    bench.run(
        "DROP TABLE t;\nDROP VIEW v;\nCREATE TABLE t (id INTEGER PRIMARY KEY);\nBEGIN;\n.read rows/one.sql\nCOMMIT;",
        "INSERT INTO t SELECT 10 * id FROM t",
    )
    assert bench.rows("SELECT group_concat(id) FROM t") == [["1,2,3,10,20,30"]]
    (remark,) = bench.remarks
    assert remark.startswith(
        "a.sql:1: 'DROP TABLE t', and 1 more like it up to line 2, was passed over: there was nothing"
    )


def test_what_is_refused_is_told_with_file_line_and_statement(bench: Bench) -> None:
    rows = "\n".join(f"INSERT INTO t VALUES ({number % 1800});" for number in range(2500))  # noqa: S608
    with pytest.raises(LoadRefused) as error:
        bench.run(f"CREATE TABLE t (id INTEGER PRIMARY KEY);\n{rows}", "DROP TABLE t")
    said = str(error.value)
    assert said.startswith(
        f"{bench.folder / 'a.sql'}:1802: the target refuses a statement: UNIQUE constraint failed: t.id"
    )
    assert said.endswith("(statement: INSERT INTO t VALUES (0))")
    assert bench.rows("SELECT count(*) FROM t") == [["1800"]]


def test_every_target_has_to_get_its_tables_from_somewhere(bench: Bench) -> None:
    bench.run("SELECT 1", "SELECT 2", dbms="postgres")
    suite = load_suite(bench.folder / "shop.toml")
    check_scripts(suite, ["postgres"])
    with pytest.raises(
        UsageError, match=r"shop.toml:3: there is no script for sqlite in \[setup\], which has postgres"
    ):
        check_scripts(suite, ["postgres", "sqlite"])
    (bench.folder / "b.sql").write_text("\\i c.sql")
    with pytest.raises(UsageError, match=r"b.sql:1: '\\i c.sql' is not accepted: there is no file .*c.sql"):
        check_scripts(suite, ["postgres"])


def test_scripts_need_a_database(bench: Bench) -> None:
    for name in ("a.sql", "b.sql"):
        (bench.folder / name).write_text("SELECT 1")
    (bench.folder / "shop.toml").write_text(SUITE.format(dbms="sql"))
    suite = load_suite(bench.folder / "shop.toml")
    check_scripts(suite, ["sqlite"])
    with pytest.raises(UsageError, match=r"shop.toml:3: \[setup\] has scripts for a database, and null is none; "):
        check_scripts(suite, ["null"])
