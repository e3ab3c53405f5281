"""What files of the targets take on disk at the end of a test that changes data."""

from dbversus.errors import RunError
from dbversus.experiment.observe.observer import Observer
from dbversus.experiment.observe.scene import Scene
from dbversus.results.records import Space as SpaceRecord
from dbversus.results.records import SpaceUse


class Space(Observer):
    """Looked at when the drain is over; no server reads a page for it."""

    @classmethod
    def is_wanted(cls, scene: Scene) -> bool:
        return scene.case.test.changes_data or scene.case.test.work is not None

    def end(self) -> None:
        rig = self.scene.rig
        rig.thaw()
        found = {}
        for target in rig.alive:
            try:
                found[target.name] = SpaceUse(**target.server.space())
            except RunError:  # who is gone is noticed by the next that needs it
                continue
        if found:
            rig.note(SpaceRecord(*self.scene.place, found, **rig.tag))
