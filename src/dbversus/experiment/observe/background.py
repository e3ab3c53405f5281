"""CPU of what servers do beside answering, by kind of work (threads, processes), over the counted rows."""

from collections import Counter

from dbversus.experiment.observe.observer import Observer
from dbversus.experiment.observe.scene import Scene, driven_ops
from dbversus.experiment.rig.engine import Reply
from dbversus.results.records import Background as BackgroundRecord
from dbversus.results.records import BackgroundWork


class Background(Observer):
    def __init__(self, scene: Scene):
        super().__init__(scene)
        self._ops: Counter[str] = Counter()

    def rows_begin(self) -> None:
        self._ops.clear()

    def row(self, row: Reply) -> None:
        self._ops.update(driven_ops(row))

    def rows_told(self, end: Reply) -> None:
        """Of a target that was lost on the way nothing is known."""
        if not end.get("done"):
            return
        lost = (end.get("stopped") or {}).get("target")
        targets = {
            name: BackgroundWork(self._ops[name], cpu_ns)
            for name, cpu_ns in end.get("background", {}).items()
            if self._ops[name] and name != lost
        }
        self._ops.clear()
        if targets:
            rig = self.scene.rig
            rig.note(BackgroundRecord(*self.scene.place, targets, **rig.tag))
