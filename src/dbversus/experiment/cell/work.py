"""Work with an end: steps and single statements, which a block measures once and whole."""

from collections.abc import Mapping
from typing import Any

from dbversus.experiment.cell.planned import note_plan
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.slots import SlotPlan
from dbversus.experiment.rig.engine import EngineRefused
from dbversus.experiment.rig.spoiled import part_with
from dbversus.suites.model import Work
from dbversus.suites.send.define import operations_of, undo_sql


def plan_work(scene: Scene, work: Work) -> SlotPlan:
    """One row, whose slots are all of the work of a target; journaled."""
    rig, test = scene.rig, scene.case.test
    spec = rig.spec
    slot = {"ops": operations_of(work, test, spec.table_size, spec.tables, scene.case.clients)}
    if work.slice_ms:
        slot["slice_ms"] = work.slice_ms
    plan = SlotPlan(slot, {"ops": 0}, rows=1)
    note_plan(scene, plan)
    return plan


def break_off(scene: Scene, stopped: Mapping[str, Any]) -> None:
    """A target was lost, or refused, in the midst of the work: raises BlockSpoiled."""
    rig = scene.rig
    scene.broken = True
    rig.thaw()
    target = rig.by_name(stopped["target"])
    raise part_with(rig, target, stopped.get("kind", ""), stopped["message"], scene.case, scene.where)


def undo(scene: Scene, work: Work) -> None:
    """Takes back, unmeasured, what a single statement did on each target; one that refuses that is out."""
    rig = scene.rig
    if work.undo is None:
        return
    for name in rig.measured(scene.case):
        target = rig.by_name(name)
        try:
            rig.engine.call("query", target=name, sql=undo_sql(work, target.server.dbms))
        except EngineRefused as error:
            if error.kind != "server" or not target.server.is_running():
                raise
            rig.failure(target, "slot", f"undo: {error}", final=True, **scene.where)
