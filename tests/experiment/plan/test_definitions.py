"""What targets of different DBMSs get to run side by side."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.cell.opening import open_case
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.plan.definitions import definitions
from dbversus.host.pinning import PlacementPlan
from dbversus.suites import load_suite
from dbversus.suites.model import Test

SUITE = """\
title = "Dialects"

[tables.t]
columns = {{ id = {{ type = "int4", values = {{ gen = "sequence" }} }} }}

[tests.one]
title = "t"
group = "point"

[[tests.one.statements]]
name = "some"
sql = "SELECT c FROM t WHERE id >= :id LIMIT :n"
sql_mysql = "{mysql}"
params = {{ id = {{ gen = "uniform", low = 1, high = 9 }}, n = {{ gen = "uniform", low = 1, high = 4 }} }}

[[phases]]
name = "p"
tests = ["one"]
"""


def make_test(folder: Path, mysql: str) -> Test:
    (folder / "dialects.toml").write_text(SUITE.format(mysql=mysql))
    return load_suite(folder / "dialects.toml").tests["one"]


@pytest.fixture
def test(tmp_path: Path) -> Test:
    return make_test(tmp_path, "SELECT c FROM t WHERE id >= :id LIMIT 0, :n")


def test_sql_differs_and_values_do_not(test: Test) -> None:
    made = definitions(test, ["postgres", "mariadb", "postgres"], 10, 1)
    assert list(made) == ["postgres", "mariadb"]
    ours, theirs = (made[name]["statements"][0] for name in made)
    assert ours["sql"].endswith("LIMIT :n")
    assert theirs["sql"].endswith("LIMIT 0, :n")
    assert ours["params"] == theirs["params"]


def test_other_parameters_are_refused(tmp_path: Path) -> None:
    test = make_test(tmp_path, "SELECT c FROM t WHERE id >= :id")
    with pytest.raises(UsageError, match="statement 'some': its SQL takes id, n on postgres and id on mysql"):
        definitions(test, ["postgres", "mysql"], 10, 1)
    assert definitions(test, ["mysql"], 10, 1)


@pytest.mark.parametrize("name", ["sysbench", "sysbench-now"])
def test_the_suites_draw_the_same_values_on_every_dbms(name: str) -> None:
    for test in load_suite(name).tests.values():
        definitions(test, ["postgres", "mysql", "mariadb", "myrocks", "sqlite"], 1000, 2)


class Engine:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def call(self, command: str, **fields: Any) -> dict[str, Any]:
        self.calls.append((command, fields))
        return {"backends": {}}


def open_on(test: Test, *dbms: str) -> dict[str, Any]:
    engine = Engine()
    alive = [
        SimpleNamespace(name=f"t{n}", server=SimpleNamespace(config=SimpleNamespace(ddl={}), dbms=name))
        for n, name in enumerate(dbms)
    ]
    rig: Any = SimpleNamespace(
        spec=SimpleNamespace(mode="prepared", table_size=10, tables=1),
        engine=engine,
        alive=alive,
        alive_names=[target.name for target in alive],
        cpus=PlacementPlan("together", (0,), (0,)),
        thaw=lambda: None,
    )
    open_case(rig, 0, Case(test, 1, "one", 10))
    [(command, fields)] = engine.calls
    assert command == "open"
    return fields


def test_one_dbms_gets_one_definition(test: Test) -> None:
    fields = open_on(test, "mysql", "mysql")
    assert "tests" not in fields
    assert fields["test"]["statements"][0]["sql"].endswith("LIMIT 0, :n")


def test_several_dbms_get_one_each(test: Test) -> None:
    fields = open_on(test, "postgres", "mysql", "postgres")
    limits = {name: made["statements"][0]["sql"].rpartition("LIMIT ")[2] for name, made in fields["tests"].items()}
    assert limits == {"t0": ":n", "t1": "0, :n", "t2": ":n"}
    assert fields["test"] == fields["tests"]["t0"]
