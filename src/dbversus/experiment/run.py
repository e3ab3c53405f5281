"""The story of an experiment: set the stage, load, run blocks with looks between them, seal the results."""

import contextlib
import json
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import msgspec

from dbversus.builds.target import same_targets
from dbversus.experiment.asked.spec import ExperimentSpec, write_spec
from dbversus.experiment.crew.coordinator import Ledger, work_alone
from dbversus.experiment.crew.local import LocalWorker
from dbversus.experiment.folder import Copy, check_steady, copies_of, with_absolute_paths, write_copies
from dbversus.experiment.header import check_host, check_outside, check_unchanged, make_header
from dbversus.experiment.looks import newly_decided
from dbversus.experiment.plan.agenda import Cell
from dbversus.experiment.plan.contest import Contest
from dbversus.experiment.plan.estimate import before_first_look, check_time_budget, remaining_s, too_short
from dbversus.experiment.plan.margins import calibration_fields
from dbversus.experiment.plan.pace import pace_of
from dbversus.experiment.plan.progress import Progress, read_progress
from dbversus.experiment.rig.data.refused import StatementRefused
from dbversus.experiment.rig.quiet import wait_for_quiet
from dbversus.experiment.rig.ready import closing, make_ready
from dbversus.experiment.rig.rig import Display, Rig
from dbversus.experiment.rig.stage import HoldHost, Stage, set_stage
from dbversus.files import write_whole
from dbversus.host.claims.lock import acquire_host
from dbversus.host.facts import machine_id
from dbversus.private import with_short_paths
from dbversus.results.journal import header_of, parse_journal
from dbversus.results.records import Finished, Remark, Resumed
from dbversus.results.records import Look as LookRecord
from dbversus.results.schema import EXPERIMENT, HOST, JOURNAL, SCHEMA_VERSION
from dbversus.results.write import Journal, check_results_dir, create_results_dir, seal
from dbversus.units import show_duration


def run_experiment(
    spec: ExperimentSpec,
    directory: Path,
    command: str,
    display: Display,
    *,
    wait: bool,
    hold_host: HoldHost = acquire_host,
    but: Collection[str] = (),
) -> None:
    """Runs `spec` from the start into the new `directory`. `command` is what repeats it; `wait`: for a busy host.

    `hold_host`: how the host is taken; `but`: files that may be in `directory` already.

    Raises UsageError before anything is started, RunError when it cannot be finished, KeyboardInterrupt when the user
    stops it: what was measured is in `directory` in each case, and `resume_experiment` goes on from there.
    """
    spec = with_absolute_paths(spec)
    check_results_dir(directory, but)
    copies = copies_of(spec)
    if words := check_time_budget(spec, spec.read_suite()):
        display.say(words)
    with set_stage(spec, display, wait=wait, hold_host=hold_host) as stage:
        check_steady(copies, copies_of(spec))
        create_results_dir(directory, but)
        with _gone_when_refused(directory), _new_results(directory, stage, command, copies, display) as journal:
            _perform(stage, journal, Progress(), display)
    seal(directory)


@contextlib.contextmanager
def _new_results(
    directory: Path, stage: Stage, command: str, copies: Sequence[Copy], display: Display
) -> Iterator[Journal]:
    """A results folder with all that is known before the first row, and its journal."""
    write_spec(stage.spec, directory / EXPERIMENT)
    write_copies(copies, directory)
    write_whole(directory / HOST, with_short_paths(json.dumps(stage.host_facts, indent=1, default=str)))
    with _open_journal(directory) as journal:
        targets = [target.build.dbms for target in stage.targets]
        calibration = calibration_fields(stage.spec, targets, stage.host_facts, display.say)
        header = msgspec.structs.replace(make_header(stage, command, copies), **calibration)
        for words in same_targets(header.told_apart).values():
            display.say(words)
        journal.append(header)
        for words in stage.spec.left_out():
            display.say(words)
            journal.append(Remark(None, words))
        yield journal


def _open_journal(directory: Path) -> Journal:
    return Journal(directory, machine_id() or "unknown")


@contextlib.contextmanager
def _gone_when_refused(directory: Path) -> Iterator[None]:
    """Nothing was measured with a suite that a server refuses: its name is free for the corrected one."""
    try:
        yield
    except StatementRefused:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def resume_experiment(
    spec: ExperimentSpec,
    directory: Path,
    display: Display,
    *,
    wait: bool,
    as_stored: bool = False,
    hold_host: HoldHost = acquire_host,
) -> None:
    """Goes on with an interrupted experiment, as `read_folder` read it; does nothing but seal it when it had ended.

    Raises as `run_experiment`; UsageError also when a build, the suite or the host is another than before, or when nobody is
    left to be compared. `as_stored`: changes of configs and suite outside the folder, and of the host's sizes, do not count.
    """
    check_host(directory)
    with _open_journal(directory) as journal:
        if journal.note:
            display.say(journal.note)
        records, _ = parse_journal(directory / JOURNAL)
        header, progress = header_of(records, directory / JOURNAL), read_progress(records)
        if progress.ended is None or undecided_blocks_left(progress, spec):
            if not as_stored:
                check_outside(directory, header)
            with set_stage(spec, display, wait=wait, hold_host=hold_host) as stage:
                check_unchanged(directory, header, stage, as_stored=as_stored)
                journal.append(Resumed(f"{len(progress.blocks)} blocks were finished", schema=SCHEMA_VERSION))
                progress.go_on()
                _perform(stage, journal, progress, display)
    seal(directory)


def undecided_blocks_left(progress: Progress, spec: ExperimentSpec) -> bool:
    """Whether a run that ended for want of time can use the time that `resume` gives it."""
    return progress.ended == "time budget" and progress.next_block() < spec.looks[-1]


def _perform(stage: Stage, journal: Journal, progress: Progress, display: Display) -> None:
    """A coordinator with one worker in the same process."""
    ledger = Ledger(
        Contest(stage.spec, stage.suite, [target.name for target in stage.targets], progress), journal.append
    )
    rig = stage.rig(ledger.take, journal.directory, progress, display)
    with closing(rig):
        make_ready(rig)
        ledger.take(Finished(_run_cells(rig, ledger)))


def _run_cells(rig: Rig, ledger: Ledger) -> str:
    """Runs cells until all tests are decided, the looks are used up or the time is; returns which."""
    budget = _TimeBudget(rig)

    def look(blocks: int) -> None:
        budget.block_ended()
        rig.display.doing(f"judging {blocks} blocks")
        rig.note(LookRecord(blocks, newly_decided(rig.contest, rig.folder)))

    def may_begin(cell: Cell) -> bool:
        budget.block_ended()
        if not budget.has_room():
            return False
        wait_for_quiet(rig, cell.block)
        if not budget.has_room():
            return False
        budget.block_begins()
        return True

    return work_alone(ledger, LocalWorker(rig), look, may_begin)


class _TimeBudget:
    """Whether there is time for a block that takes as long as the last one."""

    def __init__(self, rig: Rig):
        self._rig = rig
        self._began_s = time.monotonic()
        self._block_began_s: float | None = None
        self._block_s = rig.progress.whole_block_s

    def has_room(self) -> bool:
        budget_s, block_s = self._rig.spec.time_budget_s, self._block_s
        if not budget_s or time.monotonic() - self._began_s + (block_s or 0) <= budget_s:
            return True
        spec, done = self._rig.spec, len(self._rig.progress.blocks)
        if not spec.alone and done < spec.looks[0]:
            length = f", and one took {show_duration(block_s)}" if block_s else ""
            self._rig.display.say(f"{before_first_look(spec)}{length}; there are {done}. More time: `dbversus resume`.")
        elif block_s and block_s > budget_s:
            self._rig.display.say(f"{too_short(budget_s, block_s)}.")
        return False

    def block_begins(self) -> None:
        rig, self._block_began_s = self._rig, time.monotonic()
        before_s = rig.pace.took_s if rig.pace else {}
        rig.pace = pace_of(rig.spec, rig.suite, rig.progress, len(rig.alive), self._block_began_s, before_s)
        if rig.spec.time_budget_s:
            rig.pace.ends_s = self._began_s + rig.spec.time_budget_s
        left_s = remaining_s(rig.spec, rig.suite, rig.progress, len(rig.alive), self._block_s)
        if left_s is not None:
            rig.display.expect(min(left_s, rig.pace.ends_s - self._block_began_s))

    def block_ended(self) -> None:
        if self._block_began_s is not None and self._rig.pace:
            now_s = time.monotonic()
            self._rig.pace.test_ends(now_s)
            self._block_s = now_s - self._block_began_s
            self._block_began_s = None
