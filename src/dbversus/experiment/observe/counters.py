"""The servers' own counters over a test, and the operations that they span (docs/results-directory.md, "Counters")."""

import itertools

from dbversus.errors import RunError
from dbversus.experiment.observe.observer import Observer
from dbversus.experiment.observe.scene import Scene
from dbversus.results.records import Counters as CountersRecord

IDLE_ROUNDS = 2

Start = tuple[str, int]
"""A target by name, and how often it had been restarted: with each start its counters begin anew."""

Counts = dict[str, float]


class Counters(Observer):
    """What the servers count over a case, without what dbversus itself adds."""

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
        readings = [_read(self.scene)]
        if any((target.name, case.name) not in rig.idle_counts for target in rig.alive):
            for _ in range(IDLE_ROUNDS):
                self.scene.idle()
                readings.append(_read(self.scene))
            rounds = [_since(*pair) for pair in itertools.pairwise(readings)]
            for name in set.intersection(*(set(found) for found in rounds)):
                rig.idle_counts[name, case.name] = _least([found[name] for found in rounds])
        self.before = readings[-1]

    def end(self) -> None:
        """The clients have left by now, so that all has been reported."""
        rig, case = self.scene.rig, self.scene.case
        delta = {
            name: _without(counts, rig.idle_counts.get((name, case.name), {}))
            for name, counts in _since(self.before, _read(self.scene)).items()
        }
        moved = {counter for counts in delta.values() for counter, change in counts.items() if change}
        if moved:  # hundreds of a server's counters have nothing to do with a test
            kept = {name: {key: counts[key] for key in counts if key in moved} for name, counts in delta.items()}
            ops = {name: self.scene.driven[name] for name in kept}
            rig.note(CountersRecord(*self.scene.place, kept, ops, **rig.tag))


def _read(scene: Scene) -> dict[Start, Counts]:
    """The counters of all servers; one that gives none is restarted if it is gone, and counts nothing for this test."""
    rig = scene.rig
    rig.thaw()
    found: dict[Start, Counts] = {}
    for target in rig.alive:
        try:
            found[target.name, target.restarts] = target.server.counters()
        except RunError as error:
            if not target.server.is_running():
                rig.revive(target, str(error), **scene.where)
    return found


def _since(before: dict[Start, Counts], after: dict[Start, Counts]) -> dict[str, Counts]:
    """What rose by how much, by target; of those that were not restarted."""
    return {
        start[0]: {counter: value - before[start].get(counter, 0) for counter, value in counts.items()}
        for start, counts in after.items()
        if start in before
    }


def _least(rounds: list[Counts]) -> Counts:
    return {counter: max(0.0, min(counts.get(counter, 0.0) for counts in rounds)) for counter in rounds[0]}


def _without(counts: Counts, own: Counts) -> Counts:
    """What is no more than our own is nothing; figures that fell are left as they are, so that it shows."""
    return {
        counter: max(change - own.get(counter, 0.0), 0.0) if change > 0 else change
        for counter, change in counts.items()
    }
