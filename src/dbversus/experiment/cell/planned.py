"""The record of what a slot of a case is."""

from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.slots import SlotPlan
from dbversus.results.records import Slots


def note_plan(scene: Scene, plan: SlotPlan) -> None:
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
            **rig.tag,
        )
    )
