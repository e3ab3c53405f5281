"""Finds each target's rate with a case, and plans its slots from such rates."""

from typing import Any

from dbversus.experiment.cell.opening import open_case, seed_of
from dbversus.experiment.observe.scene import Scene, driven_ops
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.plan.slots import SlotPlan, SlotRules, plan_cold_slots, plan_slots, wanted_ops
from dbversus.experiment.rig.cold import empty_caches
from dbversus.experiment.rig.engine import EngineRefused, Reply
from dbversus.experiment.rig.forms import drivers
from dbversus.experiment.rig.rig import Rig
from dbversus.stats.orders import williams_square
from dbversus.suites.assembly.roles import offered_rate

PILOT_OPS = 20
PILOT_MS = 40
PILOT_ROW = 1_000_000
"""Far above the numbers of counted rows."""
COLD_PILOT_MS = 500


def pilot(scene: Scene) -> list[float]:
    """The rate in operations/s of each that a row has a slot of: the targets that the case is measured on, then other forms."""
    if scene.rig.spec.cache == "cold":
        restart_cold(scene)
    return _rates(scene, drivers(scene.rig, scene.case))


def plan_at(scene: Scene, rates: list[float]) -> SlotPlan:
    """The slots of targets that do so many operations/s."""
    rig, case = scene.rig, scene.case
    spec = rig.spec
    rules = SlotRules(spec.slot_ms, spec.warm_up_ms, spec.rows, spec.seconds_of(case.test.name), spec.write_slot_ms)
    orders = len(williams_square(len(rates)))
    clients = case.connections(spec.tables)
    plan = plan_slots(rules, rates, case.test.by_count, orders, clients)
    if spec.cache == "cold":
        plan = plan_cold_slots(spec.cold_slot_ms, rates, clients, once=case.test.slow)
        if case.test.roles:
            plan = SlotPlan({"ms": round(spec.cold_slot_ms), "min_ops": 1}, plan.settle, plan.rows)
    return plan


def _rates(scene: Scene, names: list[str]) -> list[float]:
    rig, case = scene.rig, scene.case
    ops = max(PILOT_OPS, wanted_ops(case.clients))
    due = offered_rate(case.test, rig.spec.table_size, rig.spec.tables, case.clients)
    pilot_ms = COLD_PILOT_MS if rig.spec.cache == "cold" else PILOT_MS
    row = PILOT_ROW
    while True:
        part = {"ops": ops} if case.test.by_count else {"ms": pilot_ms, "min_ops": 1}
        reply = one_row(rig, case, names, part, row)
        scene.driven.update(driven_ops(reply))
        slots = {slot["target"]: slot for slot in reply["slots"]}
        shortest_ms = min(slot["elapsed_ns"] for slot in slots.values()) / 1e6
        if not case.test.by_count or shortest_ms >= pilot_ms / 2 or ops >= 100_000:
            return [due or slots[name]["ops"] / slots[name]["elapsed_ns"] * 1e9 for name in names]
        ops *= 4
        row += 1  # other values: what is there already, written once more, changes nothing


def one_row(rig: Rig, case: Case, names: list[str], part: dict[str, Any], number: int = PILOT_ROW) -> Reply:
    """One row outside the count, for the pilot."""
    replies = rig.engine.stream(
        "rows",
        seed=seed_of(rig.spec.seed, case.name, -2),
        first_row=number,
        orders=[names],
        settle={"ops": 0 if rig.spec.cache == "cold" else 1},
        slot=part,
        tag={"pilot": True},
    )
    row: Reply | None = None
    stopped: Reply = {}
    for reply in replies:
        row = reply if "slots" in reply else row
        stopped = reply.get("stopped", stopped)
    if row is None:
        kind = "connect" if stopped.get("kind") == "lost_connection" else "server"
        words = stopped.get("message", "it does not say why")
        raise EngineRefused(kind, f"The pilot of {case.name} was given up: {words}", stopped.get("target"))
    return row


def restart_cold(scene: Scene) -> None:
    """What comes before a row with cold caches; the stop of the servers has done what earlier rows had left to do."""
    empty_caches(scene.rig, scene.block)
    open_case(scene.rig, scene.block, scene.case)
    scene.driven.clear()
