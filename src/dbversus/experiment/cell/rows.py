"""The rows of a case: run through losses, and journaled with what disturbed them."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from dbversus.experiment.cell.opening import open_case, seed_of
from dbversus.experiment.cell.pilot import restart_cold
from dbversus.experiment.cell.planned import lead_in_s
from dbversus.experiment.cell.work import break_off, in_events, in_operations, note_cut, ops_of_event
from dbversus.experiment.observe.observer import Observer
from dbversus.experiment.observe.scene import Scene, driven_ops
from dbversus.experiment.plan.slots import SlotPlan
from dbversus.experiment.rig.engine import EngineGone, Reply
from dbversus.experiment.rig.forms import by_form, drivers, target_of
from dbversus.experiment.rig.recovery import ENGINE_RENEWALS_AT_MOST
from dbversus.results.records import row_of
from dbversus.stats.orders import balanced_orders
from dbversus.stats.validity.disturbance import RowFigures, judge_row

SERIES_FROM_MS = 1000
LEAD_IN_ROW = 2_000_000
"""Far above the numbers of counted rows, and of the pilot's."""


def replay_rows(scene: Scene, plan: SlotPlan, end: int) -> None:
    """Rows 0 to end-1, uncounted, for what they do to the data."""
    _run(scene, plan, 0, end, None)


def lead_in(scene: Scene, plan: SlotPlan) -> list[float]:
    """Rows as the plan has them, uncounted, until the slowest target has been driven for `lead_in_s`; all do the same work.

    Time is measured, since pilots are too short to tell how fast a server is once it writes back. Returns the rate of each
    target in operations/s, in the order of the pilot's; none where there is no lead-in, or where work is not bounded by count.
    """
    rows, asked_ns = 0, lead_in_s(scene) * 1e9
    if not asked_ns:
        return []
    scene.rig.display.doing(f"block {scene.block + 1}: {scene.case.name}, lead-in")
    scene.slot_ns.clear()
    while max(scene.slot_ns.values(), default=0) < asked_ns:
        _run(scene, plan, LEAD_IN_ROW + rows, LEAD_IN_ROW + rows + 1, None)
        rows += 1
    ops = plan.slot.get("ops", 0) * rows
    return [ops / scene.slot_ns[name] * 1e9 for name in scene.rig.measured(scene.case)] if ops else []


def count_rows(scene: Scene, plan: SlotPlan, first: int, observer: Observer) -> None:
    """The plan's rows from `first` on, journaled and observed."""
    _run(scene, plan, first, plan.rows, observer)


def _run(scene: Scene, plan: SlotPlan, first: int, end: int, observer: Observer | None) -> None:
    """Through restarts of servers and of the engine. `observer`: of counted rows."""
    rig = scene.rig
    row, renewals = first, 0
    while row < end:
        try:
            row = _pass(scene, plan, row, end, observer)
        except _Lost as lost:
            if scene.case.test.work:
                raise lost.error from None
            row = lost.row
            renewals += 1
            if renewals > ENGINE_RENEWALS_AT_MOST:
                raise lost.error from None
            rig.renew_engine(str(lost.error), **scene.where)
            open_case(rig, scene.block, scene.case)
            if observer:
                observer.rows_begin()


class _Lost(Exception):
    """The engine is gone, before row number `row` had ended."""

    def __init__(self, row: int, error: EngineGone):
        super().__init__(str(error))
        self.row, self.error = row, error


def _pass(scene: Scene, plan: SlotPlan, row: int, end: int, observer: Observer | None) -> int:
    """One stream of rows, until its end or until a target breaks it off; the number of the row that is next."""
    cold = observer is not None and scene.rig.spec.cache == "cold"
    ops: Counter[str] = Counter()
    try:
        if cold:
            restart_cold(scene)
            observer.rows_begin()  # type: ignore[union-attr]
        for reply in _stream(scene, plan, row, row + 1 if cold else end):
            if "slots" in reply:
                row += 1
                ops.update(driven_ops(reply))
                scene.slot_ns.update({slot["target"]: slot["elapsed_ns"] for slot in reply["slots"]})
                if observer:
                    observer.row(reply)
                    _journal_row(scene, reply)
            elif observer:
                observer.rows_told(reply)
            if stopped := reply.get("stopped"):
                if scene.case.test.work:
                    break_off(scene, stopped)
                _mend(scene, stopped)
                scene.driven[stopped["target"]] = ops[stopped["target"]] = 0
                if observer:
                    observer.rows_begin()
    except EngineGone as error:
        scene.broken = True
        raise _Lost(row, error) from error
    finally:
        scene.driven.update(ops)
    return row


def _stream(scene: Scene, plan: SlotPlan, first: int, end: int) -> Iterator[Reply]:
    rig, block, case = scene.rig, scene.block, scene.case
    per_event = ops_of_event(scene)
    rig.freeze()
    replies = rig.engine.stream(
        "rows",
        seed=seed_of(rig.spec.seed, case.name, block),
        first_row=rig.first_row + first,
        orders=balanced_orders(drivers(rig, case), end - first, seed_of(rig.spec.seed, case.name, 0), block, first),
        settle=plan.settle,
        settle_again=plan.settle_again,
        slot=in_events(plan.slot, per_event),
        series=_lasts(scene, plan),
        tag={"block": block, "test": case.name, "clients": case.connections(rig.spec.tables)} | rig.tag,
    )
    return (in_operations(reply, per_event) for reply in replies)


def _lasts(scene: Scene, plan: SlotPlan) -> bool:
    """Whether slots are told second by second: long ones, and those whose moments are needed, to put samples to them."""
    spec = scene.rig.spec
    if scene.case.test.work or spec.functions or spec.waits:
        return True
    asked_ms = spec.cold_slot_ms if spec.cache == "cold" else spec.write_slot_ms
    return float(plan.slot.get("ms", asked_ms)) >= SERIES_FROM_MS


def _mend(scene: Scene, stopped: dict[str, Any]) -> None:
    rig = scene.rig
    scene.broken = True
    rig.thaw()
    rig.revive(rig.by_name(target_of(stopped["target"])), stopped["message"], **scene.where, row=stopped["row"])
    open_case(rig, scene.block, scene.case)


def _journal_row(scene: Scene, reply: Reply) -> None:
    """A row in which the host was disturbed counts like any other; that it was, and by what, is journaled with it."""
    rig = scene.rig
    figures = RowFigures.from_host(reply["host"])
    why = judge_row(figures, rig.limits, scene.figures)
    scene.figures.append(figures)
    for _, own in by_form(scene.case, reply):
        if own["slots"]:
            rig.note(row_of(own, why))
    note_cut(scene, reply)
