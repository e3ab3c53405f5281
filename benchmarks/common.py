"""What the benchmarks share: a private server, processes whose CPU time is counted, sysbench, Markdown tables."""

import argparse
import contextlib
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import stats

from dbversus.builds.store import obtain
from dbversus.builds.target import parse_target
from dbversus.dbms.sizes import BYTES_PER_ROW
from dbversus.errors import DbversusError, RunError, UsageError
from dbversus.home import public_dir
from dbversus.host.cgroups import CgroupV1, CgroupV2, create_cgroup
from dbversus.host.claims.lock import acquire_host
from dbversus.host.claims.registry import Registry
from dbversus.host.facts import memory_bytes
from dbversus.servers import create_server
from dbversus.servers.base import Placement, Server
from dbversus.servers.config.load import load_config
from dbversus.servers.config.sizing import Sizing
from dbversus.servers.postgres.server import PostgresServer
from dbversus.servers.process.engine import engine_binary
from dbversus.servers.process.guard import Guard
from dbversus.suites import load_suite, loads

Json = dict[str, Any]
Group = CgroupV1 | CgroupV2

LIKE_SYSBENCH: Mapping[str, Json] = {"postgres": {"like_libpq": True}, "mysql": {"cache_metadata": True}}
"""What an engine's address needs, by wire, to send and to ask for what sysbench's libraries do."""


@dataclass(frozen=True)
class Usage:
    """What a process has used from its start to its end, in seconds."""

    wall_s: float
    user_s: float
    system_s: float


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def make_parser(description: str | None, examples: str) -> argparse.ArgumentParser:
    """A parser whose help has the module's own words, and ends with examples."""
    return argparse.ArgumentParser(
        description=description, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def told(main: Callable[[], None]) -> None:
    """Runs `main`; what dbversus complains about, and Ctrl-C, end it with one sentence and the usual exit status."""
    try:
        main()
    except DbversusError as error:
        say(str(error))
        sys.exit(error.status)
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
    except BrokenPipeError:  # who reads has enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def own_cgroup() -> Iterator[Group]:
    """A control group for one server: its CPU time stays known when the processes that used it are gone."""
    group, note = create_cgroup(f"{os.getpid()}-benchmark")
    if group is None:
        raise RunError(f"CPU time of a whole server takes a control group: {note}.")
    try:
        yield group
    finally:
        group.remove()


def cgroup_cpu_ns(group: Group) -> int:
    """CPU time of all processes that are or were in the group."""
    if isinstance(group, CgroupV1):
        return int((group.cpuacct / "cpuacct.usage").read_text())
    fields = dict(line.split() for line in (group.path / "cpu.stat").read_text().splitlines())
    return int(fields["usage_usec"]) * 1000


@contextlib.contextmanager
def private_server(
    target: str, rows: int, accepted: Collection[str], cpus: Sequence[int] = (), group: Group | None = None
) -> Iterator[Server]:
    """A running server with an empty database on a private Unix socket; nothing is left of it afterwards.

    `target` as for `dbversus compare`: `postgres:17`, `/usr/lib/postgresql/15`; its DBMS is one of `accepted`. `cpus` pins
    all of its processes, `group` is the control group to put them into.
    """
    spec = parse_target(target)
    build = obtain(spec, say)
    if build.dbms not in accepted:
        raise UsageError(f"'{target}' is {build.dbms}; accepted here: {', '.join(accepted)}.")
    sizing = Sizing(memory_bytes(), 1, len(cpus) or os.cpu_count() or 1, rows * BYTES_PER_ROW)
    config = load_config(build.dbms, build.version, spec.configs, sizing)
    with acquire_host(True, "a benchmark", say=say), contextlib.ExitStack() as stack:
        # named after us: what a killed run leaves behind is found and removed by the next start of dbversus
        work_dir = public_dir("work", str(os.getpid()))
        stack.callback(shutil.rmtree, work_dir, ignore_errors=True)
        guard = stack.enter_context(Guard(engine_binary()))
        server = create_server(build, config, work_dir, [guard, Registry()])
        server.initialise()
        server.start(Placement(tuple(cpus), group))
        stack.callback(server.stop)
        say(f"{build.name} is running, CPUs {', '.join(map(str, cpus)) or 'not pinned'}")
        yield server


@contextlib.contextmanager
def private_postgres(target: str, rows: int, cpus: Sequence[int] = ()) -> Iterator[PostgresServer]:
    """As `private_server`, for what asks PostgreSQL itself."""
    with private_server(target, rows, ["postgres"], cpus) as server:
        assert isinstance(server, PostgresServer)
        yield server


def fill(server: Server, rows: int, group: Group | None = None) -> None:
    """Loads sbtest1 as dbversus loads it, lets the server pay its debt, and warms it."""
    say(f"loading {rows:,} rows")
    run_engine([engine_target(server, group), load_command(server, rows), {"cmd": "quit"}])
    server.settle(["sbtest1"])
    server.warm(["sbtest1"])


def engine_target(server: Server, group: Group | None = None, like_sysbench: bool = True) -> Json:
    """The engine's `target` command for `server`, never frozen: there is nothing to alternate with.

    `like_sysbench`: results' columns are told as they are to its libraries: by PostgreSQL with every execution, by MariaDB only
    when they change.
    """
    target = server.engine_target("t0", Placement((), group))
    if like_sysbench:
        target["address"] |= LIKE_SYSBENCH.get(target["wire"], {})
    return {"cmd": "target", **target, "freeze": {"kind": "none"}}


def load_command(server: Server, rows: int) -> Json:
    """The engine's `load` command for table sbtest1, as dbversus loads it."""
    suite = load_suite("sysbench")
    (table,) = loads(suite, rows, 1, server.table_sql)
    return {"cmd": "load", "target": "t0", "seed": 1, "table": table}


def slot_commands(target: Json, test: Json, cpu: int, slot: Json, seed: int = 1, slots: int = 1) -> list[Json]:
    """A life of the engine with one client on `cpu`: so many slots, each after one operation that is not counted."""
    how = {"clients": 1, "mode": "prepared", "cpus": [cpu], "tables": 1}
    opened = {"cmd": "open", "targets": ["t0"], "test": test, **how}
    rows = {"cmd": "rows", "seed": seed, "first_row": 0, "orders": [["t0"]] * slots, "settle": {"ops": 1}, "slot": slot}
    return [target, opened, rows, {"cmd": "quit"}]


def run_engine(commands: Sequence[Json], cpus: Sequence[int] = ()) -> tuple[list[Json], Usage]:
    """One life of the engine: all its answers, and what the whole process used."""
    text = "".join(json.dumps(command) + "\n" for command in commands)
    output, usage = run_process([str(engine_binary())], cpus, text)
    return engine_replies(output), usage


def engine_replies(output: str) -> list[Json]:
    """Its answers, a line each; RunError when one is that it refused."""
    replies: list[Json] = [json.loads(line) for line in output.splitlines()]
    for reply in replies:
        if error := reply.get("error"):
            raise RunError(f"The engine refused: {error['message']}.")
    return replies


def engine_slots(replies: Sequence[Json]) -> list[Json]:
    """All slots of all rows among the engine's answers."""
    return [slot for reply in replies for slot in reply.get("slots", [])]


def run_process(command: Sequence[str], cpus: Sequence[int] = (), text: str = "") -> tuple[str, Usage]:
    """Runs a process with `text` on its standard input; its standard output, and what it and its children used."""
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
        given.write(text.encode())
        given.seek(0)
        pin = (lambda: os.sched_setaffinity(0, cpus)) if cpus else None
        began = time.monotonic()
        process = subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, stderr=errors, preexec_fn=pin)
        assert process.stdout
        output = process.stdout.read().decode(errors="replace")
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        if process.returncode:
            errors.seek(0)
            words = (errors.read().decode(errors="replace") + output).strip().splitlines()
            raise RunError(f"{command[0]} left with status {process.returncode}: {' '.join(words[-5:])}")
    return output, Usage(wall_s, used.ru_utime, used.ru_stime)


def find_program(name: str, package: str, *folders: Path) -> str | None:
    """Path of a peer's program, looked for in `folders` first; says so when it is missing."""
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return str(folder / name)
    found = shutil.which(name)
    if not found:
        say(f"{name} was not found and is left out; Debian package {package} has it")
    return found


def need_sysbench() -> str:
    """Path of sysbench, for what is nothing without it."""
    program = find_program("sysbench", "sysbench")
    if program is None:
        raise RunError("There is nothing to measure without sysbench 1.0.20.")
    return program


def sysbench_command(program: str, script: str, address: Json, rows: int) -> list[str]:
    """A run of one of sysbench's own scripts with one client; how much of it, and `run`, are to be added."""
    return [
        program,
        script,
        *sysbench_address(address),
        "--tables=1",
        f"--table-size={rows}",
        "--threads=1",
        "--rand-type=uniform",
        "--range-size=100",
    ]


def sysbench_address(address: Json) -> list[str]:
    """The engine's `address` of a server on a Unix socket, as sysbench's options."""
    if "socket" in address:
        return [
            "--db-driver=mysql",
            f"--mysql-socket={address['socket']}",
            f"--mysql-user={address['user']}",
            f"--mysql-db={address['database']}",
        ]
    return [
        "--db-driver=pgsql",
        f"--pgsql-host={address['socket_dir']}",
        f"--pgsql-port={address['port']}",
        f"--pgsql-user={address['user']}",
        f"--pgsql-db={address['database']}",
    ]


def number_after(output: str, label: str) -> int:
    """The integer that follows `label`; "3/5" is 3. Raises RunError where there is no such line."""
    line = next((line for line in output.splitlines() if label in line), None)
    if line is None:
        raise RunError(f"No line with '{label}' in: {' '.join(output.split())[:300]}")
    return int(line.split(label)[1].split()[0].split("/")[0])


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval; infinite or NaN bounds: one value alone has none."""

    estimate: float
    low: float
    high: float

    def inside(self, low: float, high: float) -> bool:
        return low <= self.low and self.high <= high

    def outside(self, low: float, high: float) -> bool:
        return self.high < low or self.low > high

    def text(self, digits: int = 3) -> str:
        return f"{self.estimate:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def ratio_interval(logs: Sequence[float]) -> Interval:
    """exp of the mean of ln ratios, with Student's 95 % interval over them; NaN for none."""
    if not logs:
        return Interval(math.nan, math.nan, math.nan)
    if len(logs) < 2:
        return Interval(math.exp(logs[0]), -math.inf, math.inf)
    mean = statistics.fmean(logs)
    reach = float(stats.t.ppf(0.975, len(logs) - 1)) * statistics.stdev(logs) / math.sqrt(len(logs))
    return Interval(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach))


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are numbers."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """`median [min–max]`."""
    median = statistics.median(values)
    return f"{median:,.{digits}f} [{min(values):,.{digits}f}–{max(values):,.{digits}f}]"
