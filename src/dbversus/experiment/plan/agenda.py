"""What comes next, decided from what was asked and from the records so far: no server, no clock."""

from collections.abc import Collection
from dataclasses import dataclass

from dbversus.experiment.plan.contest import Contest


@dataclass(frozen=True)
class Cell:
    """An order: one block of some cases, by name. The unit of work that is handed out."""

    block: int
    cases: tuple[str, ...]


@dataclass(frozen=True)
class Look:
    """So many blocks are finished, and are to be judged before more is measured."""

    blocks: int


@dataclass(frozen=True)
class Wait:
    """Nothing can be handed out before a cell that is out has come back."""


@dataclass(frozen=True)
class End:
    reason: str


Step = Cell | Look | Wait | End


def next_step(contest: Contest, out: Collection[int] = ()) -> Step:
    """`out`: numbers of the blocks that are being measured.

    The first block of an experiment is measured alone: it finds the lengths of slots, which hold for all others.
    """
    progress, looks = contest.progress, contest.spec.looks
    whole = progress.next_block()
    if whole in looks and whole not in progress.looks:
        return Look(whole)
    undecided = tuple(contest.undecided)
    if not undecided:
        return Wait() if out else End("decided")
    block = next(number for number in range(looks[-1] + 1) if number not in progress.blocks and number not in out)
    if block >= looks[-1]:
        return Wait() if out else End("looks used up")
    return Wait() if out and not _may_overlap(contest, block, whole) else Cell(block, undecided)


def _may_overlap(contest: Contest, block: int, whole: int) -> bool:
    """Whether a block may be measured while others are: none before the next look is judged, or on data that others leave."""
    spec = contest.spec
    beyond = block >= next(look for look in spec.looks if look > whole)
    return bool(contest.progress.blocks) and not beyond and spec.restore == "block" and spec.restart == "block"
