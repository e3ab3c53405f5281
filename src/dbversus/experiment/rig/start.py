"""The start of a block: data restored, servers started, and the memory of all of them filled at the same time."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial

from dbversus.errors import RunError
from dbversus.experiment.rig.prepare import restore
from dbversus.experiment.rig.recovery import ask, through_engine_loss
from dbversus.experiment.rig.same_data import check_state
from dbversus.experiment.rig.session import Session, Target
from dbversus.results.records import Block
from dbversus.stats.orders import starting_order


def start_block(session: Session, block: int, data: str) -> None:
    """Restores every target's `data`, starts the servers, warms them, and checks that all is as it has to be.

    Where data is not restored, what the last block has left to do is done first.
    """
    debt, fresh = _start_on(session, block, data)
    session.note(Block(block, "started", debt))
    check_state(session, block, debt, fresh, data)


def change_data(session: Session, block: int, data: str) -> None:
    """Starts all servers anew on other data, in the midst of a block."""
    for target in session.alive:
        session.remove(target)
    debt, fresh = _start_on(session, block, data)
    check_state(session, block, debt, fresh, data)


def _start_on(session: Session, block: int, data: str) -> tuple[dict[str, dict[str, int]], set[str]]:
    """What each target owes then, and the names of those whose data was restored."""
    session.display.doing(f"block {block + 1}: restoring {data} data, starting servers")
    fresh: set[str] = set()
    for target in starting_order(session.alive, block):
        with _or_out(session, target, block):
            if _restore(session, target, block, data):
                fresh.add(target.name)
    for target in starting_order(session.alive, block):
        with _or_out(session, target, block):
            _start(session, target, block, is_fresh=target.name in fresh)
    warm_together(session, block)
    debt: dict[str, dict[str, int]] = {}
    for target in session.alive:
        owed = ask(session, target, target.server.debt, "start", block=block)
        if owed is not None:
            debt[target.name] = owed
    session.diverged = session.diverged and not fresh.issuperset(session.alive_names)
    return debt, fresh


@contextmanager
def _or_out(session: Session, target: Target, block: int) -> Iterator[None]:
    try:
        yield
    except RunError as error:
        session.failure(target, "start", str(error), final=True, block=block)


def _restore(session: Session, target: Target, block: int, data: str) -> bool:
    """Whether the target's data is its snapshot's now: unless it is to be kept, and was put in place earlier in this run."""
    if session.spec.restore == "never" and target.name in session.restored:
        return False
    if session.spec.restore == "never" and block:
        session.remark(
            "the run was interrupted: data was restored once more, and what earlier blocks had changed is gone"
        )
    restore(target, data)
    session.restored.add(target.name)
    return True


def _start(session: Session, target: Target, block: int, *, is_fresh: bool) -> None:
    if not target.server.is_running():
        session.start(target, block=block)
    if not is_fresh:
        through_engine_loss(session, lambda: target.server.settle(session.table_names), block=block)


def warm_together(session: Session, block: int) -> None:
    """Fills the memory of all servers at the same time, so that its pages are dealt out to them in turns.

    Where one server fills its memory after the other, the first gets other pages of the host than the next, block after block: of
    equal servers it used 2-3 % more CPU wherever much memory is touched (docs/evidence/memory.md). Embedded databases, which the
    engine warms, have their turns. A server that is lost meanwhile is started again, and warmed alone.
    """
    served = [target for target in session.alive if target.server.root_pid is not None]
    pool = ThreadPoolExecutor(max(1, len(served)))
    try:
        warming = {target.name: pool.submit(target.server.warm, session.warmed_tables) for target in served}
        wait(warming.values())
    finally:
        pool.shutdown(wait=False)  # on Ctrl-C the servers' stop ends what is still under way
    for target in starting_order(session.alive, block):
        done = (
            warming[target.name].result
            if target.name in warming
            else partial(target.server.warm, session.warmed_tables)
        )
        try:
            through_engine_loss(session, done, block=block)
        except RunError as error:
            session.mend(target, error, "start", block=block)
