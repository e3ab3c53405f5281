"""What a run holds in its hands: the targets, the engine that drives them, the journal, and how to mend each when it breaks."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dbversus.builds.model import Build, TargetSpec
from dbversus.errors import DbversusError, RunError
from dbversus.experiment.engine_client import Engine
from dbversus.experiment.progress import Part, Progress
from dbversus.experiment.spec import ExperimentSpec
from dbversus.results.write import Journal
from dbversus.servers.base import Placement, Server
from dbversus.servers.sqlite import SqliteServer
from dbversus.suites.model import Phase, Suite, Test

RESTARTS_AT_MOST = 3


class SoloOut(RunError):
    """The one target that was up has left the run; the next one is on."""


@dataclass
class Target:
    """One contender: `name` (t0, t1, …) for the engine and the journal, `label` for people. `out`: why it left the run."""

    name: str
    label: str
    spec: TargetSpec
    build: Build
    server: Server
    placement: Placement
    snapshot: Path | None = None
    restarts: int = 0
    out: str | None = None


@dataclass(frozen=True)
class Case:
    """A test with a number of clients. `name` tells it apart in results: `scan`, or `scan@4` when there are several numbers."""

    test: Test
    clients: int
    name: str


class Display(Protocol):
    """Shows progress; says things. Implemented by the command line."""

    def say(self, text: str) -> None: ...
    def expect(self, seconds: float) -> None:
        """The whole run is now expected to take this much longer."""

    def doing(self, text: str) -> None: ...


class Silent:
    """A display for tests and libraries."""

    def say(self, text: str) -> None: ...
    def expect(self, seconds: float) -> None: ...
    def doing(self, text: str) -> None: ...


def cases_of(test: Test, clients: list[int]) -> list[Case]:
    """One case per number of clients."""
    return [Case(test, count, f"{test.name}@{count}" if len(clients) > 1 else test.name) for count in clients]


@dataclass
class Session:
    """An experiment under way. `client_cpus` are for the engine's client threads; `solo`: the one target that is up now."""

    spec: ExperimentSpec
    suite: Suite
    targets: list[Target]
    journal: Journal
    progress: Progress
    new_engine: Callable[[], Engine]
    client_cpus: tuple[int, ...]
    display: Display
    engine: Engine = field(init=False)
    solo: Target | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.engine = self.new_engine()

    @property
    def base(self) -> Target:
        return self.targets[0]

    @property
    def table_names(self) -> list[str]:
        return [f"sbtest{number}" for number in range(1, self.spec.tables + 1)]

    @property
    def undecided(self) -> list[str]:
        """Cases that still need blocks."""
        cases = [case for phase in self.suite.phases for case in self.cases(phase)]
        return [case.name for case in cases if not case.test.warm_up and case.name not in self.progress.retired]

    def cases(self, phase: Phase) -> list[Case]:
        """The tests of a phase, each with every number of clients before the next."""
        return [case for test in phase.tests for case in cases_of(test, self.spec.clients)]

    @property
    def alive(self) -> list[Target]:
        """Targets that are up now: all that are in the run, or the solo one."""
        return [target for target in self.in_run if self.solo in (None, target)]

    @property
    def in_run(self) -> list[Target]:
        return [target for target in self.targets if target.out is None]

    @contextlib.contextmanager
    def alone(self, target: Target) -> Iterator[None]:
        """Only `target` is up meanwhile (sequential order)."""
        self.solo = target
        try:
            yield
        finally:
            self.solo = None

    def part(self, block: int, case: "Case") -> Part:
        """What the rows of `case` in `block` count as, of all targets together or of the solo one."""
        return block, case.name, self.solo.name if self.solo else ""

    @property
    def alive_names(self) -> list[str]:
        return [target.name for target in self.alive]

    def by_name(self, name: str) -> Target:
        return next(target for target in self.targets if target.name == name)

    def note(self, kind: str, **fields: Any) -> None:
        self.journal.append({"type": kind, **fields})

    def failure(self, target: Target, stage: str, message: str, *, final: bool, **where: Any) -> None:
        """Journals a failure with the server's own words; a final one takes the target out of the run."""
        self.note("failure", target=target.name, stage=stage, message=message, final=final, **where)
        self.display.say(f"{target.label}: {message}")
        if final:
            target.out = message
            self.remove(target)
        if self.solo is target and final:
            raise SoloOut(message)
        if self.base.out is not None:
            raise RunError(f"The base {self.base.label} is out, so there is nothing to compare with: {self.base.out}")
        if len(self.in_run) < 2 <= len(self.targets):
            raise RunError(f"No target is left to compare with {self.base.label}; the last one left because: {message}")

    def start(self, target: Target) -> None:
        """Starts a target's server and makes it known to the engine."""
        target.server.start(target.placement)
        self.introduce(target)

    def introduce(self, target: Target) -> None:
        self.engine.call("target", **target.server.engine_target(target.name, target.placement))
        if isinstance(target.server, SqliteServer):
            # an embedded database is administered with the measured library, which the engine has loaded
            target.server.query = lambda sql: self._query(target, sql)

    def _query(self, target: Target, sql: str) -> list[list[str | None]]:
        rows: list[list[str | None]] = self.engine.call("query", target=target.name, sql=sql)["rows"]
        return rows

    def remove(self, target: Target) -> None:
        """Forgets a target in the engine and ends its server, whatever state both are in."""
        with contextlib.suppress(DbversusError):
            self.engine.call("thaw", targets=[target.name])
            self.engine.call("drop", target=target.name)
        target.server.stop()

    def revive(self, target: Target, message: str, **where: Any) -> None:
        """Restarts a target that was lost in a slot; after RESTARTS_AT_MOST it is out."""
        target.restarts += 1
        words = f"{message}. Its log ends: {target.server.log_tail(5)}".strip()
        final = target.restarts > RESTARTS_AT_MOST
        self.failure(target, "slot", words, final=final, **where)
        if final:
            return
        with contextlib.suppress(DbversusError):
            self.engine.call("drop", target=target.name)
        target.server.kill()
        try:
            self.start(target)
            target.server.warm(self.table_names)
        except RunError as error:
            self.failure(target, "start", str(error), final=True, **where)

    def renew_engine(self, message: str, **where: Any) -> None:
        """Replaces an engine that is gone, and wakes what it left frozen."""
        self.note("failure", target=None, stage="engine", message=message, final=False, **where)
        self.display.say(message)
        self.engine.close()
        self.engine = self.new_engine()
        for target in self.alive:
            target.server.thaw()
            self.introduce(target)

    def freeze(self) -> None:
        if self.spec.freeze:
            self.engine.call("freeze", targets=self.alive_names)

    def thaw(self) -> None:
        self.engine.call("thaw", targets=self.alive_names)

    def close(self) -> None:
        """Ends everything that this session started; never raises."""
        with contextlib.suppress(DbversusError):
            self.thaw()
        for target in self.targets:
            with contextlib.suppress(DbversusError, OSError):
                target.server.stop()
        self.engine.close()
