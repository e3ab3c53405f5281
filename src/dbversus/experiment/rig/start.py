"""The start of a block: data restored, then all servers started at the same time, and their memory filled at the same time.

Where one server gets its memory after the other, the first has other pages of the host than the next, block after block: of equal
servers it used 2-3 % more CPU wherever much memory is touched (docs/evidence/memory.md).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial

from dbversus.dbms.known import find_dbms
from dbversus.errors import RunError
from dbversus.experiment.rig.data.prepare import restore
from dbversus.experiment.rig.data.same_data import check_state
from dbversus.experiment.rig.memory import limit_memory
from dbversus.experiment.rig.recovery import ask, through_engine_loss
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.results.records import Block

HEED_S = 0.05
"""How often somebody who waits for other threads looks whether Ctrl-C was pressed."""


def start_block(rig: Rig, block: int, data: str) -> None:
    """Restores every target's `data`, starts the servers, warms them, and checks that all is as it has to be.

    Where data is not restored, what the last block has left to do is done first.
    """
    debt, fresh = _start_on(rig, block, data)
    rig.note(Block(block, "started", debt))
    check_state(rig, block, debt, fresh, data)


def change_data(rig: Rig, block: int, data: str) -> None:
    """Starts all servers anew on other data, in the midst of a block."""
    for target in rig.alive:
        rig.remove(target)
    debt, fresh = _start_on(rig, block, data)
    check_state(rig, block, debt, fresh, data)


def _start_on(rig: Rig, block: int, data: str) -> tuple[dict[str, dict[str, int]], set[str]]:
    """What each target owes then, and the names of those whose data was restored."""
    kept = rig.spec.restore == "never" and rig.restored
    rig.display.doing(f"block {block + 1}: {'settling kept' if kept else f'restoring {data}'} data, starting servers")
    fresh: set[str] = set()
    for target in rig.alive:
        with _out_if_it_fails(rig, target, block):
            if _restore(rig, target, block, data):
                fresh.add(target.name)
    limit_memory(rig, fresh)
    launched = launch_together(rig)
    for target in rig.alive:
        with _out_if_it_fails(rig, target, block):
            _start(rig, target, block, launched, is_fresh=target.name in fresh)
    warm_together(rig, block)
    debt: dict[str, dict[str, int]] = {}
    for target in rig.alive:
        owed = ask(rig, target, target.server.debt, "start", block=block)
        if owed is not None:
            debt[target.name] = owed
    rig.undrained = False
    rig.diverged = rig.diverged and not fresh.issuperset(rig.alive_names)
    return debt, fresh


@contextmanager
def _out_if_it_fails(rig: Rig, target: Target, block: int) -> Iterator[None]:
    try:
        yield
    except RunError as error:
        rig.failure(target, "start", str(error), final=True, block=block)


def _restore(rig: Rig, target: Target, block: int, data: str) -> bool:
    """Whether the target's data is its snapshot's now: unless it is to be kept, and was put in place earlier in this run."""
    if rig.spec.restore == "never" and target.name in rig.restored:
        return False
    if rig.spec.restore == "never" and block:
        rig.remark("the run was interrupted: data was restored once more, and what earlier blocks had changed is gone")
    restore(target, data)
    rig.restored.add(target.name)
    return True


def launch_together(rig: Rig) -> Mapping[str, Future[None]]:
    """Starts all servers that are not running at the same time; returns what came of each, by the target's name.

    PostgreSQL fills its tables of buffers when it starts, and goes through them in every query. Embedded databases are opened in
    their turns, by `_start`. On Ctrl-C no server is left.
    """
    waiting = [target for target in rig.alive if not _is_embedded(target) and not target.server.is_running()]
    launches: dict[str, Future[None]] = {}
    with ThreadPoolExecutor(max(1, len(waiting))) as pool:
        try:
            for target in waiting:
                launches[target.name] = pool.submit(rig.launch, target)
            _wait_for(launches.values())
        except BaseException:
            _end_launches(waiting, launches.values())
            raise
    return launches


def _wait_for(futures: Collection[Future[None]]) -> None:
    """In short steps: Ctrl-C just before a step would not end it."""
    while wait(futures, HEED_S).not_done:
        pass


def _is_embedded(target: Target) -> bool:
    return find_dbms(target.server.dbms).embedded


def _end_launches(targets: Sequence[Target], launches: Collection[Future[None]]) -> None:
    """Ends servers that other threads are starting, and so those threads."""
    while wait(launches, HEED_S).not_done:
        for target in targets:
            target.server.kill()


def _start(rig: Rig, target: Target, block: int, launched: Mapping[str, Future[None]], *, is_fresh: bool) -> None:
    if launch := launched.get(target.name):
        launch.result()
        rig.receive(target, goes_on=not is_fresh, block=block)
    elif not target.server.is_running():
        rig.start(target, goes_on=not is_fresh, block=block)
    if not is_fresh:
        through_engine_loss(rig, lambda: target.server.settle(rig.names_of_tables(target)), block=block)


def _warm(rig: Rig, target: Target) -> None:
    target.server.warm(rig.warmed_tables(target))


def warm_together(rig: Rig, block: int) -> None:
    """Fills the memory of all servers at the same time, so that its pages are dealt out to them in turns.

    Embedded databases, which the engine warms, have their turns. A server that is lost meanwhile is started again, and warmed
    alone.
    """
    served = [target for target in rig.alive if target.server.root_pid is not None]
    pool = ThreadPoolExecutor(max(1, len(served)))
    try:
        warming = {target.name: pool.submit(_warm, rig, target) for target in served}
        _wait_for(warming.values())
    finally:
        pool.shutdown(wait=False)  # on Ctrl-C the servers' stop ends what is still under way
    for target in rig.alive:
        done = warming[target.name].result if target.name in warming else partial(_warm, rig, target)
        try:
            through_engine_loss(rig, done, block=block)
        except RunError as error:
            rig.repair(target, error, "start", block=block)
