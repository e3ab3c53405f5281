"""A cell on this host: servers freshly started on restored data, then the tests in suite order, since state matters."""

import shutil
from collections.abc import Iterable, Sequence
from functools import partial

from dbversus.experiment.cell.case import measure, warm_up
from dbversus.experiment.observe.servers import store_log_tails, store_server_facts
from dbversus.experiment.plan.agenda import Cell
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.cold import cool
from dbversus.experiment.rig.recovery import ask
from dbversus.experiment.rig.refusals import check_on_data
from dbversus.experiment.rig.session import GroupOut, Session, Target
from dbversus.experiment.rig.start import change_data, start_block
from dbversus.results.records import Block, Settled
from dbversus.suites.model import Phase


def run_cell(session: Session, cell: Cell) -> None:
    """Runs what is left of a block: the cell's cases, but for those that are finished in it."""
    groups = session.contest.turns(cell.block)
    for group in groups:
        with session.only(group):
            if _left(session, cell, session.contest.all_cases):
                _run_group(session, cell)
            if len(groups) > 1:
                _make_room(session)
    session.note(Block(cell.block, "finished"))


def _left(session: Session, cell: Cell, cases: Iterable[Case]) -> bool:
    """Whether the group that is up still has one of `cases` to be measured."""
    return any(_is_left(session, cell, case) for case in cases)


def _is_left(session: Session, cell: Cell, case: Case) -> bool:
    is_done = session.part(cell.block, case) in session.progress.finished
    return case.name in cell.cases and not is_done and session.is_comparable(case)


def _run_group(session: Session, cell: Cell) -> None:
    try:
        _run_phases(session, cell)
    except GroupOut:
        for target in session.alive:
            session.remove(target)


def _make_room(session: Session) -> None:
    """Removes data that the next block restores anyway: the other groups need the disk."""
    for target in session.alive:
        shutil.rmtree(target.server.data_dir, ignore_errors=True)


def _run_phases(session: Session, cell: Cell) -> None:
    """Phases that share their data run one after another on it; those on other data have the servers started anew."""
    started, block = False, cell.block
    for data, stretch in _stretches(session):
        phases = _needed(session, cell, stretch)
        if not phases:
            continue
        if started:
            change_data(session, block, data)
        else:
            start_block(session, block, data)
            if block == 0:
                check_on_data(session)
                store_server_facts(session)
        started = True
        if session.spec.cache == "mixed":
            cool(session, block)  # only now: whatever looks at the data reads it
        _run_stretch(session, cell, phases)
    stop_block(session)


def _stretches(session: Session) -> list[tuple[str, list[Phase]]]:
    """The suite's phases in order, those together that run on the same data."""
    phases = session.suite.phases
    if session.spec.restore == "never":  # what one block has left is the data of the next
        return [(phases[-1].data, list(phases))]
    return session.suite.stretches


def _run_stretch(session: Session, cell: Cell, phases: list[Phase]) -> None:
    cases = [case for phase in phases for case in session.contest.cases(phase)]
    for phase in phases:
        if phase.settle:
            settle_all(session, cell.block, phase.name)
        for case in session.contest.cases(phase):
            session.display.doing(f"block {cell.block + 1}: {case.name}")
            _run_case(session, cell, case, cases[cases.index(case) + 1 :])


def _run_case(session: Session, cell: Cell, case: Case, later: Sequence[Case]) -> None:
    """A case that is not to be measured changes the data all the same, where a later one needs its changes."""
    if case.test.warm_up:
        if session.spec.cache == "warm":
            warm_up(session, cell.block, case)
    elif _is_left(session, cell, case):
        measure(session, cell.block, case)
    elif case.test.changes_data and _left(session, cell, later):
        measure(session, cell.block, case, replay=True)


def _needed(session: Session, cell: Cell, phases: list[Phase]) -> list[Phase]:
    """The phases of a stretch up to the last one in which a case still has to be measured."""
    needed = [_left(session, cell, session.contest.cases(phase)) for phase in phases]
    return phases[: len(needed) - needed[::-1].index(True)] if any(needed) else []


def settle_all(session: Session, block: int, phase: str) -> None:
    """Pays all debt on every target between phases; what remains is journaled, not hidden."""
    session.display.doing(f"block {block + 1}: settling before {phase}")
    session.thaw_all(block=block)
    for target in session.alive:
        ask(session, target, partial(_settle, session, block, phase, target), "settle", block=block)


def _settle(session: Session, block: int, phase: str, target: Target) -> None:
    done = target.server.settle(session.table_names)
    debt = target.server.debt()
    if any(debt.values()):  # the server's own housekeeping came between
        done = target.server.settle(session.table_names)
        debt = target.server.debt()
    session.note(Settled(block, phase, target.name, done, debt))


def stop_block(session: Session) -> None:
    """Stops the servers, unless they are to stay up from block to block."""
    session.thaw_all()
    store_log_tails(session)
    for target in session.alive:
        for words in target.server.notes:
            session.remark(words, target)
        if session.spec.restart == "block":
            session.remove(target)
