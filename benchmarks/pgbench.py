#!/usr/bin/env python
"""Does a server do for a script of pgbench, through `dbversus suites from-pgbench`, what it does for pgbench itself?

Both drive the same PostgreSQL on the same tables, which dbversus has loaded, with one client and prepared statements. They take
turns on a connection each, a fraction of a second long, so that the host and the server's debt hit both alike; who comes first
alternates. Server CPU is that of the server's control group during a turn. A round has new connections, and begins when the
server has paid its debt (vacuum, checkpoint). A ratio is the mean over rounds, with Student's 95 % interval. Before that, the
server's own counters tell whether it does the same work for both.

Both clients share the server's core, as in comparisons. Across cores more than half of the server's CPU goes into waking the
client, which depends on how soon the client sleeps. On one core a client that answers at once saves the server a sleep: under
strace PostgreSQL finds the engine's next statement there, where it calls recv and epoll_wait once more for pgbench's.

dbversus asks for the result's columns with every execution and sends integers as text, as pgbench does through libpq.
"""

import argparse
import math
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from common import (
    Group,
    cgroup_cpu_ns,
    engine_target,
    make_parser,
    markdown,
    own_cgroup,
    private_server,
    ratio_interval,
    run_engine,
    say,
    spread,
    told,
)
from fidelity import Figures, agreement, work_difference, work_of
from in_turns import Client, EngineClient, PgbenchClient
from peers import find_pgbench

from dbversus.errors import RunError, UsageError
from dbversus.host.pinning import place
from dbversus.servers.base import Server
from dbversus.suites import Suite, definition, load_suite, loads
from dbversus.suites.writing.pgbench.builtin import SCRIPTS
from dbversus.suites.writing.pgbench.suite import find_scripts, write_suite

EXAMPLE = """example:
  benchmarks/pgbench.py > pgbench.md
  benchmarks/pgbench.py --server postgres:16 --script select-only --transactions 8000
"""
ROWS_OF_SCALE = 100_000
FIRST_SEED = 3
WORK_OPS = 5000
Numbers = dict[str, list[float]]


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


def round_cpu_ns(group: Group, clients: Mapping[str, Client], ops: int, turns: int, number: int) -> dict[str, int]:
    """Server CPU of all turns of a round but each client's first, which prepares its statements."""
    spent_ns = dict.fromkeys(clients, 0)
    with ExitStack() as stack:
        connected = {
            name: stack.enter_context(client.connected(ops, turns + 1, FIRST_SEED + number))
            for name, client in clients.items()
        }
        for turn in range(turns + 1):
            for name in sorted(clients, reverse=(number + turn) % 2 == 1):
                before = cgroup_cpu_ns(group)
                connected[name].run()
                spent_ns[name] += (cgroup_cpu_ns(group) - before) if turn else 0
    return spent_ns


def cpu_us_per_op(
    server: Server, group: Group, tables: Sequence[str], clients: Mapping[str, Client], asked: argparse.Namespace
) -> Numbers:
    """Server CPU per transaction, µs, of every round; one more round only warms up."""
    figures: Numbers = {name: [] for name in clients}
    for number in range(-1, asked.rounds):
        server.settle(tables)
        spent_ns = round_cpu_ns(group, clients, asked.transactions, asked.turns, number)
        if number >= 0:
            for name in clients:
                figures[name].append(spent_ns[name] / (asked.transactions * asked.turns) / 1e3)
            shown = ", ".join(f"{name} {values[-1]:.1f} µs" for name, values in figures.items())
            say(f"round {number + 1} of {asked.rounds}: {shown}")
    return figures


def report(script: str, figures: Numbers, work: Mapping[str, Figures]) -> str:
    pairs = zip(figures["dbversus"], figures["pgbench"], strict=True)
    ratio = ratio_interval([math.log(own / peer) for own, peer in pairs])
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
    parser.add_argument("--rounds", type=int, default=40, help="new connections of each client (default: %(default)s)")
    parser.add_argument("--turns", type=int, default=8, help="of each client in a round (default: %(default)s)")
    parser.add_argument(
        "--placement",
        default="together",
        choices=("apart", "together"),
        help="clients on the server's core, or on one of their own (default: %(default)s)",
    )
    parser.add_argument("--transactions", type=int, default=1000, help="of a turn (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    if asked.rounds < 4 or asked.turns < 1 or asked.transactions < 1:
        raise UsageError("--rounds takes 4 or more, --turns and --transactions 1 or more.")
    suite = suite_of(asked.script, asked.scale)
    plan = place(1, asked.placement)
    server_cpu, cpu = plan.server_cpus[0], plan.client_cpus[0]
    rows = ROWS_OF_SCALE * asked.scale
    with own_cgroup() as group, private_server(asked.server, rows, ["postgres"], [server_cpu], group) as server:
        pgbench = find_pgbench(server)
        if pgbench is None:
            raise RunError("There is nothing to measure without pgbench.")
        tables = load(server, suite, asked.scale, group)
        target = engine_target(server, group)
        clients: dict[str, Client] = {
            "dbversus": EngineClient(target, definition(suite.tests[asked.script], "postgres", rows), cpu),
            "pgbench": PgbenchClient(pgbench, SCRIPTS[asked.script], {"scale": asked.scale}, target["address"], cpu),
        }
        server.settle(tables)
        work = {name: work_of(server, client, WORK_OPS, 1) for name, client in clients.items()}
        figures = cpu_us_per_op(server, group, tables, clients, asked)
    print(f"{server.build.name}, scale {asked.scale}, 1 client on CPU {cpu}, server on {server_cpu}, ", end="")
    print(f"{asked.rounds} rounds of {asked.turns} turns of {asked.transactions} transactions: median [min–max].\n")
    print(report(asked.script, figures, work))


if __name__ == "__main__":
    told(main)
