"""The story of an experiment: set the stage, load, run blocks with looks between them, seal the results."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dbversus
from dbversus.calibration.use import calibration_fields
from dbversus.errors import RunError
from dbversus.experiment.block import run_block
from dbversus.experiment.estimate import remaining_s
from dbversus.experiment.looks import take_look
from dbversus.experiment.prepare import load_all
from dbversus.experiment.progress import Progress, read_progress
from dbversus.experiment.session import Display, Session, Target, cases_of
from dbversus.experiment.spec import ExperimentSpec, write_spec
from dbversus.experiment.stage import Stage, set_stage
from dbversus.results.records import parse_journal
from dbversus.results.schema import EXPERIMENT, HOST, JOURNAL, SCHEMA_VERSION
from dbversus.results.write import Journal, create_results_dir, seal
from dbversus.suites.model import GROUP_TITLES, LOAD


def run_experiment(spec: ExperimentSpec, directory: Path, command: str, display: Display, *, wait: bool) -> None:
    """Runs `spec` from the start into the new `directory`. `command` is what repeats it; `wait`: for a busy host.

    Raises UsageError before anything is started, RunError when it cannot be finished, KeyboardInterrupt when the user
    stops it: what was measured is in `directory` in each case, and `resume_experiment` goes on from there.
    """
    with set_stage(spec, display, wait=wait) as stage:
        create_results_dir(directory)
        write_spec(spec, directory / EXPERIMENT)
        (directory / HOST).write_text(json.dumps(stage.host_facts, indent=1, default=str))
        with Journal(directory) as journal:
            targets = [target.build.dbms for target in stage.targets]
            calibration = calibration_fields(spec, targets, stage.host_facts, display.say)
            journal.append(_header(stage, command) | calibration)
            _perform(stage, journal, Progress(), display)
    seal(directory)


def resume_experiment(spec: ExperimentSpec, directory: Path, display: Display, *, wait: bool) -> None:
    """Goes on with an interrupted experiment; does nothing but seal it when it had ended."""
    with Journal(directory) as journal:
        if journal.note:
            display.say(journal.note)
        records, _ = parse_journal(directory / JOURNAL)
        progress = read_progress(records)
        if progress.ended is None or undecided_blocks_left(progress, spec):
            with set_stage(spec, display, wait=wait) as stage:
                journal.append({"type": "resumed", "reason": f"{len(progress.blocks)} blocks were finished"})
                _perform(stage, journal, progress, display)
    seal(directory)


def undecided_blocks_left(progress: Progress, spec: ExperimentSpec) -> bool:
    """Whether a run that ended for want of time can use the time that `resume` gives it."""
    return progress.ended == "time budget" and progress.next_block() < spec.looks[-1]


def _header(stage: Stage, command: str) -> dict[str, Any]:
    spec = stage.spec
    return {
        "type": "experiment",
        "schema": SCHEMA_VERSION,
        "dbversus": dbversus.__version__,
        "command": command,
        "targets": [
            {
                "name": target.name,
                "label": target.label,
                "dbms": target.build.dbms,
                "version": target.build.version,
                "config": target.server.config.name,
            }
            for target in stage.targets
        ],
        "tests": _case_names(stage),
        "groups": {
            case.name: GROUP_TITLES.get(test.group, test.group)
            for test in stage.suite.tests.values()
            for case in cases_of(test, spec.clients)
        },
        "suite": spec.suite,
        "profile": spec.profile,
        "clients": spec.clients[0] if len(spec.clients) == 1 else spec.clients,
        "table_size": spec.table_size,
        "tables": spec.tables,
        "seed": spec.seed,
        "mode": spec.mode,
        "order": spec.order,
        "cache": spec.cache,
        "restart": spec.restart,
        "restore": spec.restore,
        "looks": spec.looks,
        "margins": spec.margins,
    }


def _case_names(stage: Stage) -> list[str]:
    tests = [test for test in stage.suite.tests.values() if not test.warm_up]
    return [LOAD, *(case.name for test in tests for case in cases_of(test, stage.spec.clients))]


def _perform(stage: Stage, journal: Journal, progress: Progress, display: Display) -> None:
    session = Session(
        stage.spec, stage.suite, stage.targets, journal, progress, stage.new_engine, stage.client_cpus, display
    )
    for target in session.targets:
        _take_over(session, target)
    with _closing(session):
        if len(session.in_run) < 2 <= len(session.targets):
            raise RunError(f"No target is left to compare with {session.base.label}; the reasons are above.")
        load_all(session)
        reason = _run_blocks(session)
        session.note("finished", reason=reason)


def _take_over(session: Session, target: Target) -> None:
    """What an earlier start found out about a target, and what the stage did."""
    if target.out is not None and target.name not in session.progress.out:
        session.note("failure", target=target.name, stage="check", message=target.out, final=True)
        session.display.say(f"{target.label} is left out: {target.out}")
    target.out = session.progress.out.get(target.name, target.out)


@contextmanager
def _closing(session: Session) -> Iterator[None]:
    """Ends all servers and the engine on every way out; a stop by the user is journaled as such."""
    try:
        yield
    except KeyboardInterrupt:
        session.note("block", block=session.progress.next_block(), state="interrupted")
        raise
    finally:
        session.close()


def _run_blocks(session: Session) -> str:
    """Runs blocks until all tests are decided, the looks are used up or the time is; returns which."""
    spec, progress = session.spec, session.progress
    began, block_s = time.monotonic(), None
    while session.undecided:
        block = progress.next_block()
        if block >= spec.looks[-1]:
            return "looks used up"
        if spec.time_budget_s and time.monotonic() - began + (block_s or 0) > spec.time_budget_s:
            return "time budget"
        session.display.expect(remaining_s(spec, session.suite, progress, len(session.alive), block_s))
        block_began = time.monotonic()
        run_block(session, block)
        block_s = time.monotonic() - block_began
        if len(progress.blocks) in spec.looks:
            take_look(session, len(progress.blocks))
    return "decided"
