"""One block: servers freshly started on restored data, then the tests in suite order, since state matters."""

import shutil
from functools import partial

from dbversus.experiment.measure import measure, warm_up
from dbversus.experiment.observe.servers import store_log_tails, store_server_facts
from dbversus.experiment.rig.cold import cool
from dbversus.experiment.rig.recovery import ask
from dbversus.experiment.rig.refusals import check_on_data
from dbversus.experiment.rig.session import Case, GroupOut, Session, Target
from dbversus.experiment.rig.start import change_data, start_block
from dbversus.results.records import Block, Settled
from dbversus.suites.model import Phase


def run_block(session: Session, block: int) -> None:
    """Runs what is left of block number `block`: cases neither finished in it nor retired."""
    groups = session.turns(block)
    for group in groups:
        with session.only(group):
            if _something_left(session, block):
                _run_group(session, block)
            if len(groups) > 1:
                _make_room(session)
    session.note(Block(block, "finished"))
    session.progress.blocks.add(block)


def _something_left(session: Session, block: int) -> bool:
    """Whether the group that is up has a case to be measured in this block."""
    undecided = set(session.undecided)
    cases = [case for case in session.all_cases if case.name in undecided]
    return any(session.part(block, case) not in session.progress.finished for case in cases)


def _run_group(session: Session, block: int) -> None:
    try:
        _run_phases(session, block)
    except GroupOut:
        for target in session.alive:
            session.remove(target)


def _make_room(session: Session) -> None:
    """Removes data that the next block restores anyway: the other groups need the disk."""
    for target in session.alive:
        shutil.rmtree(target.server.data_dir, ignore_errors=True)


def _run_phases(session: Session, block: int) -> None:
    """Phases that share their data run one after another on it; those on other data have the servers started anew."""
    started = False
    for data, stretch in _stretches(session):
        phases = _needed(session, block, stretch)
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
        _run_stretch(session, block, phases)
    stop_block(session)


def _stretches(session: Session) -> list[tuple[str, list[Phase]]]:
    """The suite's phases in order, those together that run on the same data."""
    phases = session.suite.phases
    if session.spec.restore == "never":  # what one block has left is the data of the next
        return [(phases[-1].data, list(phases))]
    return session.suite.stretches


def _run_stretch(session: Session, block: int, phases: list[Phase]) -> None:
    for phase in phases:
        if phase.settle:
            settle_all(session, block, phase.name)
        for case in session.cases(phase):
            session.display.doing(f"block {block + 1}: {case.name}")
            _run_case(session, block, case, phases)


def _run_case(session: Session, block: int, case: Case, phases: list[Phase]) -> None:
    if case.test.warm_up:
        if session.spec.cache == "warm":
            warm_up(session, block, case)
    elif case.name in session.undecided and session.part(block, case) not in session.progress.finished:
        measure(session, block, case)
    elif case.test.changes_data and _something_follows(session, block, case, phases):
        measure(session, block, case, replay=True)


def _needed(session: Session, block: int, phases: list[Phase]) -> list[Phase]:
    """The phases of a stretch up to the last one in which a case still has to be measured in this block."""
    undecided = set(session.undecided)
    wanted = [
        any(case.name in undecided and session.part(block, case) not in session.progress.finished for case in cases)
        for cases in map(session.cases, phases)
    ]
    return phases[: len(wanted) - wanted[::-1].index(True)] if any(wanted) else []


def _something_follows(session: Session, block: int, case: Case, phases: list[Phase]) -> bool:
    """Whether a case that is still to be measured in this block comes after `case` and so needs its changes to the data."""
    cases = [each for phase in phases for each in session.cases(phase)]
    rest = cases[cases.index(case) + 1 :]
    undecided = set(session.undecided)
    return any(each.name in undecided and session.part(block, each) not in session.progress.finished for each in rest)


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
