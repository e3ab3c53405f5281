"""A cell on this host: servers freshly started on restored data, then the tests in suite order, since state matters."""

import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from dbversus.experiment.cell.case import measure, warm_up
from dbversus.experiment.observe.objects import note_phase
from dbversus.experiment.observe.servers import (
    store_executed_plans,
    store_late_plans,
    store_log_tails,
    store_server_facts,
)
from dbversus.experiment.plan.agenda import Cell
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.cold import empty_caches
from dbversus.experiment.rig.data.refusals import check_on_data
from dbversus.experiment.rig.recovery import ask
from dbversus.experiment.rig.rig import GroupOut, Rig, Target
from dbversus.experiment.rig.spoiled import through_spoiled
from dbversus.experiment.rig.start import change_data, start_block
from dbversus.results.records import Block, Settled
from dbversus.suites.model import EMPTY, Phase


def run_cell(rig: Rig, cell: Cell) -> None:
    """Runs what is left of a block: the cell's cases that are not finished in it."""
    if words := _begun_again(rig, cell.block):
        rig.remark(words)
        rig.display.say(f"{words}.")
    rig.block = cell.block
    groups = rig.contest.turns(cell.block)
    for group in groups:
        with rig.only(group):
            if _left(rig, cell, rig.contest.all_cases):
                _run_group(rig, cell)
            if len(groups) > 1:
                _make_room(rig)
    rig.note(Block(cell.block, "finished"))


def _begun_again(rig: Rig, block: int) -> str:
    """That a block was interrupted before `resume`, where it has work with an end; else empty."""
    cases = rig.contest.all_cases
    if block not in rig.progress.begun or not any(case.test.work for case in cases):
        return ""
    done = [case.name for case in cases if any(part[:2] == (block, case.name) for part in rig.progress.finished)]
    words = f"the pass of block {block + 1} was begun again on restored data, since it had been interrupted"
    if not done:
        return f"{words} before any of its tests was finished"
    return f"{words} after {done[-1]}; what had been measured of {', '.join(done)} counts and was done again, uncounted"


def _left(rig: Rig, cell: Cell, cases: Iterable[Case]) -> bool:
    """Whether the group that is up still has one of `cases` to be measured."""
    return any(_is_left(rig, cell, case) for case in cases)


def _is_left(rig: Rig, cell: Cell, case: Case) -> bool:
    is_done = rig.part(cell.block, case) in rig.progress.finished
    return case.name in cell.cases and not is_done and rig.is_comparable(case)


def _run_group(rig: Rig, cell: Cell) -> None:
    try:
        through_spoiled(rig, cell.block, lambda: _run_phases(rig, cell))
    except GroupOut:
        for target in rig.alive:
            rig.remove(target)


def _make_room(rig: Rig) -> None:
    """Removes data that the next block restores anyway: the other groups need the disk."""
    for target in rig.alive:
        shutil.rmtree(target.server.data_dir, ignore_errors=True)


def _run_phases(rig: Rig, cell: Cell) -> None:
    """Phases that share their data run one after another on it; those on other data have the servers started anew."""
    started = False
    for size in rig.spec.table_sizes:
        with rig.sized(size):
            started = _run_size(rig, cell, started=started)
    stop_block(rig)


def _run_size(rig: Rig, cell: Cell, *, started: bool) -> bool:
    """What is left of a block on tables of one size; whether servers are up then, as `started` says for before."""
    block, first = cell.block, True
    for data, stretch in _stretches(rig):
        phases = _needed(rig, cell, stretch)
        if not phases:
            continue
        if started:
            change_data(rig, block, data)
        else:
            start_block(rig, block, data)
        if block == 0 and first and (data != EMPTY or not rig.suite.needs_rows):
            check_on_data(rig)
            store_server_facts(rig)
            first = False
        started = True
        if rig.spec.cache == "mixed":
            empty_caches(rig, block)  # only now: whatever looks at the data reads it
        _run_stretch(rig, cell, phases)
    if block == 0 and not first:
        store_late_plans(rig)
        store_executed_plans(rig)
    return started


def _cases(rig: Rig, phase: Phase) -> list[Case]:
    """Those on tables of the size that is on."""
    return [case for case in rig.contest.cases(phase) if case.table_size == rig.spec.table_size]


def _stretches(rig: Rig) -> list[tuple[str, list[Phase]]]:
    """The suite's phases in order, those together that run on the same data."""
    phases = rig.suite.phases
    if rig.spec.restore == "never":  # what one block has left is the data of the next
        return [(phases[-1].data, list(phases))]
    return rig.suite.stretches


def _run_stretch(rig: Rig, cell: Cell, phases: list[Phase]) -> None:
    cases = [case for phase in phases for case in _cases(rig, phase)]
    for phase in phases:
        if phase.settle:
            settle_all(rig, cell.block, phase.name)
        if phase.vacuum:
            vacuum_all(rig, cell.block, phase.name)
        note_phase(rig, cell.block, phase.name)
        beside = _pairable(rig, cell, phase)
        for case in _cases(rig, phase):
            if _is_left(rig, cell, case):
                _expect(rig, case)
            rig.display.doing(f"block {cell.block + 1}: {case.name}")
            _run_case(rig, cell, case, cases[cases.index(case) + 1 :], beside)


def _expect(rig: Rig, case: Case) -> None:
    """Tells the display how much longer the run takes at the pace of this block."""
    if not rig.pace:
        return
    left_s = rig.pace.test_begins(case.name, time.monotonic())
    if left_s is not None:
        rig.display.expect(left_s)


def _pairable(rig: Rig, cell: Cell, phase: Phase) -> dict[str, Case]:
    """Cases by name that may share rows: none where samples, or injected work, have to be told apart by server."""
    if rig.spec.functions or rig.spec.waits or rig.spec.inject is not None:
        return {}
    return {case.name: case for case in _cases(rig, phase) if _is_left(rig, cell, case) and not case.test.warm_up}


def _run_case(rig: Rig, cell: Cell, case: Case, later: Sequence[Case], beside: Mapping[str, Case]) -> None:
    """A case that is not to be measured changes the data all the same, where a later one needs its changes.

    `beside`: those of its phase that are left, by name; one that is judged against another of them is measured with that.
    """
    if case.test.warm_up:
        if rig.spec.cache == "warm":
            warm_up(rig, cell.block, case)
    elif _is_left(rig, cell, case):
        if case.against not in beside:
            measure(
                rig,
                cell.block,
                replace(case, forms=tuple(each for each in beside.values() if each.against == case.name)),
            )
    elif case.test.leaves_changes and _left(rig, cell, later):
        measure(rig, cell.block, case, replay=True)


def _needed(rig: Rig, cell: Cell, phases: list[Phase]) -> list[Phase]:
    """The phases of a stretch up to the last one in which a case still has to be measured."""
    needed = [_left(rig, cell, _cases(rig, phase)) for phase in phases]
    return phases[: len(needed) - needed[::-1].index(True)] if any(needed) else []


def settle_all(rig: Rig, block: int, phase: str) -> None:
    """Pays all debt on every target between phases; what remains is journaled, not hidden."""
    rig.display.doing(f"block {block + 1}: settling, then {phase}")
    rig.thaw_all(block=block)
    rig.undrained = False
    for target in rig.alive:
        ask(rig, target, partial(_settle, rig, block, phase, target), "settle", block=block)


def vacuum_all(rig: Rig, block: int, phase: str) -> None:
    """Has every target vacuum its tables, where that is a statement of the DBMS, and leaves it all other debt."""
    rig.display.doing(f"block {block + 1}: VACUUM before {phase}")
    rig.thaw_all(block=block)
    for target in rig.alive:
        ask(rig, target, partial(_vacuum, rig, block, phase, target), "settle", block=block)


def _vacuum(rig: Rig, block: int, phase: str, target: Target) -> None:
    if done := target.server.vacuum(rig.names_of_tables(target)):
        rig.note(Settled(block, phase, target.name, done, target.server.debt()))


def _settle(rig: Rig, block: int, phase: str, target: Target) -> None:
    done = target.server.settle(rig.names_of_tables(target))
    debt = target.server.debt()
    if any(debt.values()):  # the server's own housekeeping came between
        done = target.server.settle(rig.names_of_tables(target))
        debt = target.server.debt()
    rig.note(Settled(block, phase, target.name, done, debt))


def stop_block(rig: Rig) -> None:
    """Stops the servers, unless they are to stay up from block to block."""
    rig.thaw_all()
    store_log_tails(rig)
    for target in rig.alive:
        for words in target.server.notes:
            rig.remark(words, target)
        if rig.spec.restart == "block":
            rig.remove(target)
