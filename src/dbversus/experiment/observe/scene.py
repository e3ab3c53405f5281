"""Where evidence is collected: one case in one block."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.engine import Reply
from dbversus.experiment.rig.rig import Rig
from dbversus.results.records import Pace
from dbversus.stats.validity.disturbance import RowFigures
from dbversus.suites.assembly.kinds_of_work import kinds_of_work
from dbversus.suites.assembly.roles import paces_of
from dbversus.suites.row_bytes import bytes_of_roles


def driven_ops(row: Reply) -> Counter[str]:
    """Operations by target that a row took, those of warm-ups included: background work makes no difference."""
    return Counter({slot["target"]: slot["settle_ops"] + slot["ops"] for slot in row["slots"]})


@dataclass
class Scene:
    """One case in one block, and what its rows have come to.

    `replay`: the same work is done once more, and nothing is journaled. `idle`: opens and closes the case without any
    operation. `driven`: all operations by target since its server was started, or the case begun: checks, pilots and warm-ups
    change the data too. `slot_ns`: how long slots of rows have lasted, by target. `broken`: a row was broken off, and what
    was driven of it is in no figure. `figures`: of the host, in the journaled rows.
    """

    rig: Rig
    block: int
    case: Case
    replay: bool = False
    idle: Callable[[], None] = lambda: None
    driven: Counter[str] = field(default_factory=Counter)
    slot_ns: Counter[str] = field(default_factory=Counter)
    broken: bool = False
    figures: list[RowFigures] = field(default_factory=list)

    @property
    def where(self) -> dict[str, Any]:
        """What tells records of this scene from others'."""
        return {"block": self.block, "test": self.case.name}

    @property
    def paces(self) -> dict[str, Pace]:
        """Role → its rate and what of it has to be done, of roles with arrivals."""
        spec, case = self.rig.spec, self.case
        paces = paces_of(case.test, spec.table_size, spec.tables, case.clients)
        return {role: Pace(**pace) for role, pace in paces.items()}

    @property
    def does(self) -> dict[str, str]:
        """Role → what its clients do, where they do one thing."""
        return kinds_of_work(self.case.test)

    @property
    def row_bytes(self) -> dict[str, float]:
        """Role → bytes of a row that it inserts or deletes, where that is known."""
        spec = self.rig.spec
        return bytes_of_roles(self.rig.suite, self.case.test, spec.table_size, spec.tables)

    @property
    def place(self) -> tuple[int, str]:
        """The same, as records have it first."""
        return self.block, self.case.name
