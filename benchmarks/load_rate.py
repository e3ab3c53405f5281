#!/usr/bin/env python
"""Rows per second of a load with its secondary index: dbversus against `sysbench prepare`, on one PostgreSQL.

Both create table sbtest1, fill it and index it, as a whole process each, in turns; the table is dropped and a checkpoint
done before each.
"""

import argparse
import statistics
from collections.abc import Callable

from common import (
    Json,
    Usage,
    engine_target,
    find_program,
    load_command,
    make_parser,
    markdown,
    private_postgres,
    run_engine,
    run_process,
    say,
    spread,
    sysbench_address,
    told,
)

from dbversus.errors import RunError
from dbversus.servers.postgres.server import PostgresServer

EXAMPLE = """example:
  benchmarks/load_rate.py --postgres postgres:17 --rows 1000000 --rounds 3 > load.md
"""
OWN = "dbversus"
PEER = "sysbench prepare"

Loader = Callable[[], Usage]


def own_loader(server: PostgresServer, rows: int) -> Loader:
    commands = [engine_target(server), load_command(server, rows), {"cmd": "quit"}]
    return lambda: run_engine(commands)[1]


def sysbench_loader(program: str, address: Json, rows: int) -> Loader:
    command = [program, "oltp_read_only", *sysbench_address(address), "--tables=1", f"--table-size={rows}", "prepare"]
    return lambda: run_process(command)[1]


def fresh_start(server: PostgresServer) -> None:
    with server.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS sbtest1")
        connection.execute("CHECKPOINT")


def check_loaded(server: PostgresServer, rows: int, name: str) -> None:
    """Both have to leave the same: all rows, a primary key and the index on k."""
    with server.connect() as connection:
        row = connection.execute("SELECT count(*), count(DISTINCT id) FROM sbtest1").fetchone()
        indexes = connection.execute("SELECT indexdef FROM pg_indexes WHERE tablename = 'sbtest1'").fetchall()
    if row != (rows, rows) or len(indexes) != 2:
        raise RunError(f"{name} has left {row} rows and indexes {indexes}; {rows} rows and two indexes were expected.")


def measure(server: PostgresServer, loaders: dict[str, Loader], rows: int, rounds: int) -> dict[str, list[Usage]]:
    """Loads in turns; who comes first alternates."""
    figures: dict[str, list[Usage]] = {name: [] for name in loaders}
    for number in range(rounds):
        for name in sorted(loaders, reverse=number % 2 == 1):
            fresh_start(server)
            figures[name].append(loaders[name]())
            check_loaded(server, rows, name)
            say(f"round {number + 1} of {rounds}: {name} {rows / figures[name][-1].wall_s:,.0f} rows/s")
    return figures


def report(figures: dict[str, list[Usage]], rows: int) -> str:
    lines = [
        [
            name,
            spread([rows / one.wall_s for one in runs], 0),
            spread([(one.user_s + one.system_s) / rows * 1e6 for one in runs]),
        ]
        for name, runs in figures.items()
    ]
    table = markdown(["loader", "rows/s", "client CPU µs/row"], lines)
    if PEER not in figures:
        return f"{table}\n\nsysbench was not found, so there is no ratio."
    pairs = list(zip(figures[OWN], figures[PEER], strict=True))
    ratio = spread([peer.wall_s / own.wall_s for own, peer in pairs])
    seconds = statistics.median(own.wall_s for own, _ in pairs)
    return f"{table}\n\nrows/s, {OWN} / {PEER}, per round: {ratio}; {OWN} took {seconds:.1f} s."


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("--postgres", default="postgres:17", help="target: version or prefix (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the table (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="loads of each (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    with private_postgres(asked.postgres, asked.rows) as server:
        loaders = {OWN: own_loader(server, asked.rows)}
        if sysbench := find_program("sysbench", "sysbench"):
            address = engine_target(server)["address"]
            loaders[PEER] = sysbench_loader(sysbench, address, asked.rows)
        figures = measure(server, loaders, asked.rows, asked.rounds)
        print(f"{server.build.name}, {asked.rows:,} rows, {asked.rounds} loads each in turns: median [min–max].\n")
        print(report(figures, asked.rows))


if __name__ == "__main__":
    told(main)
