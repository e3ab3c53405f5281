"""The record of what a slot of a case is, and of what comes before the first."""

from dataclasses import replace

from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.slots import SlotPlan
from dbversus.experiment.rig.forms import forms_of
from dbversus.results.records import Slots


def lead_in_s(scene: Scene) -> float:
    """How long the slowest target is driven before the rows of the case; work with an end has no lead-in."""
    test = scene.case.test
    return scene.rig.spec.lead_in_s if test.changes_data and not test.work else 0


def note_plan(scene: Scene, plan: SlotPlan) -> None:
    """Of each form of a test, the same."""
    for form in forms_of(scene.case):
        _note_plan(replace(scene, case=form), plan, None if form.name == scene.case.name else scene.case.name)


def _note_plan(scene: Scene, plan: SlotPlan, against: str | None) -> None:
    rig, test = scene.rig, scene.case.test
    size, tables = rig.spec.table_size, rig.spec.tables
    rig.note(
        Slots(
            *scene.place,
            plan.slot,
            plan.settle,
            plan.rows,
            test.rows_scanned_per_op(size, tables),
            test.work_of_op(size, tables),
            scene.paces,
            scene.does,
            scene.row_bytes,
            lead_in_s(scene),
            plan.settle_again,
            against,
            **rig.tag,
        )
    )
