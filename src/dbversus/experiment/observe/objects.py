"""What the servers hold at the end of a test, and when a phase begins, by object: sizes, what is cached, work not yet done."""

from collections.abc import Mapping

from dbversus.errors import RunError
from dbversus.experiment.observe.observer import Observer
from dbversus.experiment.rig.rig import Rig
from dbversus.results.records import Objects as ObjectsRecord
from dbversus.results.records import Phase
from dbversus.servers.base import Server
from dbversus.servers.objects import ObjectFigure, ObjectFigures

Nested = dict[str, dict[str, dict[str, float]]]
"""Kind of object → object → figure → value, as journals have it."""

DEBT = "debt"


class Objects(Observer):
    """What stands at the end. What rose is read with the counters (counters.py): one round without operations serves both.

    It is asked when the drain is over: a server that was thawed before it would do some of its debt unseen. What takes long to
    ask is asked in the first block: it would be a sixth of the time of a comparison.
    """

    def end(self) -> None:
        rig = self.scene.rig
        rig.thaw()
        held: dict[str, Nested] = {}
        lacking: dict[str, dict[str, str]] = {}
        for target in rig.alive:
            try:
                found = self._held(target.server)
            except RunError:  # who is gone is noticed by the next that needs it
                continue
            if found.values:
                held[target.name] = nested(found.values)
            if found.lacking:
                lacking[target.name] = dict(found.lacking)
        if held or lacking:
            rig.note(ObjectsRecord(*self.scene.place, at_end=held, lacking=lacking, **rig.tag))

    def _held(self, server: Server) -> ObjectFigures:
        found = server.objects("end")
        more = server.objects("first") if self.scene.block == 0 else ObjectFigures()
        owed = _debt(server) if self.scene.case.test.changes_data else {}
        return ObjectFigures({**found.values, **more.values, **owed}, {**found.lacking, **more.lacking})


def note_phase(rig: Rig, block: int, phase: str) -> None:
    """Journals what every server owes and holds as the phase begins."""
    rig.thaw_all(block=block)
    held = {}
    for target in rig.alive:
        try:
            held[target.name] = nested({**target.server.objects("phase").values, **_debt(target.server)})
        except RunError:  # who is gone is noticed by the next that needs it
            continue
    rig.note(Phase(block, f"{phase}{rig.size_suffix}", held, **rig.tag))


def _debt(server: Server) -> dict[ObjectFigure, float]:
    return {ObjectFigure("server", DEBT, name): float(value) for name, value in server.debt().items() if value}


def nested(values: Mapping[ObjectFigure, float]) -> Nested:
    found: Nested = {}
    for (kind, name, figure), value in values.items():
        found.setdefault(kind, {}).setdefault(name, {})[figure] = value
    return found
