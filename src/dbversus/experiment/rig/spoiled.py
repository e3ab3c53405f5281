"""Blocks that are begun again: work that was broken off half-way cannot go on, nor be done twice on the same data."""

from collections.abc import Callable
from typing import Any

from dbversus.errors import RunError
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.engine import EngineGone, EngineRefused
from dbversus.experiment.rig.rig import Rig, Target

AGAIN_AT_MOST = 3


class BlockSpoiled(RunError):
    """The data of some target is neither what it was before a test nor what it is after it."""


def whole_or_spoiled(rig: Rig, block: int, case: Case, action: Callable[[], None]) -> None:
    """Does `action`; where the engine or a target is lost, that is replaced, and BlockSpoiled raised.

    Raises EngineRefused for what is no target's affair.
    """
    where = {"block": block, "test": case.name}
    try:
        action()
    except EngineGone as error:
        rig.renew_engine(str(error), **where)
        raise _spoiled(case, str(error)) from error
    except EngineRefused as error:
        if error.target is None:
            raise
        raise part_with(rig, rig.by_name(error.target), error.kind, str(error), case, where) from error


def part_with(rig: Rig, target: Target, kind: str, message: str, case: Case, where: dict[str, Any]) -> BlockSpoiled:
    """Restarts a target that was lost, or takes out one whose server refuses the work; what is to be raised then."""
    if kind == "server" and target.server.is_running():
        rig.failure(target, "slot", message, final=True, **where)
    else:
        rig.revive(target, message, **where)
    return _spoiled(case, f"{target.label}: {message}")


def _spoiled(case: Case, words: str) -> BlockSpoiled:
    return BlockSpoiled(f"{case.name} was broken off half-way ({words})")


def through_spoiled(rig: Rig, block: int, action: Callable[[], None]) -> None:
    """Does `action`, and again from its start, on restored data, where a block is spoiled; a few times."""
    for _ in range(AGAIN_AT_MOST):
        try:
            return action()
        except BlockSpoiled as error:
            rig.remark(f"block {block + 1} was begun again: {error}")
            rig.display.say(f"{error}; the block is begun again.")
            for target in rig.alive:
                rig.remove(target)
    return action()
