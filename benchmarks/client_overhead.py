#!/usr/bin/env python
"""CPU that load generators themselves need per operation: dbversus-engine against sysbench and pgbench.

All drive the same server, PostgreSQL or one of the MySQL family (then without pgbench), over its Unix socket with one client
and prepared statements. Server and client share one
core. Runs are short and interleaved, the order rotates from round to round. The CPU time of a client is that of its whole
process (wait4), less that of a run of the same program with a single operation. The kernel knows the sum of user and
system time exactly, but may estimate the parts by clock ticks: runs of the read-only transaction should not be short.
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import (
    Json,
    Usage,
    engine_slots,
    engine_target,
    fill,
    make_parser,
    markdown,
    private_server,
    run_engine,
    run_process,
    say,
    spread,
    told,
)
from peers import (
    ENGINE,
    PEERS,
    SERVERS,
    Amount,
    Generator,
    Workload,
    engine,
    engine_commands,
    generators,
    test_of,
    workloads,
)

from dbversus.errors import UsageError
from dbversus.host.pinning import place
from dbversus.servers.base import Server

EXAMPLE = """example:
  benchmarks/client_overhead.py --server postgres:17 --rounds 9 --seconds 4 > overhead.md
  benchmarks/client_overhead.py --server mariadb:10.11 > overhead-mariadb.md
  benchmarks/client_overhead.py --engine /tmp/dist/dbversus-engine --rounds 25 --test point-query
"""
ENGINE_SLOTS = "dbversus-engine, 50 ms slots with accounting"
NULL = "dbversus-engine on `null` (the floor)"
SLOT_MS = 50
OTHER = "dbversus-engine, the other build"
STARTS = 3


@dataclass(frozen=True)
class Run:
    """One run of one client: operations and CPU seconds."""

    ops: int
    usage: Usage


@dataclass(frozen=True)
class PerOp:
    """A run less its start: CPU µs per operation, operations per second of the run's nominal length."""

    user_us: float
    system_us: float
    ops_per_s: float

    @property
    def total_us(self) -> float:
        return self.user_us + self.system_us


Client = Callable[[Amount], Run]


def client(generator: Generator, cpu: int) -> Client:
    def run(amount: Amount) -> Run:
        output, usage = run_process(generator.command(amount), [cpu], generator.given(amount))
        return Run(generator.done(output), usage)

    return run


def null_client(test: Json, cpu: int) -> Client:
    """The echo server lives in the engine's process, so only the engine's own count of its client thread will do."""
    target = {"cmd": "target", "name": "t0", "wire": "null", "address": {}}

    def run(amount: Amount) -> Run:
        replies, usage = run_engine(engine_commands(target, test, cpu, amount), [cpu])
        slots = engine_slots(replies)
        user_s, system_s = (sum(slot[f"client_{kind}_ns"] for slot in slots) / 1e9 for kind in ("user", "system"))
        return Run(sum(slot["ops"] for slot in slots), Usage(usage.wall_s, user_s, system_s))

    return run


def make_clients(
    server: Server, workload: Workload, rows: int, cpu: int, folder: Path, other: Path | None
) -> dict[str, Client]:
    """The clients there are, by name; with an `other` build of the engine, that and the usual one alone."""
    test = test_of(server, workload, rows)
    if other:
        builds = {ENGINE: None, OTHER: other}
        return {name: client(engine(engine_target(server), test, cpu, None, one), cpu) for name, one in builds.items()}
    own = {
        ENGINE_SLOTS: client(engine(engine_target(server), test, cpu, SLOT_MS), cpu),
        NULL: null_client(test, cpu),
    }
    found = generators(server, workload, rows, cpu, folder)
    return {**{name: client(generator, cpu) for name, generator in found.items()}, **own}


def measure(clients: dict[str, Client], rounds: int, seconds: int) -> dict[str, list[PerOp]]:
    """Interleaved runs, the order rotated by one each round, so that no client always follows the same one."""
    names = list(clients)
    starts = {name: [clients[name](Amount(ops=1)) for _ in range(STARTS)] for name in names}
    figures: dict[str, list[PerOp]] = {name: [] for name in names}
    for number in range(rounds):
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            figures[name].append(per_op(clients[name](Amount(seconds)), starts[name], seconds))
        say(
            f"round {number + 1} of {rounds}: "
            + ", ".join(f"{name} {figures[name][-1].total_us:.2f} µs" for name in names)
        )
    return figures


def per_op(run: Run, starts: Sequence[Run], seconds: int) -> PerOp:
    user_s = run.usage.user_s - statistics.median(start.usage.user_s for start in starts)
    system_s = run.usage.system_s - statistics.median(start.usage.system_s for start in starts)
    return PerOp(user_s / run.ops * 1e6, system_s / run.ops * 1e6, run.ops / seconds)


def report(workload: Workload, figures: dict[str, list[PerOp]]) -> str:
    rows = [
        [
            name,
            spread([one.user_us for one in runs]),
            spread([one.system_us for one in runs]),
            spread([one.total_us for one in runs]),
            f"{statistics.median(one.ops_per_s for one in runs):,.0f}",
        ]
        for name, runs in figures.items()
    ]
    header = ["client", "user µs/op", "system µs/op", "user + system µs/op", "op/s"]
    return f"### {workload.title}\n\n{markdown(header, rows)}\n\n{ratios(figures)}\n"


def ratios(figures: dict[str, list[PerOp]]) -> str:
    """The engine against the better of the peers, per round; which peer is better is decided by medians."""
    peers = [name for name in (*PEERS, OTHER) if name in figures]
    if not peers:
        return "No peer was found, so there are no ratios."
    lines = []
    for title, figure in (("user", _user_us), ("user + system", _total_us)):
        better = min(peers, key=lambda name: statistics.median(map(figure, figures[name])))
        pairs = [(figure(own), figure(peer)) for own, peer in zip(figures[ENGINE], figures[better], strict=True)]
        per_round = [own / peer for own, peer in pairs if peer > 0]
        lines.append([f"{title}, {ENGINE} / {better}", spread(per_round, 3) if per_round else "runs too short"])
    return markdown(["ratio per round", "median [min–max]"], lines)


def _user_us(one: PerOp) -> float:
    return one.user_us


def _total_us(one: PerOp) -> float:
    return one.total_us


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("--server", default="postgres:17", help="target: version or prefix (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the table (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="runs of each client (default: %(default)s)")
    parser.add_argument("--seconds", type=int, default=4, help="length of a run, whole seconds (default: %(default)s)")
    parser.add_argument(
        "--engine", type=Path, help="another build of the engine, beside the usual one in place of peers"
    )
    parser.add_argument("--test", choices=[one.test for one in workloads(1)], help="only this one (default: all)")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    if asked.engine and not os.access(asked.engine, os.X_OK):
        raise UsageError(f"{asked.engine} is no program; --engine names a build of dbversus-engine.")
    cpu = place(1, "together").server_cpus[0]
    with private_server(asked.server, asked.rows, SERVERS, [cpu]) as server, tempfile.TemporaryDirectory() as folder:
        fill(server, asked.rows)
        print(f"{server.build.name}, {asked.rows:,} rows, 1 client, all on CPU {cpu}, ", end="")
        print(f"{asked.rounds} interleaved runs of {asked.seconds} s each: median [min–max].\n")
        for workload in (one for one in workloads(asked.rows) if asked.test in (None, one.test)):
            clients = make_clients(server, workload, asked.rows, cpu, Path(folder), asked.engine)
            print(report(workload, measure(clients, asked.rounds, asked.seconds)), flush=True)


if __name__ == "__main__":
    told(main)
