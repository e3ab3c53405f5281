"""One case in one block: check the answers, find the slot length, run the rows, observe them."""

import time
from dataclasses import replace

from dbversus.experiment.cell.opening import compare_answers, open_case
from dbversus.experiment.cell.pilot import one_row, pilot, plan_at
from dbversus.experiment.cell.planned import note_plan
from dbversus.experiment.cell.rows import count_rows, lead_in, replay_rows
from dbversus.experiment.cell.work import plan_work, undo
from dbversus.experiment.observe.drain import drain, drain_replays, start_clocks_together
from dbversus.experiment.observe.every import COUNTED_ALONE, observers_of
from dbversus.experiment.observe.latency import Latency
from dbversus.experiment.observe.observer import Observers
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.cases import Case, warms_s
from dbversus.experiment.plan.slots import SlotPlan
from dbversus.experiment.rig.forms import forget_forms, forms_of
from dbversus.experiment.rig.recovery import heed_crashes, through_losses
from dbversus.experiment.rig.rig import Rig
from dbversus.experiment.rig.spoiled import whole_or_spoiled
from dbversus.results.records import Test
from dbversus.suites.model import Work

SAMPLES_AT_MOST = 8
"""Of a single statement that is undone, in a block."""


def measure(rig: Rig, block: int, case: Case, *, replay: bool = False) -> None:
    """Measures a case on all targets that are up; goes on after the rows that the journal already has.

    With `replay` the same work is done (same keys, same counts) and nothing is journaled: it brings the data of restored
    targets into the state they had when an interrupted or retired test had been run. Servers and engines that break on
    the way are replaced, a few times, and the rest of the rows is measured; work with an end has no rest, and spoils the block
    (BlockSpoiled).
    """

    through = whole_or_spoiled if case.test.work else through_losses
    through(rig, block, case, lambda: _measure(_scene(rig, block, case, replay=replay)))


def _scene(rig: Rig, block: int, case: Case, *, replay: bool = False) -> Scene:
    def idle() -> None:
        open_case(rig, block, case)
        rig.engine.call("close")

    return Scene(rig, block, case, replay, idle)


def _measure(scene: Scene) -> None:
    rig, case = scene.rig, scene.case
    began, cpu_began = time.monotonic(), time.process_time()
    if scene.replay:
        rig.undrained |= case.test.changes_data
    else:
        drain_replays(rig)
    observers = observers_of(scene)
    observers.begin()
    heed_crashes(rig, block=scene.block, test=case.name)
    open_case(rig, scene.block, case)
    compare_answers(scene)
    if rig.is_comparable(case):
        _measure_rows(scene, observers)
        observers.still_open()
        if not scene.replay:
            drain(scene)
        rig.engine.call("close")
        observers.end()
        if case.test.work:
            undo(scene, case.test.work)
            if case.test.work.undo and not scene.replay:
                _repeat(scene, case.test.work)
    else:
        rig.engine.call("close")
    forget_forms(rig, case)
    if case.forms:
        _count_alone(scene)
    if not scene.replay:
        seconds, cpu_s = time.monotonic() - began, time.process_time() - cpu_began
        forms = forms_of(case)
        for form in forms:
            rig.note(Test(scene.block, form.name, seconds / len(forms), cpu_s / len(forms), **rig.tag))


def _repeat(scene: Scene, work: Work) -> None:
    """More samples of a single statement that is undone, as many as the time of the test in a block holds.

    What servers put off is done, unmeasured, and undone each time, so that all find the same data. Counters, memory and the
    drain are those of the first.
    """
    rig, case = scene.rig, scene.case
    row_s = sum(scene.slot_ns.values()) / 1e9
    if not row_s or not rig.is_comparable(case):
        return
    plan = rig.progress.plans[rig.shared(case)]
    done = rig.progress.rows[rig.part(scene.block, case)]
    for number in range(done, min(SAMPLES_AT_MOST, int(rig.spec.seconds_of(case.test.name) / row_s))):
        own = _scene(rig, scene.block, case)
        observers = Observers(own, (Latency,))
        open_case(rig, scene.block, case)
        with observers.over_rows():
            count_rows(own, replace(plan, rows=number + 1), number, observers)
        rig.engine.call("close")
        rig.undrained = case.test.changes_data
        drain_replays(rig)
        undo(own, work)


def _count_alone(scene: Scene) -> None:
    """A row more of each form by itself: what a server counts while forms take turns is not told apart."""
    rig = scene.rig
    for form in forms_of(scene.case):
        plan = rig.progress.plans.get(rig.shared(form))
        if plan is None or not rig.is_comparable(form):
            continue
        own = _scene(rig, scene.block, form)
        observers = Observers(own, COUNTED_ALONE)
        observers.begin()
        open_case(rig, own.block, form)
        replay_rows(own, plan, 1)
        rig.engine.call("close")
        observers.end()


def _measure_rows(scene: Scene, observers: Observers) -> None:
    rig, case = scene.rig, scene.case
    done = min(rig.progress.rows[rig.part(scene.block, form)] for form in forms_of(case))
    plan = _plan_and_lead_in(scene)
    start_clocks_together(scene)
    if scene.replay:
        replay_rows(scene, plan, (done if case.test.changes_data else 0) or plan.rows)
        return
    if done and case.test.changes_data:
        replay_rows(scene, plan, min(done, plan.rows))
    with observers.over_rows():
        count_rows(scene, plan, done, observers)


def _plan_and_lead_in(scene: Scene) -> SlotPlan:
    """The plan, which holds for all blocks, once the lead-in is over. The block that makes it journals it."""
    known = scene.rig.progress.plans.get(scene.rig.shared(scene.case))
    plan = known or _first_plan(scene)
    rates = lead_in(scene, plan)
    if not known:
        # a server that writes back is slower than in a pilot of 40 ms
        plan = plan_at(scene, rates) if rates else plan
        note_plan(scene, plan)
    return plan


def _first_plan(scene: Scene) -> SlotPlan:
    work = scene.case.test.work
    return plan_work(scene, work) if work else plan_at(scene, pilot(scene))


def warm_up(rig: Rig, block: int, case: Case) -> None:
    """Drives a test that only warms caches: once per target, uncounted, through losses as `measure`."""
    through_losses(rig, block, case, lambda: _warm_up(rig, block, case))


def _warm_up(rig: Rig, block: int, case: Case) -> None:
    open_case(rig, block, case)
    one_row(rig, case, rig.alive_names, {"ms": round(1000 * warms_s(rig.spec)), "min_ops": 1})
    rig.engine.call("close")
