"""CPU of background work beside the operations of its rows."""

from types import SimpleNamespace
from typing import Any, cast

import msgspec

from dbversus.experiment.observe.background import Background
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.rig import Rig

ROW = {"slots": [{"target": "t0", "settle_ops": 5, "ops": 50}, {"target": "t1", "settle_ops": 4, "ops": 50}]}


def test_background_is_journaled_beside_the_operations_of_its_rows() -> None:
    noted: list[dict[str, Any]] = []
    rig = SimpleNamespace(tag={"group": "g1"}, note=lambda record: noted.append(msgspec.to_builtins(record)))
    case = cast(Case, SimpleNamespace(name="insert", test=SimpleNamespace(changes_data=True)))
    observer = Background(Scene(cast(Rig, rig), 0, case))
    observer.rows_begin()
    observer.row(ROW)
    observer.row(ROW)
    told = {"background": {"t0": {"log": 7}, "t1": {"log": 9}, "t2": {"log": 1}}, "stopped": {"target": "t1"}}
    observer.rows_told(told | {"done": True})
    assert noted == [
        {
            "type": "background",
            "block": 0,
            "test": "insert",
            "group": "g1",
            "targets": {"t0": {"ops": 110, "cpu_ns": {"log": 7}}},
        }
    ]
    observer.rows_told({"done": True})
    assert len(noted) == 1, "rows are counted once"
