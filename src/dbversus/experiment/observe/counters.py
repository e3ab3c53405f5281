"""The servers' own counters over a test, whole and by object, and the operations that they span (docs/results-directory.md)."""

import itertools
from collections.abc import Mapping
from typing import cast

from dbversus.errors import RunError
from dbversus.experiment.observe.objects import Nested, nested
from dbversus.experiment.observe.observer import Observer
from dbversus.experiment.observe.reported import await_counts
from dbversus.experiment.observe.scene import Scene
from dbversus.results.records import Counters as CountersRecord
from dbversus.results.records import Objects
from dbversus.servers.objects import ObjectFigure

IDLE_ROUNDS = 2

Start = tuple[str, int]
"""A target by name, and how often it had been restarted: with each start its counters begin anew."""

Counts = Mapping[str | ObjectFigure, float]
"""Counters by name, and counts of objects."""


class Counters(Observer):
    """What the servers count over a case, without what dbversus itself adds.

    Counters and objects are asked together, so that one round without operations tells what asking for both adds.
    """

    def __init__(self, scene: Scene):
        super().__init__(scene)
        self._lacking: dict[str, dict[str, str]] = {}

    @classmethod
    def is_wanted(cls, scene: Scene) -> bool:
        """With cold caches servers are restarted before every row, and their counters begin anew."""
        return scene.rig.spec.cache != "cold"

    def begin(self) -> None:
        """What the servers have counted so far.

        What the case without any operation adds (connect, prepare, close), and reading the counters, is found out
        once per run, before the first reading that counts. Of several rounds the least is taken: work that a server
        does by its clock falls into one of them, our own into all.
        """
        rig, case = self.scene.rig, self.scene.case
        readings = [self._read_anew()]
        if any((target.name, case.name) not in rig.idle_counts for target in rig.alive):
            for _ in range(IDLE_ROUNDS):
                self.scene.idle()
                readings.append(self._read_anew())
            rounds = [_since(*pair) for pair in itertools.pairwise(readings)]
            for name in set.intersection(*(set(found) for found in rounds)):
                rig.idle_counts[name, case.name] = _least([found[name] for found in rounds])
        self.before = readings[-1]

    def end(self) -> None:
        """The clients have left by now, so that all has been reported."""
        rig, case = self.scene.rig, self.scene.case
        delta = {
            name: _without(counts, rig.idle_counts.get((name, case.name), {}))
            for name, counts in _since(self.before, self._read()).items()
        }
        ops = {name: self.scene.driven[name] for name in delta}
        rises = {name: _moved_objects(counts) for name, counts in delta.items()}
        lacking = {name: said for name, said in self._lacking.items() if said}
        if any(rises.values()) or lacking:
            rig.note(Objects(*self.scene.place, rise=rises, spanned_ops=ops, lacking=lacking, **rig.tag))
        named = {name: _counters(counts) for name, counts in delta.items()}
        moved = {counter for counts in named.values() for counter, change in counts.items() if change}
        if moved:  # hundreds of a server's counters have nothing to do with a test
            kept = {name: {key: counts[key] for key in counts if key in moved} for name, counts in named.items()}
            rig.note(CountersRecord(*self.scene.place, kept, ops, **rig.tag))

    def _read_anew(self) -> dict[Start, Counts]:
        await_counts(self.scene.rig)
        return self._read()

    def _read(self) -> dict[Start, Counts]:
        """The counters of all servers; one that gives none is restarted if it is gone, and counts nothing for this test."""
        rig = self.scene.rig
        rig.thaw()
        found: dict[Start, Counts] = {}
        for target in rig.alive:
            try:
                objects = target.server.objects("rise")
                counts = cast(Counts, target.server.counters())
                found[target.name, target.restarts] = {**counts, **cast(Counts, objects.values)}
                self._lacking[target.name] = dict(objects.lacking)
            except RunError as error:
                if not target.server.is_running():
                    rig.revive(target, str(error), **self.scene.where)
        return found


def _counters(counts: Counts) -> dict[str, float]:
    return {name: value for name, value in counts.items() if not isinstance(name, ObjectFigure)}


def _moved_objects(counts: Counts) -> Nested:
    return nested({name: value for name, value in counts.items() if isinstance(name, ObjectFigure) and value})


def _since(before: dict[Start, Counts], after: dict[Start, Counts]) -> dict[str, dict[str | ObjectFigure, float]]:
    """What rose by how much, by target; of those that were not restarted."""
    return {
        start[0]: {counter: _rise(counter, before[start].get(counter, 0.0), value) for counter, value in counts.items()}
        for start, counts in after.items()
        if start in before
    }


def _rise(counter: str | ObjectFigure, before: float, after: float) -> float:
    """The counts of an object that was made anew (an index, by a test that builds it) began with it."""
    return after if isinstance(counter, ObjectFigure) and after < before else after - before


def _least(rounds: list[Counts]) -> dict[str | ObjectFigure, float]:
    return {counter: max(0.0, min(counts.get(counter, 0.0) for counts in rounds)) for counter in rounds[0]}


def _without(counts: Counts, own: Counts) -> dict[str | ObjectFigure, float]:
    """What is no more than our own is nothing; figures that fell are left as they are, so that it shows."""
    return {
        counter: max(change - own.get(counter, 0.0), 0.0) if change > 0 else change
        for counter, change in counts.items()
    }
