"""Rigs whose engine and servers are made up: a test tells what they answer, and when they fail."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from dbversus.builds.model import Build
from dbversus.builds.target import labels, parse_target
from dbversus.dbms.sql.table import Table
from dbversus.errors import RunError
from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.crew.coordinator import Ledger
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.plan.progress import Progress, fold
from dbversus.experiment.rig.engine import Engine, EngineGone, EngineRefused, Reply
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.host.pinning import PlacementPlan
from dbversus.results.records import AnyRecord
from dbversus.results.schema import JOURNAL
from dbversus.results.write import Journal
from dbversus.servers.base import Executed, Execution, Placement, ServerConfig
from dbversus.servers.log_event import LogEvent
from dbversus.servers.objects import Moment, ObjectFigures
from dbversus.servers.postgres.events import events_in
from dbversus.suites.load import load_suite

from ..journals import HOST
from ..silent import Silent

ELAPSED_NS = 50_000_000


class FakeEngine:
    """Does all that it is asked for.

    `failures`: command → what its next calls fail with (None: they do not). `during`: command → what happens meanwhile.
    `checksums`: of the answers of targets, where they are not as all others'. `stops`: why the next `rows` end before any row.
    `host`: what the host does in all rows. `cut`: target → operations of its roles, where it does not get a step done.
    """

    user = None

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.failures: defaultdict[str, list[RunError | None]] = defaultdict(list)
        self.during: dict[str, Callable[[], None]] = {}
        self.checksums: dict[str, str] = {}
        self.stops: list[dict[str, Any]] = []
        self.host = {"wall_ns": ELAPSED_NS, "foreign_cpu_ns": 0, "steal_ns": 0}
        self.cut: dict[str, dict[str, int]] = {}
        self.known: set[str] = set()
        self.opened: list[str] = []
        self.closed = False

    def asked(self, command: str) -> list[dict[str, Any]]:
        """Fields of all calls of a command."""
        return [fields for name, fields in self.calls if name == command]

    def call(self, command: str, **fields: Any) -> Reply:
        return list(self.stream(command, **fields))[-1]

    def stream(self, command: str, **fields: Any) -> Iterator[Reply]:
        self.calls.append((command, fields))
        self.during.get(command, lambda: None)()
        failure = self.failures[command].pop(0) if self.failures[command] else None
        if failure:
            raise failure
        yield from getattr(self, f"_{command}", lambda _: [{"done": True}])(fields)

    def close(self) -> None:
        self.closed = True

    def _target(self, fields: dict[str, Any]) -> Iterator[Reply]:
        if fields["name"] in self.known:
            raise EngineRefused("usage", f"there is a target {fields['name']} already", fields["name"])
        self.known.add(fields["name"])
        yield {"done": True}

    def _drain(self, fields: dict[str, Any]) -> Iterator[Reply]:
        yield {"idle": True, "elapsed_ns": 1, "done": True}

    def _drop(self, fields: dict[str, Any]) -> Iterator[Reply]:
        if fields["target"] not in self.known:
            raise EngineRefused("usage", f"there is no target {fields['target']}", None)
        self.known.remove(fields["target"])
        yield {"done": True}

    def _open(self, fields: dict[str, Any]) -> Iterator[Reply]:
        self.opened = fields["targets"]
        yield {"backends": {name: [] for name in self.opened}, "done": True}

    def _check(self, _: dict[str, Any]) -> Iterator[Reply]:
        answers = {
            name: {"rows": 20, "affected": 0, "checksum": self.checksums.get(name, "9f"), "statements": []}
            for name in self.opened
        }
        yield {"targets": answers, "done": True}

    def _load(self, fields: dict[str, Any]) -> Iterator[Reply]:
        yield {"rows": fields["table"]["rows"], "elapsed_ns": ELAPSED_NS, "done": True}

    def _cut(self, target: str) -> dict[str, Any]:
        roles = {role: {"ops": ops} for role, ops in self.cut.get(target, {}).items()}
        return {"cut": True, "roles": roles} if roles else {}

    def _rows(self, fields: dict[str, Any]) -> Iterator[Reply]:
        if self.stops:
            yield {"stopped": self.stops.pop(0), "done": True}
            return
        for row, order in enumerate(fields["orders"], fields["first_row"]):
            slots = [
                {"target": name, "settle_ops": 1, "ops": fields["slot"].get("ops", 100), "elapsed_ns": ELAPSED_NS}
                | self._cut(name)
                for name in order
            ]
            yield {"tag": fields.get("tag"), "row": row, "order": order, "host": self.host, "slots": slots}
        yield {"latency": dict.fromkeys(self.opened, "HISTFAAAA"), "done": True}


class FakeServer:
    """A server of which nothing is there but what a rig asks for. `root_pid` as of an embedded DBMS."""

    dbms = "postgres"
    deferred_work_s = 0.0

    def __init__(self, folder: Path, number: int):
        self.build = Build("postgres", "17.1", "path", Path("/opt/postgres"), checksum=f"checksum {number}")
        self.config = ServerConfig("", {})
        self.data_dir = folder / f"t{number}" / "data"
        self.notes: list[str] = []
        self.root_pid: int | None = None
        self.running = True
        self.starts = 0
        self.created = 0
        self.log = ""

    def initialise(self) -> None:
        self.created += 1
        self.data_dir.mkdir(parents=True)
        (self.data_dir / "PG_VERSION").write_text("17")

    def start(self, placement: Placement) -> None:
        self.starts += 1
        self.running = True

    def stop(self) -> None:
        self.running = False

    kill = stop

    def thaw(self) -> None: ...

    def await_counts(self) -> None: ...

    def is_running(self) -> bool:
        return self.running

    def vacuum(self, tables: Sequence[str]) -> dict[str, float]:
        return {}

    def warm(self, tables: Sequence[str]) -> None: ...

    def settle(self, tables: Sequence[str]) -> dict[str, float]:
        return {}

    def debt(self) -> dict[str, int]:
        return {}

    def state(self, tables: Sequence[Table], *, counted: bool) -> dict[str, Any]:
        return {}

    def sizes(self) -> dict[str, int]:
        return {}

    def space(self) -> dict[str, int]:
        return {"database_bytes": 4096, "data_dir_bytes": 8192}

    def log_tail(self, lines: int = 40) -> str:
        return "its last words"

    def log_end(self) -> int:
        return len(self.log)

    def log_since(self, begin: int) -> str:
        return self.log[begin:]

    def events_in(self, log: str) -> list[LogEvent]:
        return events_in(log)

    def counters(self) -> dict[str, float]:
        return {"pages": 7.0 * (1 + self.starts)}

    def objects(self, moment: Moment) -> ObjectFigures:
        return ObjectFigures()

    def plan(self, sql: str, session_sql: Sequence[str] = ()) -> str:
        return f"Result: {sql}"

    def executed_plans(self, statements: Sequence[Execution], session_sql: Sequence[str]) -> list[Executed]:
        return [Executed(f"Executed: {statement.numbered or statement.sql}") for statement in statements]

    def engine_target(self, name: str, placement: Placement) -> dict[str, Any]:
        return {"name": name, "wire": "null", "address": {}, "freeze": {"kind": "none"}}

    def table_sql(self, table: Table) -> tuple[list[str], list[str]]:
        return [f"CREATE TABLE {table.name}"], []


@dataclass
class _Kept:
    """Takes records as a run does."""

    journal: Journal
    progress: Progress

    def __call__(self, record: AnyRecord) -> None:
        self.journal.append(record)
        fold(self.progress, record)


def ledger_of(rig: Rig) -> Ledger:
    """On the same journal."""
    return Ledger(rig.contest, cast(_Kept, rig.records).journal.append)


def make_rig(
    folder: Path,
    targets: int = 2,
    tests: str = "point-query,update-index",
    engines: Sequence[FakeEngine] = (),
    **choices: Any,
) -> Rig:
    """A rig with running targets that the engine knows. `engines`: the first and its successors; `choices`: of the spec."""
    texts = ["postgres:17"] * targets
    defaults = {"table_size": 1000, "rows": 2, "seconds": 1, "looks": [2]}
    spec = make_spec({"targets": texts, "tests": tests, **defaults, **choices})
    specs = [parse_target(text) for text in texts]
    made = [_target(folder, number, label, specs[number]) for number, label in enumerate(labels(specs))]
    given = iter(engines)

    def new_engine() -> Engine:
        return cast(Engine, next(given, None) or FakeEngine())

    suite = load_suite("sysbench").select(tests)
    progress = Progress()
    kept = _Kept(Journal(folder, HOST), progress)
    rig = Rig(spec, suite, made, kept, folder, progress, new_engine, PlacementPlan("none"), Silent())
    for target in made:
        rig.introduce(target)
    return rig


def _target(folder: Path, number: int, label: str, spec: Any) -> Target:
    server: Any = FakeServer(folder, number)
    return Target(f"t{number}", label, spec, server.build, server, Placement())


def engine_of(rig: Rig) -> FakeEngine:
    return cast(FakeEngine, rig.engine)


def server_of(rig: Rig, name: str) -> FakeServer:
    return cast(FakeServer, rig.by_name(name).server)


def case_of(rig: Rig, name: str) -> Case:
    return next(case for case in rig.contest.all_cases if case.name == name)


def records(rig: Rig, kind: str) -> list[dict[str, Any]]:
    """What the rig has journaled of a type."""
    lines = (rig.folder / JOURNAL).read_text().splitlines()
    return [record for record in map(json.loads, lines) if record["type"] == kind]


def refused(target: str, words: str = "function f does not exist") -> EngineRefused:
    """A statement that the target's server does not take."""
    return EngineRefused("server", words, target)


def gone() -> EngineGone:
    return EngineGone("The engine (pid 7) was killed by signal 9.")
