"""An observer collects one kind of evidence around the rows of a case, and journals it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dbversus.experiment.observe.reported import await_counts
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.rig.engine import Reply


class Observer:
    """Its methods are called at their moments, in this order; each does nothing unless an observer has use for it."""

    def __init__(self, scene: Scene):
        self.scene = scene

    @classmethod
    def is_wanted(cls, scene: Scene) -> bool:
        """Whether there is anything to be seen in such a scene."""
        return True

    def begin(self) -> None:
        """Before the case is opened: no client is connected."""

    def rows_begin(self) -> None:
        """Before the counted rows, and again where a server or the engine was replaced in the midst of them."""

    def row(self, row: Reply) -> None:
        """After each counted row."""

    def rows_told(self, end: Reply) -> None:
        """What the engine says beside counted rows: seconds of a series; where rows end or are broken off, all else."""

    def rows_end(self) -> None:
        """After the counted rows, however they came to an end."""

    def still_open(self) -> None:
        """After the rows, while the clients are still connected."""

    def end(self) -> None:
        """After the clients have gone, what they were served is in the servers' counts, and what servers had put off is
        done; not where a row was broken off."""


class Observers(Observer):
    """Several as one."""

    def __init__(self, scene: Scene, every: Sequence[type[Observer]]):
        super().__init__(scene)
        self._all = [one(scene) for one in every if one.is_wanted(scene)]

    def begin(self) -> None:
        for one in self._all:
            one.begin()

    def rows_begin(self) -> None:
        for one in self._all:
            one.rows_begin()

    def row(self, row: Reply) -> None:
        for one in self._all:
            one.row(row)

    def rows_told(self, end: Reply) -> None:
        for one in self._all:
            one.rows_told(end)

    def rows_end(self) -> None:
        for one in self._all:
            one.rows_end()

    def still_open(self) -> None:
        for one in self._all:
            one.still_open()

    def end(self) -> None:
        if self._all and not self.scene.broken:
            await_counts(self.scene.rig)
            for one in self._all:
                one.end()

    @contextmanager
    def over_rows(self) -> Iterator[None]:
        self.rows_begin()
        try:
            yield
        finally:
            self.rows_end()
