"""Work with an end: steps and single statements, which a block measures once and whole."""

from collections.abc import Mapping
from typing import Any

from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.slots import SlotPlan
from dbversus.experiment.rig.engine import EngineRefused, Reply
from dbversus.experiment.rig.spoiled import part_with
from dbversus.suites.assembly.judged_load import load_plan
from dbversus.suites.assembly.roles import operations_of_roles, planned_s_of
from dbversus.suites.model import Work
from dbversus.suites.send.define import operations_of, undo_sql

MOST_TIMES = 3
"""A step with rates may last so many times as long as its operations take at these rates."""

LEAST_BOUND_S = 10.0
"""It may always last so long."""


def plan_work(scene: Scene, work: Work) -> SlotPlan:
    """One row, whose slots are all of the work of a target."""
    rig, test = scene.rig, scene.case.test
    spec = rig.spec
    slot = {"ops": operations_of(work, test, spec.table_size, spec.tables, scene.case.clients)}
    if work.slice_ms:
        slot["slice_ms"] = work.slice_ms
    if planned_s := planned_s_of(test, spec.table_size, spec.tables, scene.case.clients):
        slot["most_ms"] = round(1000 * max(MOST_TIMES * planned_s, LEAST_BOUND_S))
    return SlotPlan(slot, {"ops": 0}, rows=1)


def ops_of_event(scene: Scene) -> int:
    """Operations in what the engine counts as one: a round of INSERTs of the load is as many as it has rows."""
    rig, test = scene.rig, scene.case.test
    return load_plan(test, rig.spec.table_size, rig.spec.tables).rows_of_round if test.loads else 1


def in_events(slot: dict[str, Any], per_event: int) -> dict[str, Any]:
    return slot if per_event == 1 else {**slot, "ops": slot["ops"] // per_event}


def in_operations(reply: Reply, per_event: int) -> Reply:
    """A row of slots, or what was seen second by second, with operations where the engine has events."""
    if per_event == 1:
        return reply
    told = (key for key in ("slots", "series") if key in reply)
    return reply | {key: [{**one, "ops": one["ops"] * per_event} for one in reply[key]] for key in told}


def note_cut(scene: Scene, reply: Reply) -> None:
    """Says which targets did not get their work done in the time that it may take. Their data is then not that of others."""
    rig = scene.rig
    for slot in reply["slots"]:
        if slot.get("cut"):
            rig.diverged = True
            rig.remark(_cut_words(scene, slot), rig.by_name(slot["target"]))


def _cut_words(scene: Scene, slot: Mapping[str, Any]) -> str:
    spec, case = scene.rig.spec, scene.case
    asked = operations_of_roles(case.test, spec.table_size, spec.tables, case.clients)
    done = {name: slot["roles"][name]["ops"] for name in asked}
    undone = [f"{name} did {done[name]:,} of {ops:,} operations" for name, ops in asked.items() if done[name] < ops]
    planned_s = planned_s_of(case.test, spec.table_size, spec.tables, case.clients)
    took = f"after {slot['elapsed_ns'] / 1e9:,.0f} s, where {planned_s:,.3g} s were planned"
    return (
        f"{case.name} was ended in block {scene.block + 1} {took}: {', '.join(undone)}. "
        "Later tests of the block found other data there than on a target that did all"
    )


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
