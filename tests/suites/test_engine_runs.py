"""Every test of the bundled suites is understood by the real engine and runs on its bundled SQLite."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.experiment.rig.engine import Engine, engine_binary
from dbversus.suites import Suite, Test, definition, list_suites, load_table

ROWS = 2000
TABLES = 2
EVENTS = 5

SUITES = {suite.name: suite for suite in list_suites()}
CASES = [(suite, test) for suite in SUITES.values() for test in suite.tests.values() if not test.warm_up]


def _load(engine: Engine, suite: Suite, table: int) -> None:
    create = [
        f"CREATE TABLE sbtest{table} (id INTEGER PRIMARY KEY, k INTEGER NOT NULL DEFAULT 0, "
        "c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '')"
    ]
    after = [f"CREATE INDEX k_{table} ON sbtest{table} (k)"]
    made = load_table(suite.load, table, ROWS, create, after, suite.variables)
    assert engine.call("load", target="t0", seed=table, table=made)["rows"] == ROWS


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    try:
        engine_binary()
    except RunError as error:
        pytest.skip(str(error))
    path: Path = tmp_path_factory.mktemp("suites") / "sbtest.db"
    with Engine() as engine:
        engine.call("target", name="t0", wire="sqlite", address={"path": str(path), "library": "bundled"})
        for table in range(1, TABLES + 1):
            _load(engine, SUITES["sysbench"], table)
        yield engine


@pytest.mark.parametrize(("suite", "test"), CASES, ids=[f"{suite.name}-{test.name}" for suite, test in CASES])
def test_runs(engine: Engine, suite: Suite, test: Test) -> None:
    made = definition(test, "sqlite", ROWS, TABLES)
    engine.call("open", targets=["t0"], clients=1, mode="prepared", tables=TABLES, test=made)
    replies = list(
        engine.stream(
            "rows",
            tag={"test": test.name},
            seed=CASES.index((suite, test)),  # not once more the rows that an earlier test has deleted
            first_row=0,
            orders=[["t0"]],
            settle={"ops": 1},
            slot={"ops": EVENTS},
        )
    )
    engine.call("close")
    assert "stopped" not in replies[-1]
    slot = replies[0]["slots"][0]
    per_event = sum(statement["repeat"] for statement in made["statements"]) + 2 * test.transaction
    assert (slot["ops"], slot["statements"]) == (EVENTS, EVENTS * per_event)
    assert not any(slot["errors"].values())
    assert (slot["affected"] > 0) == test.changes_data
    reads = any(statement["sql"].startswith("SELECT") for statement in made["statements"])
    assert (slot["rows"] > 0) == (reads and test.base != "scan")
