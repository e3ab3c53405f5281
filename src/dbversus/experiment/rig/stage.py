"""Sets the stage for a run: builds obtained, the host locked and cleaned up, CPUs and cgroups given out; struck again after."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Protocol

from dbversus.builds.libraries import fetched_library
from dbversus.builds.model import Build, TargetSpec
from dbversus.builds.store import obtained, resolve
from dbversus.builds.target import labels, parse_target
from dbversus.dbms.known import find_dbms
from dbversus.dbms.settings import cache_bytes
from dbversus.dbms.sizes import BYTES_PER_ROW
from dbversus.errors import RunError, UsageError
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.plan.cases import most_clients
from dbversus.experiment.plan.definitions import definitions
from dbversus.experiment.plan.estimate import estimate
from dbversus.experiment.plan.limits import limits_with
from dbversus.experiment.plan.progress import Progress
from dbversus.experiment.rig.cold import cache_facts
from dbversus.experiment.rig.data.ddl import check_ddl
from dbversus.experiment.rig.data.script import check_scripts, database_of
from dbversus.experiment.rig.engine import Engine
from dbversus.experiment.rig.preload import carry_library, check_injection
from dbversus.experiment.rig.rig import Display, Rig, Target
from dbversus.home import PRIVATE_FILE_MODE, PUBLIC_MODE, home_dir, private_dir, public_dir
from dbversus.host.cgroups import ONLY_SETTINGS, create_cgroup, hand_over, leave_directories
from dbversus.host.checks.fsync import sync_latency
from dbversus.host.checks.preflight import Severity, judge
from dbversus.host.checks.reads import read_latency
from dbversus.host.claims import in_use
from dbversus.host.claims.lock import acquire_host
from dbversus.host.claims.registry import Registry, Watcher, cleanup_stale
from dbversus.host.facts import host_facts, memory_facts
from dbversus.host.pinning import PlacementPlan, place
from dbversus.host.user import ServerUser, server_user
from dbversus.results.records import AnyRecord
from dbversus.servers.base import Cgroup, Placement, Server, ServerConfig
from dbversus.servers.config.load import load_config
from dbversus.servers.config.memory import check_together
from dbversus.servers.config.sizing import Sizing
from dbversus.servers.create import create_server
from dbversus.servers.data.snapshot import RESERVE_BYTES, free_bytes
from dbversus.servers.process.engine import engine_binary
from dbversus.servers.process.guard import Guard
from dbversus.suites import loads
from dbversus.suites.model import Suite
from dbversus.units import show_bytes

_PRELOAD = "LD_PRELOAD"
_NOT_HERE = Path("to-be-fetched")


@dataclass(frozen=True)
class Stage:
    """All that a rig is made of; `host_facts` say what this host is and what it could not give."""

    spec: ExperimentSpec
    suite: Suite
    targets: list[Target]
    host_facts: dict[str, Any]
    cpus: PlacementPlan
    new_engine: Callable[[], Engine]

    def rig(self, records: Callable[[AnyRecord], None], folder: Path, progress: Progress, display: Display) -> Rig:
        return Rig(self.spec, self.suite, self.targets, records, folder, progress, self.new_engine, self.cpus, display)


class HoldHost(Protocol):
    """Takes the host as `acquire_host` does, until what it returns is left."""

    def __call__(
        self, wait: bool, what: str, *, say: Callable[[str], None]
    ) -> contextlib.AbstractContextManager[object]: ...


@contextlib.contextmanager
def set_stage(
    spec: ExperimentSpec,
    display: Display,
    *,
    wait: bool,
    hold_host: HoldHost = acquire_host,
    is_measured: bool = True,
) -> Iterator[Stage]:
    """Checks names first (UsageError), then fetches builds, then takes the host. Leaves nothing behind on any way out.

    `is_measured`: else how fast and how quiet the host is does not matter, and is not looked at.
    """
    suite = spec.read_suite()
    specs = [parse_target(text) for text in spec.targets]
    _check_tests(spec, suite, specs)
    check_configs(spec, suite, specs, [resolve(target).version for target in specs])
    public_dir("work")  # refused now, where it cannot be made, and not after others were waited for
    with contextlib.ExitStack() as stack:
        _stage_data(suite, display, stack)
        builds = [stack.enter_context(obtained(target, display.say)) for target in specs]
        stack.enter_context(hold_host(wait, " against ".join(spec.targets), say=display.say))
        for line in cleanup_stale():
            display.say(line)
        _check_room(spec, suite)
        facts = host_facts(home_dir())  # before we pin ourselves: they tell what we may use
        plan = place(most_clients(spec, suite), spec.placement)
        stack.callback(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        if plan.controller_cpus:
            os.sched_setaffinity(0, plan.controller_cpus)
        work_dir = _work_dir(stack)
        guard = stack.enter_context(Guard(engine_binary()))
        watchers: list[Watcher] = [guard, Registry()]
        notes = [note for note in (plan.note, guard.note) if note]
        facts |= cache_facts(spec.cache, work_dir)
        targets = _targets(spec, specs, builds, plan, work_dir, watchers, notes, stack)
        user = _engine_user(targets)
        data = home_dir() / "data" if user is None else _handed_data(suite, work_dir / "data", user, stack)
        check_caches([(target.label, target.build.dbms, target.server.config) for target in targets], spec)
        for target in targets:
            refusal = check_server(target.server, target.spec.configs, spec.optional, is_base=target is targets[0])
            target.out = refusal or None
        check_tables(spec, suite, [target.server for target in targets])
        if is_measured:
            facts |= _probes(suite, work_dir, display, notes)
        facts |= {"placement": asdict(plan), "disturbance_limits": asdict(limits_with(plan)), "notes": notes}
        # the engine's own threads may run where the controller does; its clients are pinned by `open`
        for finding in judge(facts) if is_measured else ():
            if finding.severity is not Severity.INFO:
                display.say(f"{finding.subject}: {finding.message}; {finding.advice}")
        new_engine = partial(Engine, log=work_dir / "engine.log", user=user, data=data)
        yield Stage(spec, suite, targets, facts, plan, new_engine)


def _stage_data(suite: Suite, display: Display, stack: contextlib.ExitStack) -> None:
    """What the suite takes from data files is written as the engine reads it, and stays while this experiment runs."""
    for staged in suite.staged:
        stack.enter_context(in_use.using(staged.folder))
        display.doing(f"reading {staged.file.path}")
        staged.write()
    for drawn in suite.drawn_when_loaded:
        stack.enter_context(in_use.using(drawn.path.parent))


def _engine_user(targets: Sequence[Target]) -> ServerUser | None:
    """Who the engine becomes where it loads the library of a DBMS: the servers' user, if that is not us (None).

    What it then writes to in the groups of servers beside it is that user's.
    """
    user = server_user()
    if not user.switch or not any(find_dbms(target.build.dbms).library for target in targets):
        return None
    for target in targets:
        if target.placement.cgroup:
            hand_over(target.placement.cgroup.directories(), user.uid)
    return user


def _handed_data(suite: Suite, folder: Path, user: ServerUser, stack: contextlib.ExitStack) -> Path:
    """A folder with what the suite takes from data files, where `user` may read it as long as this experiment runs."""
    for staged in suite.staged:
        place = folder / staged.name
        for made in (folder, place.parent):
            made.mkdir(exist_ok=True)
            user.admit(made)
        try:
            place.hardlink_to(staged.path)
        except OSError:  # on another file system, or one that has none
            shutil.copyfile(staged.path, place)
        stack.callback(place.chmod, PRIVATE_FILE_MODE)
        user.let_read(place)
    return folder


def _probes(suite: Suite, folder: Path, display: Display, notes: list[str]) -> dict[str, Any]:
    """How fast the disk is before anything is started: its reads, and fsync where the suite asks for it."""
    probes: dict[str, tuple[str, Callable[[Path], dict[str, Any]]]] = {"read_latency": ("reads", read_latency)}
    if "sync" in suite.probes:
        probes["sync_latency"] = ("fsync", sync_latency)
    found = {}
    for name, (what, probe) in probes.items():
        display.doing(f"measuring how long the disk takes for {what}")
        try:
            found[name] = probe(folder)
        except RunError as error:
            notes.append(str(error))
    return found


def check_server(server: Server, configs: Sequence[str], optional: Sequence[str], *, is_base: bool) -> str:
    """Asks the server whether it takes its config; where it refuses an optional one, says why."""
    try:
        server.check()
    except UsageError as error:
        dispensable = any(set(item.split(",")) <= set(configs) for item in optional)
        if is_base or not dispensable:
            raise
        return str(error)
    return ""


def check_tables(spec: ExperimentSpec, suite: Suite, servers: Sequence[Server]) -> None:
    """UsageError when a server has no such type as a column of the suite has."""
    for server in servers:
        loads(suite, spec.table_size, spec.tables, server.table_sql)


def check_configs(
    spec: ExperimentSpec, suite: Suite, specs: Sequence[TargetSpec], versions: Sequence[str]
) -> list[ServerConfig]:
    """The config of each target as far as it can be known without its build; UsageError where no server could have it.

    Nothing is fetched: a library that is not here yet is left out.
    """
    sizing = make_sizing(spec, place(max(spec.clients), spec.placement))
    sizing = replace(sizing, find_library=lambda name: fetched_library(name) or _NOT_HERE)
    configs = [
        _without_missing(load_config(target.dbms, version, target.configs, sizing, spec.config_place))
        for target, version in zip(specs, versions, strict=True)
    ]
    tables = suite.made_tables(spec.table_size, spec.tables)
    for config in configs:
        check_ddl(config, tables)
    needs = [(label, target.dbms, config) for label, target, config in zip(labels(specs), specs, configs, strict=True)]
    check_caches(needs, spec)
    return configs


def _without_missing(config: ServerConfig) -> ServerConfig:
    if config.environment.get(_PRELOAD) != str(_NOT_HERE):
        return config
    return replace(config, environment={name: value for name, value in config.environment.items() if name != _PRELOAD})


def check_caches(configs: Sequence[tuple[str, str, ServerConfig]], spec: ExperimentSpec) -> None:
    """UsageError when servers that are up together ask for more memory than the host has; each by label, DBMS and config."""
    needs = [(label, sum(cache_bytes(dbms, config.settings).values())) for label, dbms, config in configs]
    check_together(needs, spec.servers_up, memory_facts()["total_bytes"])


def _check_tests(spec: ExperimentSpec, suite: Suite, specs: Sequence[TargetSpec]) -> None:
    """Every test must make sense for every DBMS at this table size, before anything is fetched or started."""
    for test in suite.tests.values():
        for size, clients in product(spec.table_sizes, spec.clients):
            definitions(test, (target.dbms for target in specs), size, spec.tables, clients)
    if spec.tables > 1 and not any(rules.copies for rules in suite.tables):
        raise UsageError(
            f"Suite {suite.name} has no table with `copies`, so there is no use for --tables {spec.tables}."
        )
    check_scripts(suite, [target.dbms for target in specs])
    check_injection(spec, suite, specs)
    if len({target.dbms for target in specs}) > 1 and not all(find_dbms(target.dbms).is_database for target in specs):
        raise UsageError("null answers nothing and cannot be compared with a database; name databases only.")


def _check_room(spec: ExperimentSpec, suite: Suite) -> None:
    home = home_dir()
    home.mkdir(parents=True, exist_ok=True)
    needed, free = estimate(spec, suite).disk_bytes + RESERVE_BYTES, free_bytes(home)
    if needed > free:
        raise RunError(
            f"This experiment needs about {show_bytes(needed)} in {home}, where {show_bytes(free)} are free; "
            "make room, choose a smaller --table-size, or name another place in DBVERSUS_HOME."
        )


def _work_dir(stack: contextlib.ExitStack) -> Path:
    """A directory for data that is gone after the run, which nobody but us and the servers' user may enter."""
    shutil.rmtree(home_dir() / "work" / str(os.getpid()), ignore_errors=True)
    public_dir("work")
    path = private_dir("work", str(os.getpid()))
    server_user().admit(path)
    stack.callback(shutil.rmtree, path, ignore_errors=True)
    return path


def _targets(
    spec: ExperimentSpec,
    specs: Sequence[TargetSpec],
    builds: Sequence[Build],
    plan: PlacementPlan,
    work_dir: Path,
    watchers: Sequence[Watcher],
    notes: list[str],
    stack: contextlib.ExitStack,
) -> list[Target]:
    sizing = make_sizing(spec, plan)
    suite = spec.read_suite()
    tables = suite.made_tables(spec.table_size, spec.tables)
    targets = []
    for number, (label, target, build) in enumerate(zip(labels(specs), specs, builds, strict=True)):
        name = f"t{number}"
        config = load_config(target.dbms, build.version, target.configs, sizing, spec.config_place)
        check_ddl(config, tables)
        cgroup, note = create_cgroup(f"{os.getpid()}-{name}", with_memory=spec.memory is not None)
        if cgroup:
            stack.callback(leave_directories, cgroup.directories())
        notes += [one for one in (note, _no_limit(spec, label, target, cgroup)) if one and one not in notes]
        folder = work_dir / name
        folder.mkdir()
        folder.chmod(PUBLIC_MODE)  # whatever the umask: the servers' user works below it
        server = create_server(build, config, folder, watchers)
        server.database_name = database_of(suite, target.dbms) or server.database_name
        if spec.inject is not None:
            carry_library(server, folder)
        targets.append(Target(name, label, target, build, server, Placement(plan.server_cpus, cgroup)))
    return targets


def _no_limit(spec: ExperimentSpec, label: str, target: TargetSpec, cgroup: Cgroup | None) -> str:
    """Why a target's memory is not limited though the experiment asks for that, where no control group says so."""
    if spec.memory and find_dbms(target.dbms).embedded:
        return f"{label} runs in the client's process, whose memory is not limited: {ONLY_SETTINGS}"
    return f"memory of servers cannot be limited: {ONLY_SETTINGS}" if spec.memory and not cgroup else ""


def make_sizing(spec: ExperimentSpec, plan: PlacementPlan) -> Sizing:
    """What configs may reckon with."""
    cpus = len({*plan.server_cpus, *plan.serving_cpus}) or os.cpu_count() or 1
    data_bytes = spec.usual_rows() * BYTES_PER_ROW
    return Sizing(memory_facts()["total_bytes"], spec.servers_up, cpus, data_bytes).limited_to(spec.memory)
