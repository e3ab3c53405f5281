"""What a coordinator sees of those who measure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dbversus.errors import RunError
from dbversus.experiment.plan.agenda import Cell
from dbversus.results.records import AnyRecord

Take = Callable[[AnyRecord], None]


class WorkerLost(RunError):
    """A worker is of no use any more; the cell that it had is whole again, and may go to another."""


@dataclass(frozen=True)
class Order:
    """A cell, and the records so far that whoever measures it has to know: plans of slots, checks, states, failures."""

    cell: Cell
    known: Sequence[AnyRecord] = field(default_factory=list)


class Worker(Protocol):
    name: str

    def perform(self, order: Order, take: Take) -> None:
        """Measures a cell, and gives its records away.

        Raises WorkerLost, and has given nothing away by then, when it cannot go on.
        """

    def close(self) -> None:
        """Ends everything that it has started."""

    def stop(self) -> None:
        """The same in the midst of a cell, which is lost."""
