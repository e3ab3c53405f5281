"""One experiment from its start to its end, through faults and resumes; then everything is looked at."""

import contextlib
import random
import shutil
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dbversus.errors import RunError
from dbversus.results.schema import JOURNAL

from . import leaks
from .audit import Record, audit, given_up, has_ended, read_records
from .clock import JumpingClock
from .controller import Controller, RowCount
from .disk import SmallDisk
from .faults import Injection, Tools, inject
from .place import Place, keep, make_home, write_experiment
from .plan import DISK_KINDS, Fault, Kind, Trial
from .traces import untraced, was_felt

RUN_LIMIT_S = 300.0
RESUMES_AT_MOST = 5
# what the guard may take when the controller was killed; on any other way out nothing runs any more
GUARD_LIMIT_S = 30.0
CLEAN_LIMIT_S = 2.0
RESULTS_DISK_BYTES = 64 * 2**20
# an experiment counts on much more room than these take
HOME_DISK_BYTES = 6 * 2**30

_KILLED = -signal.SIGKILL
_STATUSES: dict[Kind, tuple[int, ...]] = {
    Kind.KILL_CONTROLLER: (_KILLED, 0),
    Kind.INTERRUPT: (130, 0),
    Kind.TERMINATE: (130, 0),
    Kind.FULL_RESULTS: (1, 0),
    Kind.FULL_HOME: (1, 0),
}


@dataclass(frozen=True)
class Host:
    """What a soak has on this host; `targets` by DBMS."""

    place: Place
    targets: Mapping[str, str]
    before: leaks.Baseline


@dataclass
class Outcome:
    """What became of a trial. `late`: faults that came when the experiment had ended. `felt`: kills that rows followed."""

    trial: Trial
    injections: list[Injection] = field(default_factory=list)
    late: list[Fault] = field(default_factory=list)
    felt: list[Injection] = field(default_factory=list)
    resumes: int = 0
    rows: int = 0
    gave_up: bool = False
    seconds: float = 0.0
    violations: list[str] = field(default_factory=list)


def perform(trial: Trial, host: Host) -> Outcome:
    """Runs a trial. A results directory in which something is wrong is kept, with all that dbversus said."""
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        performance = _Performance(trial, host, stack)
        performance.play()
        performance.examine()
        outcome = performance.outcome
        if outcome.violations:
            keep(performance.results, performance.log, host.place, f"trial-{trial.number}")
        shutil.rmtree(performance.results, ignore_errors=True)
    outcome.violations += [f"{disk.folder} was still in use" for disk in performance.disks if disk.was_busy]
    outcome.seconds = time.monotonic() - began
    return outcome


class _Performance:
    """`results`, `home`: where this experiment works; `controllers`: all processes that ran it."""

    def __init__(self, trial: Trial, host: Host, stack: contextlib.ExitStack):
        self.trial = trial
        self.host = host
        self.outcome = Outcome(trial)
        self.controllers: list[int] = []
        self._stack = stack
        place, kinds = host.place, {fault.kind for fault in trial.faults}
        self.home = place.home(trial.deep)
        self.results = place.folder / f"results-{trial.number}"
        self.log = place.logs / f"trial-{trial.number}.txt"
        self.disks: list[SmallDisk] = []
        if Kind.FULL_RESULTS in kinds:
            disk = self._mount(place.folder / "results-disk", RESULTS_DISK_BYTES)
            self.results = disk.folder / "results"
        elif Kind.FULL_HOME in kinds:
            disk = self._mount(place.folder / "home-disk", HOME_DISK_BYTES)
            self.home = disk.folder / "home"
            make_home(self.home)
        self._clock = JumpingClock(place.folder) if Kind.CLOCK_JUMP in kinds else None
        self._tools = Tools(self.disks[0] if self.disks else None, self._clock, random.Random(trial.seed))
        self._file = write_experiment(place.folder / f"trial-{trial.number}.toml", trial, host.targets)
        self._rows = RowCount(self.results / JOURNAL)
        self._pending = list(trial.faults)

    def _mount(self, folder: Path, size_bytes: int) -> SmallDisk:
        disk = self._stack.enter_context(SmallDisk(folder, size_bytes))
        self.disks.append(disk)
        return disk

    def play(self) -> None:
        """Starts the experiment, lets things happen to it, and resumes it until it is over."""
        words = ["run", str(self._file), "--out", str(self.results), "--quiet"]
        while True:
            resumed_before = self._count("resumed")
            ended_before = has_ended(read_records(self.results))
            controller, injected = self._run(words)
            status = self._judge_exit(controller, injected)
            if words[0] == "resume" and not ended_before and self._count("resumed") == resumed_before:
                self._wrong("went on and did not say so in the journal")
            if status == 0 or self._is_hopeless() or not (self.results / JOURNAL).exists():
                break
            if self.outcome.resumes == RESUMES_AT_MOST:
                self._wrong(f"has not ended after {RESUMES_AT_MOST} resumes")
                break
            self.outcome.resumes += 1
            words = ["resume", str(self.results), "--quiet"]
        self.outcome.late = self._pending
        if self.outcome.gave_up:
            self._run(["report", str(self.results)])

    def _run(self, words: list[str]) -> tuple[Controller, list[Injection]]:
        """One command, with the faults that happen while it runs; it has ended afterwards."""
        controller = Controller(words, self.home, self.log, self._clock)
        self.controllers.append(controller.pid)
        deadline = time.monotonic() + RUN_LIMIT_S
        try:
            injected = list(self._faults(controller, deadline))
            if controller.wait(max(0.0, deadline - time.monotonic())) is None:
                self._wrong(f"`{words[0]}` had not ended after {RUN_LIMIT_S:.0f} s, and was killed")
        except BaseException:
            controller.end()
            raise
        return controller, injected

    def _faults(self, controller: Controller, deadline: float) -> Iterator[Injection]:
        """Makes faults happen until one of them ends the command, it ends by itself, or `deadline` is there."""
        wanted = None
        while self._pending and controller.is_running() and time.monotonic() < deadline:
            fault = self._pending[0]
            rows = self._rows.look()
            wanted = wanted if wanted is not None else rows + fault.after_rows
            if rows < wanted:
                time.sleep(0.02)
                continue
            time.sleep(fault.delay_s)
            injection = inject(fault, controller, self._tools)
            if injection is None:
                continue
            self._pending.pop(0)
            wanted = None
            self.outcome.injections.append(injection)
            yield injection
            if fault.kind in _STATUSES:
                return

    def _judge_exit(self, controller: Controller, injected: list[Injection]) -> int | None:
        """The exit status has to fit what happened, and what it ran has to be gone."""
        status = controller.wait(0)
        expected = {0}.union(*(_STATUSES.get(injection.kind, ()) for injection in injected))
        said = controller.said.strip()
        if status == 1 and self._gave_up_on_a_victim():
            expected.add(1)
        if status is not None and status not in expected:
            self._wrong(f"ended with status {status} where one of {sorted(expected)} was due: {said[-300:]}")
        if "Traceback" in said:
            self._wrong(f"ended with a traceback: {said[-300:]}")
        if status == 130 and not has_ended(records := read_records(self.results)):
            events = [record["event"] for record in records if record["type"] == "block"]
            if "interrupted" not in events:
                self._wrong("was interrupted and did not say so in the journal")
        limit_s = GUARD_LIMIT_S if status == _KILLED else CLEAN_LIMIT_S
        self._survivors(limit_s, f"status {status}")
        return status

    def _survivors(self, limit_s: float, when: str) -> None:
        left = leaks.wait_until_none(lambda: leaks.processes_of(self.host.place.folder), limit_s)
        self.outcome.violations += [f"{when}: process {each} lives on" for each in left]

    def _gave_up_on_a_victim(self) -> bool:
        """A target that could not be brought back after what happened to it may end an experiment, in its own words."""
        happened = {injection.kind for injection in self.outcome.injections}
        victims = {injection.victim for injection in self.outcome.injections}
        out = given_up(self._records())
        return bool(out) and (out <= victims or bool(happened & DISK_KINDS))

    def _is_hopeless(self) -> bool:
        self.outcome.gave_up = not has_ended(self._records()) and bool(given_up(self._records()))
        return self.outcome.gave_up

    def examine(self) -> None:
        """What is in the results, and what is left on the host."""
        outcome, records = self.outcome, self._records()
        outcome.rows = self._count("row")
        outcome.violations += audit(self.results)
        outcome.violations += [words for injection in outcome.injections for words in untraced(injection, records)]
        outcome.felt = [each for each in outcome.injections if each.victim or each.kind is Kind.KILL_ENGINE]
        outcome.felt = [each for each in outcome.felt if was_felt(each, records)]
        folder, disks = self.host.place.folder, [disk.folder for disk in self.disks]
        left = leaks.in_home(self.home, len(self.host.targets)) + leaks.in_results(self.results)
        # others on this host may be about to use what they have just made
        left += leaks.wait_until_none(
            lambda: leaks.on_host(self.host.before, folder, self.controllers, disks), CLEAN_LIMIT_S
        )
        outcome.violations += [f"left behind: {each}" for each in left]

    def _records(self) -> list[Record]:
        with contextlib.suppress(RunError):  # the audit names it
            return read_records(self.results)
        return []

    def _count(self, kind: str) -> int:
        return sum(record["type"] == kind for record in self._records())

    def _wrong(self, words: str) -> None:
        self.outcome.violations.append(words)
