"""All that the engine measures has its place in a record."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from dbversus.experiment.rig.engine import Engine
from dbversus.results.records import Answers, HostFigures, LoadFigures, Part, Slot, StatementAnswers
from dbversus.servers.sqlite.ddl import table_sql
from dbversus.suites.load import load_suite
from dbversus.suites.send.define import definition, loads

from ...left_out import engine_at_hand

ROWS = 100
OF_REPLIES = {"id", "done"}


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    engine_at_hand()
    with Engine() as engine:
        engine.call("target", name="t0", wire="sqlite", address={"path": str(tmp_path / "db"), "library": "bundled"})
        yield engine


def _lost(figures: dict[str, Any], kind: type[Part]) -> set[str]:
    assert msgspec.convert(figures, kind)
    return figures.keys() - OF_REPLIES - {*kind.__struct_fields__}


def test_no_figure_is_lost(engine: Engine) -> None:
    suite = load_suite("sysbench")
    (table,) = loads(suite, ROWS, 1, table_sql)
    assert not _lost(engine.call("load", target="t0", seed=1, table=table), LoadFigures)
    test = definition(suite.tests["point-query"], "sqlite", ROWS, 1)
    engine.call("open", targets=["t0"], clients=1, mode="prepared", tables=1, test=test)
    answers = engine.call("check", events=2, seed=1)["targets"]["t0"]
    assert not _lost(answers, Answers) and not _lost(answers["statements"][0], StatementAnswers)
    row, *_ = engine.stream("rows", tag={}, seed=1, first_row=0, orders=[["t0"]], settle={"ops": 1}, slot={"ops": 5})
    assert row.keys() - OF_REPLIES == {"tag", "row", "order", "started_unix_ns", "host", "slots"}
    assert not _lost(row["slots"][0], Slot) and not _lost(row["host"], HostFigures)
