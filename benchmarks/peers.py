"""Load generators that do the same work on the same server: the engine of dbversus, sysbench, pgbench."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from common import (
    Json,
    engine_replies,
    engine_slots,
    engine_target,
    find_program,
    number_after,
    slot_commands,
    sysbench_command,
)

from dbversus.servers.base import Server
from dbversus.servers.process.engine import engine_binary
from dbversus.suites import definition, load_suite

ENGINE = "dbversus-engine"
PEERS = ("sysbench", "pgbench")
SERVERS = ("postgres", "mysql", "mariadb", "myrocks")


@dataclass(frozen=True)
class Amount:
    """How much a generator is to do: so many seconds or, where they are 0, so many operations."""

    seconds: int = 0
    ops: int = 1


@dataclass(frozen=True)
class Generator:
    """A program: its command line and standard input for an amount, and the operations that its output tells of."""

    command: Callable[[Amount], list[str]]
    done: Callable[[str], int]
    given: Callable[[Amount], str] = lambda _: ""


@dataclass(frozen=True)
class Workload:
    """The same work, said in each client's own way; `statements`: of one operation, without BEGIN and COMMIT."""

    title: str
    test: str
    statements: int
    sysbench: str
    pgbench_script: str


def workloads(rows: int) -> list[Workload]:
    point = f"\\set id random(1, {rows})\nSELECT c FROM sbtest1 WHERE id = :id;\n"
    bounds = f"\\set low random(1, {rows})\n\\set high :low + 99\n"
    between = "FROM sbtest1 WHERE id BETWEEN :low AND :high"
    ranges = [
        f"SELECT c {between};",
        f"SELECT SUM(k) {between};",
        f"SELECT c {between} ORDER BY c;",
        f"SELECT DISTINCT c {between} ORDER BY c;",
    ]
    read_only = "".join(["BEGIN;\n", point * 10, *(f"{bounds}{sql}\n" for sql in ranges), "COMMIT;\n"])
    return [
        Workload("Point query, prepared", "point-query", 1, "oltp_point_select", point),
        Workload(
            "Read-only, one transaction of 16 statements, ranges of 100 rows",
            "read-only-100",
            14,
            "oltp_read_only",
            read_only,
        ),
    ]


def generators(server: Server, workload: Workload, rows: int, cpu: int, folder: Path) -> dict[str, Generator]:
    """Those that there are, by name; `folder` gets their scripts."""
    target = engine_target(server)
    found = {ENGINE: engine(target, test_of(server, workload, rows), cpu)}
    if program := find_program("sysbench", "sysbench"):
        found["sysbench"] = _sysbench(program, workload, target["address"], rows)
    if server.dbms != "postgres":
        return found
    if program := find_pgbench(server):
        script = folder / f"{workload.test}.pgbench"
        script.write_text(workload.pgbench_script)
        found["pgbench"] = _pgbench(program, script, target["address"])
    return found


def test_of(server: Server, workload: Workload, rows: int) -> Json:
    return definition(load_suite("sysbench").tests[workload.test], server.dbms, rows)


def engine(target: Json, test: Json, cpu: int, slot_ms: int | None = None, program: Path | None = None) -> Generator:
    """One slot of the whole length, or as many of `slot_ms` as fill it; `program`: not the usual build of the engine."""
    return Generator(
        lambda _: [str(program or engine_binary())],
        lambda output: sum(slot["ops"] for slot in engine_slots(engine_replies(output))),
        lambda amount: "".join(json.dumps(one) + "\n" for one in engine_commands(target, test, cpu, amount, slot_ms)),
    )


def engine_commands(target: Json, test: Json, cpu: int, amount: Amount, slot_ms: int | None = None) -> list[Json]:
    if not amount.seconds:
        return slot_commands(target, test, cpu, {"ops": amount.ops})
    length_ms = slot_ms or amount.seconds * 1000
    slots = max(1, amount.seconds * 1000 // length_ms)
    return slot_commands(target, test, cpu, {"ms": length_ms, "min_ops": 1}, slots=slots)


def _sysbench(program: str, workload: Workload, address: Json, rows: int) -> Generator:
    common = sysbench_command(program, workload.sysbench, address, rows)

    def command(amount: Amount) -> list[str]:
        events = 0 if amount.seconds else amount.ops
        return [*common, f"--events={events}", f"--time={amount.seconds}", "run"]

    return Generator(command, lambda output: number_after(output, "transactions:"))


def _pgbench(program: str, script: Path, address: Json) -> Generator:
    common = [program, "--no-vacuum", "--protocol=prepared", "--client=1", "--jobs=1", f"--file={script}"]
    common += [f"--host={address['socket_dir']}", f"--port={address['port']}", f"--username={address['user']}"]

    def command(amount: Amount) -> list[str]:
        length = f"--time={amount.seconds}" if amount.seconds else f"--transactions={amount.ops}"
        return [*common, length, address["database"]]

    return Generator(command, lambda output: number_after(output, "number of transactions actually processed:"))


def find_pgbench(server: Server) -> str | None:
    """The build's own, or the newest of the host: what PATH has on Debian is a Perl script that looks for it."""
    of_host = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name), reverse=True
    )
    return find_program("pgbench", "postgresql", server.build.prefix / "bin", *of_host)
