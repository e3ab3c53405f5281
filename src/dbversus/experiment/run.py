"""The story of an experiment: set the stage, load, run blocks with looks between them, seal the results."""

import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from dbversus.errors import RunError, UsageError
from dbversus.experiment.asked.spec import ExperimentSpec, write_spec
from dbversus.experiment.block import run_block
from dbversus.experiment.folder import check_steady, copies_of, with_absolute_paths, write_copies
from dbversus.experiment.header import check_outside, check_unchanged, make_header
from dbversus.experiment.looks import take_look
from dbversus.experiment.plan.estimate import check_time_budget, remaining_s, too_short
from dbversus.experiment.plan.margins import calibration_fields
from dbversus.experiment.plan.progress import Progress, read_progress
from dbversus.experiment.rig.aging import age_all
from dbversus.experiment.rig.prepare import load_all
from dbversus.experiment.rig.quiet import wait_for_quiet
from dbversus.experiment.rig.refusals import StatementRefused, check_before_load
from dbversus.experiment.rig.session import Display, Session, Target
from dbversus.experiment.rig.stage import Stage, set_stage
from dbversus.host.facts import machine_id
from dbversus.results.journal import header_of, parse_journal
from dbversus.results.records import Block, Failure, Finished, Resumed
from dbversus.results.schema import EXPERIMENT, HOST, JOURNAL, SCHEMA_VERSION
from dbversus.results.write import Journal, create_results_dir, seal


def run_experiment(spec: ExperimentSpec, directory: Path, command: str, display: Display, *, wait: bool) -> None:
    """Runs `spec` from the start into the new `directory`. `command` is what repeats it; `wait`: for a busy host.

    Raises UsageError before anything is started, RunError when it cannot be finished, KeyboardInterrupt when the user
    stops it: what was measured is in `directory` in each case, and `resume_experiment` goes on from there.
    """
    spec = with_absolute_paths(spec)
    copies = copies_of(spec)
    if words := check_time_budget(spec, spec.read_suite()):
        display.say(words)
    with set_stage(spec, display, wait=wait) as stage:
        check_steady(copies, copies_of(spec))
        create_results_dir(directory)
        write_spec(spec, directory / EXPERIMENT)
        write_copies(copies, directory)
        (directory / HOST).write_text(json.dumps(stage.host_facts, indent=1, default=str))
        with _gone_when_refused(directory), _open_journal(directory) as journal:
            targets = [target.build.dbms for target in stage.targets]
            calibration = calibration_fields(spec, targets, stage.host_facts, display.say)
            journal.append(msgspec.structs.replace(make_header(stage, command, copies), **calibration))
            _perform(stage, journal, Progress(), display)
    seal(directory)


@contextlib.contextmanager
def _gone_when_refused(directory: Path) -> Iterator[None]:
    """Nothing was measured with a suite that a server refuses: its name is free for the corrected one."""
    try:
        yield
    except StatementRefused:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def resume_experiment(
    spec: ExperimentSpec, directory: Path, display: Display, *, wait: bool, as_stored: bool = False
) -> None:
    """Goes on with an interrupted experiment, as `read_folder` read it; does nothing but seal it when it had ended.

    Raises as `run_experiment`; UsageError also when a build, the suite or the host is another than before, or when nobody is
    left to be compared. `as_stored`: changes of configs and suite outside the folder, and of the host's sizes, do not count.
    """
    with _open_journal(directory) as journal:
        if journal.note:
            display.say(journal.note)
        records, _ = parse_journal(directory / JOURNAL)
        header, progress = header_of(records, directory / JOURNAL), read_progress(records)
        if progress.ended is None or undecided_blocks_left(progress, spec):
            if not as_stored:
                check_outside(directory, header)
            with set_stage(spec, display, wait=wait) as stage:
                check_unchanged(directory, header, stage, as_stored=as_stored)
                journal.append(Resumed(f"{len(progress.blocks)} blocks were finished", schema=SCHEMA_VERSION))
                _perform(stage, journal, progress, display)
    seal(directory)


def _open_journal(directory: Path) -> Journal:
    return Journal(directory, machine_id() or "unknown")


def undecided_blocks_left(progress: Progress, spec: ExperimentSpec) -> bool:
    """Whether a run that ended for want of time can use the time that `resume` gives it."""
    return progress.ended == "time budget" and progress.next_block() < spec.looks[-1]


def _perform(stage: Stage, journal: Journal, progress: Progress, display: Display) -> None:
    session = Session(stage.spec, stage.suite, stage.targets, journal, progress, stage.new_engine, stage.cpus, display)
    for target in session.targets:
        _take_over(session, target)
    with _closing(session):
        if session.dead_end:
            raise UsageError(f"{session.dead_end}; start a new experiment.")
        check_before_load(session)
        load_all(session)
        age_all(session)
        reason = _run_blocks(session)
        session.note(Finished(reason))


def _take_over(session: Session, target: Target) -> None:
    """What an earlier start found out about a target, and what the stage did."""
    if target.out is not None and target.name not in session.progress.out:
        session.note(Failure(target.name, "check", target.out, final=True))
        session.display.say(f"{target.label} is left out: {target.out}")
    target.out = session.progress.out.get(target.name, target.out)
    if target.out is None and target.name in session.progress.lost:
        session.remark(
            "it had left the run, and was tried again when that was resumed: rows in between are missing", target
        )


@contextlib.contextmanager
def _closing(session: Session) -> Iterator[None]:
    """Ends all servers and the engine on every way out; a stop by the user is journaled as such."""
    try:
        yield
    except KeyboardInterrupt:
        with contextlib.suppress(RunError):  # a full disk, say: that the user has stopped the run counts for more
            session.note(Block(session.progress.next_block(), "interrupted"))
        raise
    finally:
        session.close()


def _run_blocks(session: Session) -> str:
    """Runs blocks until all tests are decided, the looks are used up or the time is; returns which."""
    spec, progress = session.spec, session.progress
    began_s, block_s = time.monotonic(), progress.whole_block_s
    while True:
        _take_due_look(session)
        if not session.undecided:
            return "decided"
        block = progress.next_block()
        if block >= spec.looks[-1]:
            return "looks used up"
        if _out_of_time(session, began_s, block_s):
            return "time budget"
        wait_for_quiet(session, block)
        if _out_of_time(session, began_s, block_s):
            return "time budget"
        session.display.expect(remaining_s(spec, session.suite, progress, len(session.alive), block_s))
        block_began = time.monotonic()
        run_block(session, block)
        block_s = time.monotonic() - block_began


def _out_of_time(session: Session, began_s: float, block_s: float | None) -> bool:
    """Whether a block that takes as long as the last one, which took `block_s`, would end after the time budget."""
    budget_s = session.spec.time_budget_s
    if not budget_s or time.monotonic() - began_s + (block_s or 0) <= budget_s:
        return False
    if block_s and block_s > budget_s:
        session.display.say(f"{too_short(budget_s, block_s)}.")
    return True


def _take_due_look(session: Session) -> None:
    """Takes the look that the finished blocks call for: also one that a kill at the end of the last of them has prevented."""
    blocks = len(session.progress.blocks)
    if blocks in session.spec.looks and blocks not in session.progress.looks:
        take_look(session, blocks)
