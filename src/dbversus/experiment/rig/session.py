"""What a run holds in its hands: the targets, the engine that drives them, the journal, and how to mend each when it breaks."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dbversus.builds.model import Build, TargetSpec
from dbversus.dbms.known import find_dbms
from dbversus.errors import DbversusError, RunError
from dbversus.experiment.asked.groups import Group, make_groups
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.plan.limits import limits_with
from dbversus.experiment.plan.progress import Part, Progress, Shared
from dbversus.experiment.rig.engine import Engine, EngineGone, EngineRefused
from dbversus.host.pinning import PlacementPlan
from dbversus.results.records import AnyRecord, Failure, Remark, Tag
from dbversus.results.write import Journal
from dbversus.servers.base import Placement, Server
from dbversus.stats.disturbance import Limits
from dbversus.stats.orders import balanced_turns
from dbversus.suites.model import Phase, Suite, Test

RESTARTS_AT_MOST = 3


class GroupOut(RunError):
    """Of the targets that were up nobody is left to measure; the next group is on."""


@dataclass
class Target:
    """One contender: `name` (t0, t1, …) for the engine and the journal, `label` for people. `out`: why it left the run.

    `snapshots`: where its data is kept, by kind (LOADED, AGED).
    """

    name: str
    label: str
    spec: TargetSpec
    build: Build
    server: Server
    placement: Placement
    snapshots: dict[str, Path] = field(default_factory=dict)
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


def _shared(case: Case, tag: Tag) -> Shared:
    return case.name, tag.get("group", "")


@dataclass
class Session:
    """An experiment under way.

    `cpus`: where clients and servers run; `group`: who is up now (None: all); `restored`: names of targets whose
    snapshot was put in place since this process began; `prepared`: of those whose servers took all statements; `diverged`:
    something was replaced since the data was restored, so that targets may have done unequal work, and the data of equal ones
    differ. `idle_counts`: what a test (case) without any operation adds to a target's own counters;
    `held`: keeps others from removing the snapshots. `limits`: from what on other work disturbs a row.
    """

    spec: ExperimentSpec
    suite: Suite
    targets: list[Target]
    journal: Journal
    progress: Progress
    new_engine: Callable[[], Engine]
    cpus: PlacementPlan
    display: Display
    engine: Engine = field(init=False)
    group: Group | None = field(init=False, default=None)
    contenders: list[str] = field(init=False)
    remarks: set[tuple[str | None, str]] = field(init=False, default_factory=set)
    restored: set[str] = field(init=False, default_factory=set)
    diverged: bool = field(init=False, default=False)
    held: contextlib.ExitStack = field(init=False, default_factory=contextlib.ExitStack)
    limits: Limits = field(init=False)
    prepared: set[str] = field(init=False, default_factory=set)
    idle_counts: dict[tuple[str, str], dict[str, float]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.limits = limits_with(self.cpus)
        self.engine = self.new_engine()
        # those whose config the server refused need no place in a group; the others keep theirs, whatever becomes of them
        self.contenders = [target.name for target in self.targets if target.out is None]

    @property
    def base(self) -> Target:
        return self.targets[0]

    @property
    def table_names(self) -> list[str]:
        return [f"sbtest{number}" for number in range(1, self.spec.tables + 1)]

    @property
    def warmed_tables(self) -> list[str]:
        """Tables that are read into memory whenever a server has been started: all, or with other than warm caches none."""
        return self.table_names if self.spec.cache == "warm" else []

    @property
    def undecided(self) -> list[str]:
        """Cases that still need blocks: of the group that is up, or of any group."""
        retired = self.progress.retired
        return [case.name for case in self.all_cases if case.name not in retired and self.is_comparable(case)]

    @property
    def all_cases(self) -> list[Case]:
        """The cases that are reported, in order."""
        cases = (case for phase in self.suite.phases for case in self.cases(phase))
        return [case for case in cases if not case.test.warm_up]

    def cases(self, phase: Phase) -> list[Case]:
        """The tests of a phase, each with every number of clients before the next."""
        return [case for test in phase.tests for case in cases_of(test, self.spec.clients)]

    def measured(self, case: Case) -> list[str]:
        """Names of the targets whose rows of `case` are run, in the group that is up or in any."""
        return [name for group in self._groups_up for name in self._measured_in(group, case)]

    def is_comparable(self, case: Case) -> bool:
        """Whether rows of `case` tell anything: the base and somebody else are measured, in the group that is up or in any."""
        return any(len(self._measured_in(group, case)) >= self._fewest(group) for group in self._groups_up)

    def _measured_in(self, group: Group, case: Case) -> list[str]:
        """Those that are in the run, but for a target that answers a read test otherwise than the base.

        A test that changes data is run on all: later tests need its changes.
        """
        agrees = {} if case.test.changes_data else self.progress.checked.get(_shared(case, group.tag), {})
        names = [target.name for target in self.in_run if target.name in group.members]
        return [name for name in names if agrees.get(name, True)]

    def _fewest(self, group: Group) -> int:
        """Targets without which a group has nothing to compare."""
        return 1 if "solo" in group.tag or len(self.targets) == 1 else 2

    @property
    def alive(self) -> list[Target]:
        """Targets that are up now: those of the group that are in the run."""
        return [target for target in self.in_run if self.group is None or target.name in self.group.members]

    @property
    def in_run(self) -> list[Target]:
        return [target for target in self.targets if target.out is None]

    def turns(self, block: int) -> list[Group]:
        """The groups that make a block, one after another; targets that are up alone change their order from block to block."""
        return balanced_turns(self._groups, block, self.spec.seed) if self.spec.order == "sequential" else self._groups

    @property
    def _groups(self) -> list[Group]:
        return make_groups(self.contenders, self.spec.order, self.spec.at_once)

    @property
    def _groups_up(self) -> list[Group]:
        """The group that is up; all groups while none is."""
        return [self.group] if self.group else self._groups

    @contextlib.contextmanager
    def only(self, group: Group) -> Iterator[None]:
        """Only the targets of `group` are up meanwhile."""
        self.group = group
        try:
            yield
        finally:
            self.group = None

    @property
    def tag(self) -> Tag:
        """What tells records of the group that is up from those of other groups."""
        return self.group.tag if self.group else {}

    @property
    def solo(self) -> Target | None:
        """The one target that is up, in sequential order."""
        name = self.tag.get("solo")
        return self.by_name(name) if name else None

    def part(self, block: int, case: Case) -> Part:
        """What the rows of `case` in `block` count as, of all targets together or of the group that is up."""
        return block, case.name, self.group.name if self.group else ""

    @property
    def first_row(self) -> int:
        """Number of the first row in each test: rows of two groups are never the same row."""
        return self.group.first_row if self.group else 0

    def shared(self, case: Case) -> Shared:
        """What the slot plan and the check of answers of `case` are kept under.

        They hold for all blocks; groups with the base have their own, targets one after another share them: all do the
        same work.
        """
        return _shared(case, self.tag)

    @property
    def alive_names(self) -> list[str]:
        return [target.name for target in self.alive]

    def by_name(self, name: str) -> Target:
        return next(target for target in self.targets if target.name == name)

    def note(self, record: AnyRecord) -> None:
        self.journal.append(record)

    def remark(self, words: str, target: Target | None = None) -> None:
        """Journals, once, what somebody who reads the figures has to know (of one target, or of all)."""
        name = target.name if target else None
        if (name, words) not in self.remarks:
            self.remarks.add((name, words))
            self.note(Remark(name, words))

    @property
    def dead_end(self) -> str:
        """Why nothing can be compared any more, in a sentence; empty as long as something can."""
        if self.base.out is not None:
            return f"The base {self.base.label} is out, so there is nothing to compare with: {self.base.out}"
        if len(self.in_run) < 2 <= len(self.targets):
            reasons = "; ".join(f"{target.label}: {target.out}" for target in self.targets[1:])
            return f"No target is left to compare with {self.base.label}: {reasons}"
        return ""

    def failure(self, target: Target, stage: str, message: str, *, final: bool, **where: Any) -> None:
        """Journals a failure with the server's own words; a final one takes the target out of the run."""
        self.note(Failure(target.name, stage, message, final, **where))
        self.display.say(f"{target.label}: {message}")
        if final:
            target.out = message
            self.remove(target)
        if self.dead_end:
            raise RunError(self.dead_end)
        if final and len(self.alive) < 2 <= len(self.targets):
            raise GroupOut(message)

    def start(self, target: Target, **where: Any) -> None:
        """Starts a target's server and makes it known to the engine, or to a new one when that is gone."""
        target.server.start(target.placement)
        try:
            self.introduce(target)
        except EngineGone as error:
            self.renew_engine(str(error), **where)

    def introduce(self, target: Target) -> None:
        """Makes a target known to the engine as it is now, in place of what the engine may know by its name."""
        known = target.server.engine_target(target.name, target.placement)
        if not self.spec.freeze:
            known["freeze"] = {"kind": "none"}
        with contextlib.suppress(EngineRefused):  # none of that name
            self.engine.call("drop", target=target.name)
        self.engine.call("target", **known)
        if find_dbms(target.server.dbms).embedded:
            target.server.administer_with(lambda sql: self._query(target, sql))

    def _query(self, target: Target, sql: str) -> list[list[str | None]]:
        rows: list[list[str | None]] = self.engine.call("query", target=target.name, sql=sql)["rows"]
        return rows

    def remove(self, target: Target) -> None:
        """Forgets a target in the engine and ends its server, whatever state both are in."""
        with contextlib.suppress(DbversusError):
            self.engine.call("thaw", targets=[target.name])
            self.engine.call("drop", target=target.name)
        target.server.stop()

    def mend(self, target: Target, error: RunError, stage: str, **where: Any) -> None:
        """Replaces what an administrator's statement failed for: the engine when that is gone, else the target's server."""
        if isinstance(error, EngineGone):
            self.renew_engine(str(error), **where)
        else:
            self.revive(target, str(error), stage=stage, **where)

    def revive(self, target: Target, message: str, *, stage: str = "slot", **where: Any) -> None:
        """Restarts a target that was lost in `stage`; after RESTARTS_AT_MOST it is out."""
        self.diverged = True
        target.restarts += 1
        words = f"{message}. Its log ends: {target.server.log_tail(5)}".strip()
        final = target.restarts > RESTARTS_AT_MOST
        self.failure(target, stage, words, final=final, **where)
        if final:
            return
        target.server.kill()
        try:
            self.start(target, **where)
            target.server.warm(self.warmed_tables)
        except RunError as error:
            self.failure(target, "start", str(error), final=True, **where)

    def renew_engine(self, message: str, **where: Any) -> None:
        """Replaces an engine that is gone, and wakes what it left frozen; a server that went with it is restarted."""
        self.diverged = True
        self.note(Failure(None, "engine", message, final=False, **where))
        self.display.say(message)
        self.engine.close()
        self.engine = self.new_engine()
        for target in self.alive:
            if target.server.root_pid is None and not target.server.is_running():  # it is still to be started
                continue
            target.server.thaw()
            try:
                self.introduce(target)
            except EngineRefused as error:
                self.revive(target, str(error), **where)

    def freeze(self) -> None:
        if self.spec.freeze:
            self.engine.call("freeze", targets=self.alive_names)

    def thaw_all(self, **where: Any) -> None:
        """Wakes all servers that are up, through the loss of the engine."""
        try:
            self.thaw()
        except EngineGone as error:
            self.renew_engine(str(error), **where)

    def thaw(self) -> None:
        self.engine.call("thaw", targets=self.alive_names)

    def close(self) -> None:
        """Ends everything that this session started; never raises."""
        self.engine.close()  # first, so that nothing waits for rows under way, and nobody is frozen any more
        for target in self.targets:
            with contextlib.suppress(DbversusError, OSError):
                target.server.stop()
        self.held.close()
