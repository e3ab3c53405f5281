"""Every test of the bundled suites on sysbench's tables is understood by the real engine and runs on its bundled SQLite."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.experiment.rig.engine import Engine
from dbversus.servers.sqlite.ddl import table_sql
from dbversus.suites import Suite, Test, definition, list_suites, loads

from ..left_out import engine_at_hand

ROWS = 2000
TABLES = 2
EVENTS = 5

SUITES = {suite.name: suite for suite in list_suites() if suite.table_stems == ["sbtest"]}
CASES = [(suite, test) for suite in SUITES.values() for test in suite.tests.values() if not test.warm_up]


def _load(engine: Engine, suite: Suite) -> None:
    for number, made in enumerate(loads(suite, ROWS, TABLES, table_sql), 1):
        assert engine.call("load", target="t0", seed=number, table=made)["rows"] == ROWS


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine_at_hand()
    path: Path = tmp_path_factory.mktemp("suites") / "sbtest.db"
    with Engine() as engine:
        engine.call("target", name="t0", wire="sqlite", address={"path": str(path), "library": "bundled"})
        _load(engine, SUITES["sysbench"])
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
