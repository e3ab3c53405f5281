#!/usr/bin/env python
"""Rows per second, and the client's CPU per row, of the Insert Benchmark's first step: dbversus-engine against a Python client.

Both insert the same number of rows in statements of 100 into an empty table with its primary key alone, one client on the
server's core, as in comparisons, as a whole process each, in turns; who comes first alternates. The peer, `insert_client.py`,
does what the reference's client does, with the same drivers: Debian's packages python3-psycopg2 and python3-mysqldb.
"""

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from common import (
    Json,
    Usage,
    engine_target,
    make_parser,
    markdown,
    private_server,
    run_engine,
    run_process,
    say,
    spread,
    told,
)

from dbversus.errors import RunError
from dbversus.host.pinning import place
from dbversus.servers.base import Server
from dbversus.suites import Suite, definition, load_suite, loads

EXAMPLE = """examples:
  benchmarks/insert_rate.py --server postgres:17 > insert.md
  benchmarks/insert_rate.py --server mariadb:10.11 --rows 2000000
"""
SUITE, STEP = "insert", "l.i0"
ROWS_PER_STATEMENT = 100
OWN, PEER = "dbversus-engine", "Python client"
DRIVERS = {"postgres": "psycopg2", "mysql": "MySQLdb"}

Inserter = Callable[[], Usage]


def empty_table(suite: Suite, server: Server, rows: int) -> Json:
    """The engine's `table` of the one that the step fills."""
    return loads(suite, rows, 1, server.table_sql)[0] | {"rows": 0}


def start_anew(target: Json, table: Json) -> None:
    drop = {"cmd": "query", "target": "t0", "sql": f"DROP TABLE IF EXISTS {table['name']}"}
    run_engine([target, drop, {"cmd": "load", "target": "t0", "seed": 1, "table": table}, {"cmd": "quit"}])


def rows_of(target: Json, table: Json) -> int:
    asked = {"cmd": "query", "target": "t0", "sql": f"SELECT count(*) FROM {table['name']}"}  # noqa: S608
    replies, _ = run_engine([target, asked, {"cmd": "quit"}])
    return int(next(reply["rows"][0][0] for reply in replies if "rows" in reply))


def own_inserter(target: Json, test: Json, rows: int, cpu: int) -> Inserter:
    opened = {
        "cmd": "open",
        "targets": ["t0"],
        "test": test,
        "clients": 1,
        "mode": "prepared",
        "cpus": [cpu],
        "tables": 1,
    }
    work = {"settle": {"ops": 0}, "slot": {"ops": rows // ROWS_PER_STATEMENT}}
    inserting = {"cmd": "rows", "seed": 1, "first_row": 0, "orders": [["t0"]], **work}
    return lambda: run_engine([target, opened, inserting, {"cmd": "quit"}], [cpu])[1]


def peer_inserter(python: str, wire: str, address: Json, table: str, rows: int, cpu: int) -> Inserter:
    where = [f"--socket={address.get('socket_dir', address.get('socket'))}", f"--port={address.get('port', 0)}"]
    whom = [f"--user={address['user']}", f"--database={address['database']}"]
    what = [f"--table={table}", f"--rows={rows}", f"--rows-per-commit={ROWS_PER_STATEMENT}"]
    program = str(Path(__file__).with_name("insert_client.py"))
    command = [python, program, f"--dbms={wire}", *where, *whom, *what]
    return lambda: run_process(command, [cpu])[1]


def python_with(driver: str) -> str:
    for python in (sys.executable, "/usr/bin/python3"):
        if (
            Path(python).exists()
            and not subprocess.run([python, "-c", f"import {driver}"], capture_output=True).returncode
        ):
            return python
    raise RunError(
        f"The peer needs {driver}: Debian's packages python3-psycopg2 and python3-mysqldb have both drivers."
    )


def measure(
    inserters: Mapping[str, Inserter], target: Json, table: Json, rows: int, rounds: int
) -> dict[str, list[Usage]]:
    figures: dict[str, list[Usage]] = {name: [] for name in inserters}
    for number in range(rounds):
        for name in sorted(inserters, reverse=number % 2 == 1):
            start_anew(target, table)
            figures[name].append(inserters[name]())
            if (found := rows_of(target, table)) != rows:
                raise RunError(f"{name} has left {found:,} rows; {rows:,} were expected.")
            say(f"round {number + 1} of {rounds}: {name} {rows / figures[name][-1].wall_s:,.0f} rows/s")
    return figures


def cpu_us(usage: Usage, rows: int) -> float:
    return (usage.user_s + usage.system_s) / rows * 1e6


def report(figures: Mapping[str, Sequence[Usage]], rows: int) -> str:
    lines = [
        [name, spread([rows / one.wall_s for one in runs], 0), spread([cpu_us(one, rows) for one in runs])]
        for name, runs in figures.items()
    ]
    pairs = list(zip(figures[OWN], figures[PEER], strict=True))
    rate = spread([peer.wall_s / own.wall_s for own, peer in pairs])
    cpu = spread([cpu_us(own, rows) / cpu_us(peer, rows) for own, peer in pairs])
    seconds = statistics.median(own.wall_s for own, _ in pairs)
    table = markdown(["client", "rows/s", "client CPU µs/row"], lines)
    return f"{table}\n\n{OWN} / {PEER}, per round: rows/s {rate}, client CPU per row {cpu}; {OWN} took {seconds:.1f} s."


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("--server", default="postgres:17", help="target: version or prefix (default: %(default)s)")
    parser.add_argument(
        "--placement",
        default="together",
        choices=("apart", "together"),
        help="clients on the server's core, or on one of their own (default: %(default)s)",
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of each run (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    rows = asked.rows - asked.rows % ROWS_PER_STATEMENT
    plan = place(1, asked.placement)
    cpu = plan.client_cpus[0]
    suite = load_suite(SUITE)
    with private_server(asked.server, rows, ["postgres", "mysql", "mariadb"], plan.server_cpus) as server:
        target = engine_target(server)
        table = empty_table(suite, server, rows)
        wire, address = target["wire"], target["address"]
        inserters = {
            OWN: own_inserter(target, definition(suite.tests[STEP], server.dbms, rows), rows, cpu),
            PEER: peer_inserter(python_with(DRIVERS[wire]), wire, address, table["name"], rows, cpu),
        }
        figures = measure(inserters, target, table, rows, asked.rounds)
        print(f"{server.build.name}, {rows:,} rows, {asked.rounds} runs each in turns, client on CPU {cpu}, ", end="")
        print(f"server on {', '.join(map(str, plan.server_cpus))}: median [min–max].\n")
        print(report(figures, rows))


if __name__ == "__main__":
    told(main)
