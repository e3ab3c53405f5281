"""The story of a campaign: what its agenda decides is measured, experiment by experiment, until it ends or its time is up."""

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dbversus
from dbversus.campaign.agenda import HERE, End, Planned, Step
from dbversus.campaign.journal import (
    CAMPAIGN_SCHEMA,
    TIME_BUDGET,
    AnyAgenda,
    Asked,
    CampaignJournal,
    Course,
    Decided,
    Ended,
    Measured,
    Order,
)
from dbversus.errors import RunError, UsageError
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec
from dbversus.experiment.folder import changed_outside, read_folder, with_absolute_paths
from dbversus.experiment.plan.estimate import expected_s
from dbversus.experiment.rig.rig import Display
from dbversus.experiment.run import resume_experiment, run_experiment
from dbversus.host.claims.lock import HostLock, acquire_host
from dbversus.host.facts import machine_id
from dbversus.results.journal import read_header
from dbversus.results.read import open_results
from dbversus.results.schema import CAMPAIGN, CONFIGS, EXPERIMENT, HOST, JOURNAL, SUITE
from dbversus.results.write import check_results_dir, create_results_dir

_OWN = (CAMPAIGN, f"{CAMPAIGN}.torn")


def run_campaign(
    agenda: AnyAgenda,
    directory: Path,
    command: str,
    display: Display,
    *,
    wait: bool = False,
    time_budget_s: float | None = None,
) -> Course:
    """Measures all that the agenda decides, each experiment into a folder of its name in the new `directory`.

    `command` is what repeats it. `time_budget_s`: nothing is begun that would end later; what it comes to is in the course then,
    too. Raises as `run_experiment`; `resume_campaign` goes on from there, and where nothing was begun nothing is left.
    """
    check_results_dir(directory)
    first = decided(agenda.within(directory).next({}), directory)
    asked = Asked(
        schema=CAMPAIGN_SCHEMA,
        dbversus=dbversus.__version__,
        host=machine_id() or "unknown",
        command=command,
        agenda=agenda,
        time_budget_s=time_budget_s,
    )
    create_results_dir(directory)
    with _gone_unless_begun(directory), CampaignJournal(directory, asked) as journal:
        journal.append(first)
        return _go_on(journal, display, wait=wait, as_stored=False, time_budget_s=time_budget_s)


def resume_campaign(
    directory: Path,
    display: Display,
    *,
    wait: bool = False,
    as_stored: bool = False,
    time_budget_s: float | None = None,
) -> Course:
    """Goes on with a campaign; does nothing when it had ended, unless for want of time.

    `time_budget_s`: None: that of the beginning, anew. `as_stored`: as in `resume_experiment`.
    """
    with CampaignJournal(directory) as journal:
        asked = journal.course.asked
        check_campaign_host(journal.course)
        for note in journal.course.notes:
            display.say(note)
        budget_s = time_budget_s or asked.time_budget_s
        if journal.course.is_over:
            return journal.course
        return _go_on(journal, display, wait=wait, as_stored=as_stored, time_budget_s=budget_s)


def check_campaign_host(course: Course) -> None:
    here = machine_id()
    if here and course.asked.host not in (here, "unknown"):
        raise UsageError(f"{course.directory} was measured on another host; resume it there, or start anew here.")


def spec_of(course: Course, order: Order) -> ExperimentSpec:
    """As its folder has it, once it was begun there; UsageError when that was edited."""
    folder = course.directory / order.name
    if is_begun(folder):
        return read_folder(folder)
    spec = make_spec(order.spec, f"{course.directory / CAMPAIGN}: ")
    return spec if order.folder is None else spec.taken_from((course.directory / order.folder).resolve())


def is_begun(folder: Path) -> bool:
    """Whether the experiment's journal has its first line: before it, nothing was measured."""
    journal = folder / JOURNAL
    if not journal.is_file():
        return False
    with journal.open("rb") as file:
        return file.readline().endswith(b"\n")


def decided(step: Step | End, directory: Path) -> Decided:
    """The line of a decision, in the journal of the campaign of `directory`."""
    assert isinstance(step, Step), "a campaign begins with an experiment"
    orders = [_order(one, directory) for one in step.experiments]
    return Decided(experiments=orders, then=step.then, then_s=step.then_s)


def _order(planned: Planned, directory: Path) -> Order:
    spec = with_absolute_paths(planned.spec)
    folder = None if spec.folder is None else os.path.relpath(spec.folder.absolute(), directory.absolute())
    return Order(planned.name, planned.why, expected_s(spec), spec.model_dump(mode="json", exclude_none=True), folder)


def _go_on(
    journal: CampaignJournal, display: Display, *, wait: bool, as_stored: bool, time_budget_s: float | None
) -> Course:
    course = journal.course
    with _Host(course.asked.agenda.title) as host:
        runner = _Runner(journal, display, host, wait, as_stored, time_budget_s)
        journal.append(Ended(reason=runner.run_all()))
    return course


class _Host:
    """The host's lock, from the first experiment that takes it until the campaign has ended."""

    def __init__(self, what: str):
        self._what = what
        self._lock: HostLock | None = None

    def hold(self, wait: bool, what: str, *, say: Callable[[str], None]) -> contextlib.AbstractContextManager[object]:
        """As `acquire_host`; what is running is the campaign."""
        self._lock = self._lock or acquire_host(wait, self._what, say=say)
        return contextlib.nullcontext()

    def __enter__(self) -> "_Host":
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock:
            self._lock.close()


@dataclass
class _Runner:
    journal: CampaignJournal
    display: Display
    host: _Host
    wait: bool
    as_stored: bool
    left_s: float | None
    """Of the time budget: before the first experiment all of it, however long a build takes to fetch."""
    is_first: bool = True

    def run_all(self) -> str:
        """Why it ended."""
        course = self.journal.course
        while True:
            for order in course.open:
                if not self._has_room(order) or not self._measure(order):
                    return TIME_BUDGET
            step = course.asked.agenda.within(course.directory).next(course.outcomes)
            if isinstance(step, End):
                return step.reason
            self.journal.append(decided(step, course.directory))

    def _has_room(self, order: Order) -> bool:
        """The first one says itself what it lacks."""
        return self.is_first or self.left_s is None or order.expected_s <= self.left_s

    def _measure(self, order: Order) -> bool:
        """Whether it was finished: False when its time was up before."""
        began_s, self.is_first = time.monotonic(), False
        self._run(order)
        if self.left_s is not None:
            self.left_s -= time.monotonic() - began_s
        results = open_results(self._folder(order))
        if results.finished == TIME_BUDGET:
            return False
        self.journal.append(Measured(name=order.name, outcome=self.journal.course.asked.agenda.outcome(results)))
        return True

    def _folder(self, order: Order) -> Path:
        return self.journal.course.directory / order.name

    def _run(self, order: Order) -> None:
        folder, course = self._folder(order), self.journal.course
        if folder.is_symlink():
            raise UsageError(
                f"{folder} is a link, and nothing in {course.directory} is written through links; remove it."
            )
        after_s = course.then_s + sum(one.expected_s for one in course.open if one is not order)
        display = _Part(self.display, order.name, after_s)
        spec = spec_of(course, order).with_choices({"time_budget_s": self.left_s})
        if is_begun(folder):
            resume_experiment(spec, folder, display, wait=self.wait, as_stored=self.as_stored, hold_host=self.host.hold)
            return
        _clear_unbegun(folder)
        _check_unchanged(course)
        command = course.asked.command if order.name == HERE else f"dbversus run {folder / EXPERIMENT}"
        run_experiment(spec, folder, command, display, wait=self.wait, hold_host=self.host.hold, but=_OWN)


class _Part:
    """A display of one experiment of several: its name before what it does, and the time of those to come."""

    def __init__(self, whole: Display, name: str, after_s: float):
        self._whole = whole
        self._name = name
        self._after_s = after_s

    def say(self, text: str) -> None:
        self._whole.say(text)

    def expect(self, seconds: float) -> None:
        self._whole.expect(seconds + self._after_s)

    def doing(self, text: str) -> None:
        self._whole.doing(text if self._name == HERE else f"{self._name}: {text}")


def _check_unchanged(course: Course) -> None:
    """UsageError when a file that an earlier experiment was made of has changed: they would not be comparable."""
    for order in course.orders.values():
        folder = course.directory / order.name
        if is_begun(folder) and (changed := changed_outside(read_header(folder / JOURNAL))):
            raise UsageError(
                f"{', '.join(changed)} changed after {folder} had been begun; put it back, or start the campaign again elsewhere."
            )


def _clear_unbegun(folder: Path) -> None:
    """What a kill in the first moment of an experiment has left would be in the way of its next beginning."""
    for name in (EXPERIMENT, HOST, JOURNAL):
        (folder / name).unlink(missing_ok=True)
    for name in (SUITE, CONFIGS):
        if (folder / name).is_dir() and not (folder / name).is_symlink():
            shutil.rmtree(folder / name)


@contextlib.contextmanager
def _gone_unless_begun(directory: Path) -> Iterator[None]:
    """Nothing is left of a campaign whose first experiment was refused: its name is free for the corrected one."""
    try:
        yield
    except (UsageError, RunError):
        folders = [directory, *(path for path in directory.glob("*") if path.is_dir() and not path.is_symlink())]
        if not any(map(is_begun, folders)):
            for folder in reversed(folders):
                _clear_unbegun(folder)
            for name in _OWN:
                (directory / name).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # somebody has put something there
                for folder in reversed(folders):
                    folder.rmdir()
        raise
