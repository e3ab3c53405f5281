"""What breaks while something is under way: it is replaced, and what was under way is begun again."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from dbversus.errors import RunError
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.engine import EngineGone, EngineRefused
from dbversus.experiment.rig.forms import target_of
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.servers.log_event import CRASH

ENGINE_RENEWALS_AT_MOST = 3

T = TypeVar("T")


def through_engine_loss(rig: Rig, action: Callable[[], T], **where: Any) -> T:
    """What `action` gives; it is begun once more when the engine is lost on the way."""
    try:
        return action()
    except EngineGone as error:
        rig.renew_engine(str(error), **where)
        return action()


def heed_crashes(rig: Rig, **where: Any) -> None:
    """Notes servers that crashed and recovered by themselves while no client was there to see it.

    What they had committed and not yet written is lost, so the targets' data may differ from here on.
    """
    for target in rig.alive:
        log, target.log_read = target.server.log_since(target.log_read), target.server.log_end()
        for crash in (event for event in target.server.events_in(log) if event.what == CRASH):
            rig.diverged = True
            rig.failure(target, "idle", f"it crashed and recovered by itself: {crash.words}", final=False, **where)
            ask(rig, target, partial(target.server.warm, rig.warmed_tables(target)), "idle", **where)


def ask(rig: Rig, target: Target, question: Callable[[], T], stage: str, **where: Any) -> T | None:
    """What a target's server says to its administrator.

    A server or engine that is lost meanwhile is replaced, and the question asked once more. None when the target is out, for
    that or by its second answer.
    """
    try:
        return question()
    except RunError as error:
        rig.repair(target, error, stage, **where)
    if target.out is not None:
        return None
    try:
        return question()
    except RunError as error:
        rig.failure(target, stage, str(error), final=True, **where)
        return None


def through_losses(rig: Rig, block: int, case: Case, action: Callable[[], None]) -> None:
    """Does `action`, and again from its start after each loss: of the engine, a few times, or of a target.

    A target whose server is gone is restarted, as often as one may be; one that refuses the statements of `case` is out. Raises
    EngineGone when engines are lost one after another, EngineRefused for what is no target's affair.
    """
    renewals = 0
    while True:
        try:
            return action()
        except EngineGone as error:
            renewals += 1
            if renewals > ENGINE_RENEWALS_AT_MOST:
                raise
            rig.renew_engine(str(error), block=block, test=case.name)
        except EngineRefused as error:
            if error.target is None:
                raise
            _heed(rig, block, case, rig.by_name(target_of(error.target)), error)


def _heed(rig: Rig, block: int, case: Case, target: Target, error: EngineRefused) -> None:
    if error.kind == "connect" or not target.server.is_running():
        rig.revive(target, str(error), block=block, test=case.name)
        return
    rig.diverged |= case.test.changes_data  # others have done what this one refuses
    rig.failure(target, "slot", str(error), final=True, block=block, test=case.name)
