#!/usr/bin/env python
"""Instructions that load generators themselves need per operation, in user mode: dbversus-engine against sysbench and pgbench.

As client_overhead.py, but what is counted does not depend on the host: valgrind counts every instruction of the client's
process. Of two runs, one with twice as many operations as the other, the difference is what these operations took. What the
kernel does for a client is not in it, nor how long an instruction takes.
"""

import argparse
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from common import fill, find_program, make_parser, markdown, private_server, run_process, told
from peers import ENGINE, SERVERS, Amount, Generator, generators, workloads

from dbversus.errors import RunError, UsageError
from dbversus.host.pinning import place

EXAMPLE = """example:
  benchmarks/client_instructions.py --server postgres:17 > instructions.md
  benchmarks/client_instructions.py --server mariadb:10.11 --statements 5000
"""
FEWEST_STATEMENTS, FEWEST_ROWS = 100, 100


def instructions(generator: Generator, amount: Amount, valgrind: str) -> int:
    """Of one run of the process, with all its threads."""
    with tempfile.NamedTemporaryFile(mode="r") as log:
        counting = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", f"--log-file={log.name}"]
        output, _ = run_process([valgrind, *counting, *generator.command(amount)], (), generator.given(amount))
        counted = re.search(r"I\s+refs:\s+([\d,]+)", log.read())
    if counted is None or generator.done(output) < amount.ops:
        raise RunError(
            f"{generator.command(amount)[0]} under valgrind gave no count, or did less than it was asked to."
        )
    return int(counted[1].replace(",", ""))


def per_op(generator: Generator, ops: int, valgrind: str) -> float:
    once, twice = (instructions(generator, Amount(ops=times * ops), valgrind) for times in (1, 2))
    return (twice - once) / ops


def report(figures: Mapping[str, float]) -> str:
    own = figures[ENGINE]
    rows = [[name, f"{figure:,.0f}", f"{own / figure:.2f}"] for name, figure in figures.items()]
    return markdown(["client", "instructions per operation", "the engine's, as a share of it"], rows)


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("--server", default="postgres:17", help="target: version or prefix (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the table (default: %(default)s)")
    parser.add_argument("--statements", type=int, default=20_000, help="of the shorter run (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    if asked.statements < FEWEST_STATEMENTS or asked.rows < FEWEST_ROWS:
        raise UsageError(f"--statements takes {FEWEST_STATEMENTS} or more, --rows {FEWEST_ROWS} or more.")
    valgrind = find_program("valgrind", "valgrind")
    if valgrind is None:
        raise UsageError("Nothing can be counted without valgrind.")
    cpu = place(1, "together").server_cpus[0]
    with private_server(asked.server, asked.rows, SERVERS) as server, tempfile.TemporaryDirectory() as folder:
        fill(server, asked.rows)
        for workload in workloads(asked.rows):
            found = generators(server, workload, asked.rows, cpu, Path(folder))
            ops = asked.statements // workload.statements
            figures = {name: per_op(generator, ops, valgrind) for name, generator in found.items()}
            print(f"### {workload.title}, {server.build.name}\n\n{report(figures)}\n", flush=True)


if __name__ == "__main__":
    told(main)
