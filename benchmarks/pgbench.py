#!/usr/bin/env python
"""Does a server do for a script of pgbench, through `dbversus suites from-pgbench`, what it does for pgbench itself?

Both drive the same PostgreSQL on the same tables, which dbversus has loaded, with one client and prepared statements. They take
turns with the same number of transactions, each on a connection of its own; who comes first alternates, and before each turn
the server pays its debt (vacuum, checkpoint). Server CPU is that of the server's control group for the whole turn, less that
of a turn of one transaction: pgbench connects twice, dbversus once. A ratio is the mean over pairs of rounds, one in each
order, with Student's 95 % interval. Before that, the server's own counters tell whether it does the same work for both.

dbversus asks for the result's columns with every execution and sends integers as text, as pgbench does through libpq.
"""

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from client_overhead import newest_debian_folders
from common import (
    Group,
    Json,
    cgroup_cpu_ns,
    engine_target,
    find_program,
    make_parser,
    markdown,
    number_after,
    own_cgroup,
    private_server,
    ratio_interval,
    run_engine,
    run_process,
    say,
    spread,
    told,
)
from fidelity import REST_S, Figures, agreement, work_difference, work_of
from in_turns import Client, EngineClient

from dbversus.errors import RunError, UsageError
from dbversus.host.pinning import place
from dbversus.servers.base import Server
from dbversus.suites import Suite, definition, load_suite, loads
from dbversus.suites.writing.pgbench.builtin import SCRIPTS
from dbversus.suites.writing.pgbench.suite import find_scripts, write_suite

EXAMPLE = """example:
  benchmarks/pgbench.py > pgbench.md
  benchmarks/pgbench.py --server postgres:16 --script select-only --rounds 60
"""
ROWS_OF_SCALE = 100_000
FIRST_SEED = 3
SINGLES = 11
"""Turns of one transaction; their median is what connecting costs."""
Numbers = dict[str, list[float]]


@dataclass
class PgbenchTurns:
    command: Sequence[str]
    cpu: int
    statements: int = 0

    def run(self) -> None:
        """One turn: pgbench from its start to its end."""
        output, _ = run_process(self.command, [self.cpu])
        if number_after(output, "number of failed transactions:"):
            raise RunError(f"pgbench had failed transactions: {' '.join(output.split())}")


@dataclass(frozen=True)
class PgbenchClient:
    program: str
    script: str
    address: Json
    cpu: int

    @contextmanager
    def connected(self, ops: int, turns: int, seed: int) -> Iterator[PgbenchTurns]:
        """Each turn connects anew."""
        address = self.address
        yield PgbenchTurns(
            [
                *(self.program, "--no-vacuum", "--protocol=prepared", "--client=1", "--jobs=1"),
                *(f"--builtin={self.script}", f"--transactions={ops}", f"--random-seed={seed}"),
                *(f"--host={address['socket_dir']}", f"--port={address['port']}", f"--username={address['user']}"),
                address["database"],
            ],
            self.cpu,
        )


def suite_of(script: str, scale: int) -> Suite:
    """The suite as `from-pgbench` writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pgbench.toml"
        path.write_text(write_suite(find_scripts([script]), scale, {}).text)
        return load_suite(path)


def load(server: Server, suite: Suite, scale: int, group: Group) -> list[str]:
    """Loads all tables, and gives their names."""
    tables = loads(suite, ROWS_OF_SCALE * scale, 1, server.table_sql)
    commands = [{"cmd": "load", "target": "t0", "seed": 1, "table": table} for table in tables]
    run_engine([engine_target(server, group), *commands, {"cmd": "quit"}])
    return [table["name"] for table in tables]


def turn_cpu_ns(server: Server, group: Group, tables: Sequence[str], client: Client, ops: int, seed: int) -> int:
    """Server CPU of a whole turn, which begins without debt."""
    server.settle(tables)
    before = cgroup_cpu_ns(group)
    with client.connected(ops, 1, seed) as turns:
        turns.run()
    time.sleep(REST_S)
    return cgroup_cpu_ns(group) - before


def cpu_us_per_op(
    server: Server, group: Group, tables: Sequence[str], clients: Mapping[str, Client], ops: int, rounds: int
) -> Numbers:
    """Server CPU per transaction, µs, of every turn, less that of a turn of one transaction; two rounds only warm up."""

    def turn(name: str, ops: int, number: int) -> int:
        return turn_cpu_ns(server, group, tables, clients[name], ops, FIRST_SEED + number)

    figures: Numbers = {name: [] for name in clients}
    single_ns = {name: statistics.median(turn(name, 1, number) for number in range(SINGLES)) for name in clients}
    for number in range(-2, rounds):
        for name in sorted(clients, reverse=number % 2 == 1):
            cpu_ns = turn(name, ops, number)
            if number >= 0:
                figures[name].append((cpu_ns - single_ns[name]) / (ops - 1) / 1e3)
        if number >= 0:
            say(
                f"round {number + 1} of {rounds}: "
                + ", ".join(f"{one} {all_[-1]:.1f} µs" for one, all_ in figures.items())
            )
    return figures


def logs_of_pairs(own: Sequence[float], peer: Sequence[float]) -> list[float]:
    """ln own/peer, the mean of each two rounds: in one of them the one comes first, in the other the other."""
    logs = [math.log(one / other) for one, other in zip(own, peer, strict=True)]
    return [statistics.fmean(pair) for pair in zip(logs[::2], logs[1::2], strict=True)]


def report(script: str, figures: Numbers, work: Mapping[str, Figures]) -> str:
    ratio = ratio_interval(logs_of_pairs(figures["dbversus"], figures["pgbench"]))
    name, share = work_difference(work["dbversus"].work_per_op, work["pgbench"].work_per_op)
    row = [
        script,
        f"differs by {share:.1%} ({name})" if share > 0.01 else f"the same ({share:.1%})",
        *(spread(figures[client], 1) for client in ("dbversus", "pgbench")),
        ratio.text(),
        agreement(ratio),
    ]
    header = ["script", "work", "dbversus µs/op", "pgbench µs/op", "dbversus ÷ pgbench", "agrees within 2 %"]
    return markdown(header, [row])


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("--server", default="postgres:17", help="target: version or prefix (default: %(default)s)")
    parser.add_argument(
        "--script", default="tpcb-like", choices=tuple(SCRIPTS), help="of pgbench (default: %(default)s)"
    )
    parser.add_argument("--scale", type=int, default=10, help="pgbench's scale (default: %(default)s)")
    parser.add_argument(
        "--rounds", type=int, default=40, help="turns of each client, an even number (default: %(default)s)"
    )
    parser.add_argument(
        "--placement",
        default="apart",
        choices=("apart", "together"),
        help="the client on a core of its own, or on the server's, where it takes part of its cache (default: %(default)s)",
    )
    parser.add_argument("--transactions", type=int, default=5000, help="of a turn (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    if asked.rounds < 4 or asked.rounds % 2 or asked.transactions < 2:
        raise UsageError("--rounds takes an even number from 4 on, --transactions 2 or more.")
    suite = suite_of(asked.script, asked.scale)
    plan = place(1, asked.placement)
    server_cpu, cpu = plan.server_cpus[0], plan.client_cpus[0]
    rows = ROWS_OF_SCALE * asked.scale
    with own_cgroup() as group, private_server(asked.server, rows, ["postgres"], [server_cpu], group) as server:
        pgbench = find_program("pgbench", "postgresql", server.build.prefix / "bin", *newest_debian_folders())
        if pgbench is None:
            raise RunError("There is nothing to measure without pgbench.")
        tables = load(server, suite, asked.scale, group)
        target = engine_target(server, group)
        clients: dict[str, Client] = {
            "dbversus": EngineClient(target, definition(suite.tests[asked.script], "postgres", rows), cpu),
            "pgbench": PgbenchClient(pgbench, asked.script, target["address"], cpu),
        }
        server.settle(tables)
        work = {name: work_of(server, client, asked.transactions, 1) for name, client in clients.items()}
        figures = cpu_us_per_op(server, group, tables, clients, asked.transactions, asked.rounds)
    print(f"{server.build.name}, scale {asked.scale}, 1 client on CPU {cpu}, server on {server_cpu}, ", end="")
    print(f"{asked.rounds} rounds of {asked.transactions} transactions: median [min–max].\n")
    print(report(asked.script, figures, work))


if __name__ == "__main__":
    told(main)
