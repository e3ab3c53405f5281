"""The rig: targets with their servers, the engine that drives them, and how to mend each when it breaks."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import msgspec

from dbversus.builds.model import Build, TargetSpec
from dbversus.dbms.known import find_dbms
from dbversus.dbms.sql.table import Table
from dbversus.errors import DbversusError, RunError
from dbversus.experiment.asked.groups import Group
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.plan.cases import Case, size_suffix
from dbversus.experiment.plan.contest import Contest, part_of, shared_by
from dbversus.experiment.plan.limits import limits_with
from dbversus.experiment.plan.pace import Pace
from dbversus.experiment.plan.progress import Part, Progress, Shared
from dbversus.experiment.rig.engine import Engine, EngineGone, EngineRefused
from dbversus.host import memory_limit
from dbversus.host.pinning import PlacementPlan
from dbversus.private import said
from dbversus.results.records import AnyRecord, Failure, Remark, Tag
from dbversus.servers.base import Placement, Server
from dbversus.servers.objects import ObjectFigure
from dbversus.stats.orders import starting_order
from dbversus.stats.validity.disturbance import Limits
from dbversus.suites.model import Suite

RESTARTS_AT_MOST = 3
_KILLED = " (the kernel ended a process of it: it needs more memory than --memory lets it have)"


class GroupOut(RunError):
    """Of the targets that were up nobody is left to measure; the next group is on."""


@dataclass
class Target:
    """One contender: `name` (t0, t1, …) for the engine and the journal, `label` for people. `out`: why it left the run.

    `snapshots`: where its data is kept, by kind (LOADED, AGED); those of the size that is on. `kept`: by size. `tables`: what
    it holds, where scripts have made some. `kills`: processes of its server that the kernel ended for want of memory. `log_read`:
    how far its log was searched for crashes.
    """

    name: str
    label: str
    spec: TargetSpec
    build: Build
    server: Server
    placement: Placement
    snapshots: dict[str, Path] = field(default_factory=dict)
    kept: dict[int, dict[str, Path]] = field(default_factory=dict)
    restarts: int = 0
    out: str | None = None
    tables: list[Table] | None = None
    kills: int = 0
    log_read: int = 0

    def want_of_memory(self) -> str:
        """That the kernel ended processes of its server for want of memory since this was asked last; else empty."""
        group = self.placement.cgroup
        before, self.kills = self.kills, memory_limit.kills(group.memory) if group and group.memory else 0
        return _KILLED if self.kills > before else ""


class Display(Protocol):
    """Shows progress; says things. Implemented by the command line."""

    def say(self, text: str) -> None: ...
    def expect(self, seconds: float) -> None:
        """The whole run is now expected to take this much longer."""

    def doing(self, text: str) -> None: ...


@dataclass
class Rig:
    """What runs on this host now; it starts, freezes, mends and ends it.

    `spec`: its `table_size` is the one that is on (`sized`).
    `records`: takes what is found out, and heeds in `progress` what it tells; `folder`: for files that are no records.
    `cpus`: where clients and servers run; `block`: the one under way; `group`: who is up now (None: all); `restored`: names of
    targets whose snapshot was put in place since this process began; `prepared`: of those whose servers took all statements;
    `diverged`: something was replaced since the data was restored, so that targets may have done unequal work, and the data of
    equal ones differ. `undrained`: tests were replayed, and servers have not been let go since to do what those left.
    `idle_counts`: what a test (case) without any operation adds to a target's own counters; `held`: keeps others from removing
    the snapshots.
    `serving`: processes or threads that serve our clients, by driver, as the engine tells them when it has connected.
    `limits`: from what on other work disturbs a row. `pace`: how the block under way gets on.
    """

    spec: ExperimentSpec
    suite: Suite
    targets: list[Target]
    records: Callable[[AnyRecord], None]
    folder: Path
    progress: Progress
    new_engine: Callable[[], Engine]
    cpus: PlacementPlan
    display: Display
    engine: Engine = field(init=False)
    block: int = field(init=False, default=0)
    group: Group | None = field(init=False, default=None)
    contest: Contest = field(init=False)
    remarks: set[tuple[str | None, str]] = field(init=False, default_factory=set)
    restored: set[str] = field(init=False, default_factory=set)
    diverged: bool = field(init=False, default=False)
    undrained: bool = field(init=False, default=False)
    held: contextlib.ExitStack = field(init=False, default_factory=contextlib.ExitStack)
    limits: Limits = field(init=False)
    prepared: set[str] = field(init=False, default_factory=set)
    idle_counts: dict[tuple[str, str], dict[str | ObjectFigure, float]] = field(init=False, default_factory=dict)
    pace: Pace | None = field(init=False, default=None)
    serving: dict[str, list[int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.limits = limits_with(self.cpus)
        self.engine = self.new_engine()
        for target in self.targets:
            target.kept[self.spec.table_size] = target.snapshots
        self.contest = Contest(self.spec, self.suite, [target.name for target in self.targets], self.progress)

    @property
    def base(self) -> Target:
        return self.targets[0]

    @property
    def tables(self) -> list[Table]:
        return self.suite.made_tables(self.spec.table_size, self.spec.tables)

    @property
    def table_names(self) -> list[str]:
        return [table.name for table in self.tables]

    def tables_of(self, target: Target) -> list[Table]:
        """All tables with data: those of the suite, or where scripts make some, what a running server says that it has."""
        if not self.suite.scripts:
            return self.tables
        if target.tables is None:
            target.tables = target.server.own_tables()
        return target.tables

    def names_of_tables(self, target: Target) -> list[str]:
        return [table.name for table in self.tables_of(target)]

    def warmed_tables(self, target: Target) -> list[str]:
        """Tables that are read into memory whenever a server has been started: all, or with other than warm caches none."""
        return self.names_of_tables(target) if self.spec.cache == "warm" else []

    def measured(self, case: Case) -> list[str]:
        """Names of the targets whose rows of `case` are run, in the group that is up or in any."""
        return self.contest.measured(case, self.group)

    def is_comparable(self, case: Case) -> bool:
        """Whether rows of `case` tell anything, in the group that is up or in any."""
        return self.contest.is_comparable(case, self.group)

    @property
    def alive(self) -> list[Target]:
        """Targets that are up now: those of the group that are in the run, in the order in which this block starts them.

        Whatever is done to one after the other is done in this order, which every other block reverses. All blocks take the same
        course, to the second: were one server always the last, what it does by its clock would come at the same time of each
        block, and never when the others' does.
        """
        up = [target for target in self.in_run if self.group is None or target.name in self.group.members]
        return starting_order(up, self.block)

    @property
    def in_run(self) -> list[Target]:
        return [target for target in self.targets if target.out is None]

    @contextlib.contextmanager
    def only(self, group: Group) -> Iterator[None]:
        """Only the targets of `group` are up meanwhile."""
        self.group = group
        try:
            yield
        finally:
            self.group = None

    @contextlib.contextmanager
    def sized(self, table_size: int) -> Iterator[None]:
        """Tables have that size meanwhile."""
        before, kept = self.spec, [target.snapshots for target in self.targets]
        self.spec = self.spec.sized(table_size)
        for target in self.targets:
            target.snapshots = target.kept.setdefault(table_size, {})
        try:
            yield
        finally:
            self.spec = before
            for target, snapshots in zip(self.targets, kept, strict=True):
                target.snapshots = snapshots

    @property
    def size_suffix(self) -> str:
        """What tells names of this size from those of others."""
        return size_suffix(self.spec, self.spec.table_size)

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
        return part_of(block, case, self.group)

    @property
    def first_row(self) -> int:
        """Number of the first row in each test: rows of two groups are never the same row."""
        return self.group.first_row if self.group else 0

    def shared(self, case: Case) -> Shared:
        """What the slot plan and the check of answers of `case` are kept under."""
        return shared_by(case, self.group)

    @property
    def alive_names(self) -> list[str]:
        return [target.name for target in self.alive]

    def by_name(self, name: str) -> Target:
        return next(target for target in self.targets if target.name == name)

    def note(self, record: AnyRecord) -> None:
        self.records(msgspec.structs.replace(record, at_unix_ns=time.time_ns()))

    def remark(self, words: str, target: Target | None = None) -> None:
        """Journals, once, what somebody who reads the figures has to know (of one target, or of all)."""
        name = target.name if target else None
        if (name, words) not in self.remarks:
            self.remarks.add((name, words))
            self.note(Remark(name, words))

    @property
    def dead_end(self) -> str:
        """Why nothing can be compared any more, in a sentence; empty as long as something can."""
        if self.base.out is not None and len(self.targets) == 1:
            return f"{self.base.label}, the only target, is out: {self.base.out}"
        if self.base.out is not None:
            return f"The base {self.base.label} is out, so there is nothing to compare with: {self.base.out}"
        if len(self.in_run) < 2 <= len(self.targets):
            reasons = "; ".join(f"{target.label}: {target.out}" for target in self.targets[1:])
            return f"No target is left to compare with {self.base.label}: {reasons}"
        return ""

    def failure(self, target: Target, stage: str, message: str, *, final: bool, **where: Any) -> None:
        """Journals a failure with the server's own words; a final one takes the target out of the run."""
        self.note(Failure(target.name, stage, said(message), final, **where))
        if final:
            target.out = message
            self.remove(target)
        if self.dead_end:
            raise RunError(self.dead_end)  # which has the message, and is said at the end
        self.display.say(f"{target.label}: {message}")
        if final and len(self.alive) < 2 <= len(self.targets):
            raise GroupOut(message)

    def start(self, target: Target, *, goes_on: bool = False, **where: Any) -> None:
        """Starts a target's server and makes it known to the engine, or to a new one when that is gone.

        `goes_on`: on the data on which it ran before.
        """
        self.launch(target)
        self.receive(target, goes_on=goes_on, **where)

    def launch(self, target: Target) -> None:
        """Starts a target's server, of which the engine knows nothing yet. Several may be started at the same time."""
        try:
            target.server.start(target.placement)
        except RunError as error:
            raise RunError(f"{error}{target.want_of_memory()}") from error

    def receive(self, target: Target, *, goes_on: bool = False, **where: Any) -> None:
        """Makes a target known whose server has just been started."""
        target.log_read = target.server.log_end()
        try:
            self.introduce(target, goes_on=goes_on)
        except EngineGone as error:
            self.renew_engine(str(error), **where)

    def introduce(self, target: Target, *, goes_on: bool = False) -> None:
        """Makes a target known to the engine as it is now, in place of what the engine may know by its name."""
        self.introduce_as(target.name, target, goes_on=goes_on)
        if find_dbms(target.server.dbms).embedded:
            target.server.administer_with(lambda sql: self._query(target, sql))

    def introduce_as(self, name: str, target: Target, *, goes_on: bool = False) -> None:
        """Has the engine know a target's server by a name."""
        known = target.server.engine_target(name, target.placement)
        if goes_on:
            known["goes_on"] = True
        if not self.spec.freeze:
            known["freeze"] = {"kind": "none"}
        with contextlib.suppress(EngineRefused):  # none of that name
            self.engine.call("drop", target=name)
        self.engine.call("target", **known)

    def _query(self, target: Target, sql: str) -> list[list[str | None]]:
        rows: list[list[str | None]] = self.engine.call("query", target=target.name, sql=sql)["rows"]
        return rows

    def remove(self, target: Target) -> None:
        """Forgets a target in the engine and ends its server, whatever state both are in."""
        with contextlib.suppress(DbversusError):
            self.engine.call("thaw", targets=[target.name])
            self.engine.call("drop", target=target.name)
        target.server.stop()

    def repair(self, target: Target, error: RunError, stage: str, **where: Any) -> None:
        """Replaces what an administrator's statement failed for: the engine when that is gone, else the target's server."""
        if isinstance(error, EngineGone):
            self.renew_engine(str(error), **where)
        else:
            self.revive(target, str(error), stage=stage, **where)

    def revive(self, target: Target, message: str, *, stage: str = "slot", **where: Any) -> None:
        """Restarts a target that was lost in `stage`; after RESTARTS_AT_MOST it is out."""
        self.diverged = True
        target.restarts += 1
        # says it all: the log is then of a server that does not know what happened to it
        killed = target.want_of_memory()
        words = f"{message}{killed or f'. Its log ends: {target.server.log_tail(5)}'}".strip()
        final = target.restarts > RESTARTS_AT_MOST
        self.failure(target, stage, words, final=final, **where)
        if final:
            return
        target.server.kill()
        try:
            self.start(target, goes_on=True, **where)
            target.server.warm(self.warmed_tables(target))
        except RunError as error:
            self.failure(target, "start", f"{error}{target.want_of_memory() or killed}", final=True, **where)

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
        """Ends everything that this rig started; never raises."""
        self.engine.close()  # first, so that nothing waits for rows under way, and nobody is frozen any more
        for target in self.targets:
            with contextlib.suppress(DbversusError, OSError):
                target.server.stop()
        self.held.close()
