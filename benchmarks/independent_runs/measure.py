"""Measures runs one after another: what is finished is left alone, what was interrupted is gone on with."""

import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from common import say

from dbversus.builds.lock import locked_if_free
from dbversus.campaign.run import is_begun
from dbversus.cli.display import PlainDisplay
from dbversus.errors import RunError, UsageError
from dbversus.experiment.folder import read_folder
from dbversus.experiment.run import resume_experiment, run_experiment
from dbversus.results.read import open_results
from dbversus.storage.listing import Kind, list_kept
from dbversus.storage.removal import remove
from independent_runs.busy import busy_core
from independent_runs.plan import BUSY, TARGETS, Run, spec_of

LOCK = "measure.lock"


@dataclass(frozen=True)
class Plan:
    """Runs, and where they go. `choices`: over those of the profile; `minutes`: no run is begun after them.

    `kept`: names of runs that were measured elsewhere, and need not be again.
    """

    folder: Path
    runs: Sequence[Run]
    command: str
    target: str | None = None
    minutes: float | None = None
    busy_cpu: int | None = None
    choices: dict[str, Any] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()


def measure_all(plan: Plan) -> None:
    """Raises RunError when runs could not be finished, after all the others; UsageError at once."""
    left = (run for run in plan.runs if not (run.name in plan.kept or is_finished(plan.folder / run.name)))
    measure_in_turn(plan.folder, ((run.name, partial(measure_one, plan, run)) for run in left), plan.minutes)


def measure_in_turn(folder: Path, wanted: Iterable[tuple[str, Callable[[], None]]], minutes: float | None) -> None:
    """Makes the wanted runs one after another, and starts no more once `minutes` have passed.

    One process at a time fills the folder. Raises as `measure_all`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made ({error.strerror}); name another folder.") from error
    with locked_if_free(folder / LOCK) as free:
        if not free:
            raise UsageError(f"Another process fills {folder}; wait for it, or name another folder.")
        if failed := _measure_each(wanted, minutes):
            raise RunError(f"Not finished: {', '.join(failed)}; the same command goes on with them.")


def _measure_each(wanted: Iterable[tuple[str, Callable[[], None]]], minutes: float | None) -> list[str]:
    """Names of what could not be finished."""
    began, failed = time.monotonic(), []
    for name, measure in wanted:
        if minutes is not None and time.monotonic() - began >= minutes * 60:
            say(f"the time is up before {name}; the same command goes on with it")
            break
        say(name)
        try:
            measure()
        except RunError as error:
            say(f"{name}: {error}")
            failed.append(name)
    return failed


def measure_one(plan: Plan, run: Run) -> None:
    folder, display = plan.folder / run.name, PlainDisplay()
    _clear_unbegun(folder)
    _note_commit(folder)
    with busy_core(plan.busy_cpu) if run.kind == BUSY else contextlib.nullcontext():
        if folder.exists():
            _go_on_with(folder, display)
        else:
            spec = spec_of(run, plan.target or TARGETS[run.dbms], plan.choices)
            run_experiment(spec, folder, plan.command, display, wait=True)
    forget_data(run.seed)


def _go_on_with(folder: Path, display: PlainDisplay) -> None:
    """RunError, as of a run that fails, where it cannot: of what source of another commit left, no more can be had."""
    try:
        resume_experiment(read_folder(folder), folder, display, wait=True)
    except UsageError as error:
        raise RunError(f"{error} Or delete {folder}: it is measured anew then.") from error


def _note_commit(folder: Path) -> None:
    """Beside the run, whose folder is not there yet: the commit of the source that measures it, and of any that resumes it."""
    before = commits_of(folder) if folder.exists() else []
    now = commit_at_hand()
    _commits_file(folder).write_text("".join(f"{commit}\n" for commit in dict.fromkeys([*before, now]) if commit))


def commits_of(folder: Path) -> list[str]:
    """Commits that measured a run; none where it is not known."""
    file = _commits_file(folder)
    return file.read_text().split() if file.is_file() else []


def _commits_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.commits")


def commit_at_hand() -> str:
    """Of the source tree, with `-dirty` where files differ from it; empty where git does not know."""
    command = ["git", "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def is_finished(folder: Path) -> bool:
    return is_begun(folder) and open_results(folder).finished is not None


def _clear_unbegun(folder: Path) -> None:
    """What a kill in the first moment of a run has left is in the way of its next beginning."""
    if folder.exists() and not is_begun(folder):
        shutil.rmtree(folder)


def forget_data(seed: int) -> None:
    """Removes the snapshots of one seed: no other run uses them, and those of all runs together would fill a disk."""
    for kept in list_kept():
        if kept.kind is Kind.SNAPSHOT and _seed_of(kept.path) == seed and (why := remove(kept)):
            say(f"snapshot {kept.name} is left: {why}")


def _seed_of(snapshot: Path) -> int | None:
    """None where the snapshot has just been removed, or is of another make."""
    try:
        found = json.loads((snapshot / "key.json").read_text()).get("seed")
    except (OSError, ValueError, AttributeError):
        return None
    return found if isinstance(found, int) else None
