"""Values that tests draw from what scripts fill: read from a server that has them, kept, and given to the engine."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from dbversus.experiment.rig.data.drawn import put_back, read_drawn
from dbversus.experiment.rig.data.refused import LoadRefused
from dbversus.experiment.rig.engine import Engine
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.suites.data.generators import LOADED_VALUES
from dbversus.suites.load import load_suite

SUITE = """title = "A shop"
[setup]
sql = "shop.sql"
[tests.one]
title = "One"
group = "point"
[[tests.one.statements]]
name = "one"
sql = "SELECT 1 FROM shop WHERE id = :id"
params = { id = { gen = "any", of = "shop", column = "COLUMN", type = "TYPE" } }
[[phases]]
name = "all"
tests = ["one"]
"""


class Bench:
    """A table of SQLite, and a suite that draws from it."""

    def __init__(self, folder: Path, engine: Engine):
        self.folder, self.engine = folder, engine
        engine.call("target", name="t0", wire="sqlite", address={"path": str(folder / "db.sqlite")})
        for sql in (
            "CREATE TABLE shop (id INTEGER, name TEXT, empty TEXT)",
            "INSERT INTO shop VALUES (3, 'c', NULL), (1, 'a\tb', NULL), (NULL, 'd', NULL), (2, 'b', NULL)",
        ):
            engine.call("query", target="t0", sql=sql)

    def rig(self, column: str, type_: str) -> Rig:
        (self.folder / "shop.sql").write_text("SELECT 1;")
        (self.folder / "shop.toml").write_text(SUITE.replace("COLUMN", column).replace("TYPE", type_))
        return cast(Rig, SimpleNamespace(engine=self.engine, suite=load_suite(self.folder / "shop.toml")))

    def read(self, column: str, type_: str = "int8") -> list[str]:
        target = SimpleNamespace(name="t0", label="the target", server=SimpleNamespace(dbms="sqlite"))
        (text,) = read_drawn(self.rig(column, type_), cast(Target, target)).values()
        return text.splitlines()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path / "home"))
    with Engine() as engine:
        yield Bench(tmp_path, engine)


def test_values_are_spread_over_as_many_lines_as_are_drawn_from(bench: Bench) -> None:
    lines = bench.read("id")
    assert len(lines) == LOADED_VALUES and lines == sorted(lines)
    assert {lines.count(value) // 1000 for value in "123"} == {LOADED_VALUES // 3000}
    assert set(bench.read("name", "text")) == {r"a\tb", "b", "c", "d"}


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("name", "column name of shop on the target has 'a.b', which is no integer"),
        ("empty", "table shop on the target has no value in column empty"),
        ("other", "the target refuses to tell other of shop: .*no such column"),
    ],
)
def test_what_a_table_does_not_hold_ends_the_load_with_the_place_in_the_suite(
    bench: Bench, column: str, expected: str
) -> None:
    with pytest.raises(LoadRefused, match=rf"shop.toml:\d+: {expected}"):
        bench.read(column)


def test_they_are_where_the_engine_looks_as_long_as_a_snapshot_has_them(bench: Bench) -> None:
    rig = bench.rig("id", "int8")
    (one,) = rig.suite.drawn_when_loaded
    (bench.folder / one.file.replace("/", "-")).write_text("7\n" * LOADED_VALUES)
    assert one.example == 1
    put_back(rig, bench.folder)
    assert one.path.read_text().startswith("7\n") and one.example == 7
    one.path.write_text("8\n")
    put_back(rig, bench.folder)
    assert one.path.read_text() == "8\n", "that of another target, from which all draw"
