"""Seconds that the engine tells become one record of a test, and say how far a step has come."""

from pathlib import Path
from typing import Any

from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.observe.timeline import Timeline
from dbversus.experiment.plan.slots import SlotPlan

from ...silent import Silent
from ..fakes import case_of, make_rig, records


class _Heard(Silent):
    def __init__(self) -> None:
        self.words: list[str] = []

    def doing(self, text: str) -> None:
        self.words.append(text)


def _told(target: str, number: int, ops: int) -> dict[str, Any]:
    counts: dict[str, Any] = {"rows": 0, "affected": 0, "errors": 0, "slowest_ns": 9, "server_cpu_ns": None}
    counts |= {"server_background_cpu_ns": 3, "pieces": [[10**18 + number * 10**9, 10**9]]}
    used = {"server_read_bytes": None, "server_write_bytes": 5}
    return {"target": target, "second": number, "elapsed_ns": 10**9, "ops": ops, **counts, **used}


def test_seconds_are_one_record_and_go_on_where_rows_were_broken_off(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    observer = Timeline(Scene(rig, 4, case_of(rig, "point-query")))
    observer.rows_begin()
    observer.rows_told({"series": [_told("t0", 0, 5), _told("t0", 1, 6), _told("t1", 0, 7)]})
    observer.rows_begin()
    observer.rows_told({"series": [_told("t0", 0, 8)]})
    observer.rows_told({"done": True})
    observer.end()
    (found,) = records(rig, "series")
    assert (found["block"], found["test"]) == (4, "point-query")
    assert (found["targets"]["t0"]["second"], found["targets"]["t0"]["ops"]) == ([0, 1, 2], [5, 6, 8])
    assert found["targets"]["t1"]["server_write_bytes"] == [5]
    assert found["targets"]["t1"]["pieces"] == [[[10**18, 10**9]]]


def test_nothing_is_journaled_where_nothing_was_told(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    observer = Timeline(Scene(rig, 0, case_of(rig, "point-query")))
    observer.rows_begin()
    observer.rows_told({"done": True})
    observer.end()
    assert records(rig, "series") == []


def test_a_step_tells_how_far_it_has_come(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    heard = rig.display = _Heard()
    case = case_of(rig, "point-query")
    rig.progress.plans[rig.shared(case)] = SlotPlan({"ops": 100, "slice_ms": 1000}, {"ops": 0}, 1)
    observer = Timeline(Scene(rig, 0, case))
    observer.rows_told({"series": [_told("t0", 0, 60), _told("t1", 0, 40)]})
    assert heard.words == ["block 1: point-query, 50% done, about 2 s left"]
