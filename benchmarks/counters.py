#!/usr/bin/env python
"""Do the servers' own counters, per operation, come to what the statements must do? All tests of all suites, on each DBMS.

Runs `dbversus run` on small tables, one target and one block per suite. What an operation must do follows from the suite's
definition (statements, commits, rows read by id), and from what the client got (rows changed; rows read by a secondary index).
The table tells the largest difference per suite; status 1 when one is beyond --tolerance.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import make_parser, markdown, say, told

from dbversus.errors import RunError
from dbversus.results.read import open_results
from dbversus.results.stored import Results, Target
from dbversus.results.tables.counters import COUNTERS as COUNTER_TABLE
from dbversus.suites import Suite, Test, definition, load_suite
from dbversus.units import parse_count

EXAMPLE = """example:
  benchmarks/counters.py postgres:17 mysql:8.0 mariadb:10.11 myrocks:10.11 > counters.md
  benchmarks/counters.py postgres:/usr/lib/postgresql/15 --suites sysbench --details
"""
SUITES = "sysbench,sysbench-now,sysbench-2017,scan,durability,allocators"
TOLERANCE = 0.01
EXPERIMENT = """targets = [{target}]
suite = "{suite}"
table_size = {rows}
slot_ms = 20
write_slot_ms = 20
warm_up_ms = 2
rows = 12
seconds = 2
looks = [1]
calibration = false
alone = true
"""
Json = dict[str, Any]

# What is looked at → counters whose sum tells it, by family of servers.
_STATEMENTS = tuple(f"status.com_{kind}" for kind in ("select", "insert", "update", "delete"))
_CHANGES = ("inserted", "updated", "deleted")
AGGREGATES = re.compile(r"SUM\(|COUNT\(")
PUSHED_DOWN = re.compile(r"SELECT k, c .* WHERE k BETWEEN")
LIVE_ROWS = ("table.idx_tup_fetch",)
"""What PostgreSQL reads to change a row: its index leads to dead versions as well, until they are removed."""
COUNTERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "postgres": {
        "commits": ("database.xact_commit",),
        "rows changed": ("table.n_tup_ins", "table.n_tup_upd", "table.n_tup_del"),
        "rows read": ("index.idx_tup_read", "table.seq_tup_read"),
    },
    "mysql": {
        "statements": _STATEMENTS,
        "prepared executes": ("status.com_stmt_execute",),
        "commits": ("status.com_commit",),
        "rows changed": tuple(f"status.innodb_rows_{change}" for change in _CHANGES),
        "rows read": ("status.innodb_rows_read",),
    },
}
COUNTERS = {
    **COUNTERS,
    "mariadb": {
        **COUNTERS["mysql"],
        "rows changed": tuple(f"status.handler_{change}" for change in ("write", "update", "delete")),
        "rows read": ("status.rows_read",),
    },
    "myrocks": {
        **COUNTERS["mysql"],
        "rows changed": tuple(f"status.rocksdb_rows_{change}" for change in _CHANGES),
        "rows read": ("status.rocksdb_rows_read",),
    },
}


@dataclass(frozen=True)
class Line:
    """One quantity of one test, per operation. `ops`: that the counter spans."""

    suite: str
    test: str
    quantity: str
    expected: float
    counted: float
    ops: int

    @property
    def difference(self) -> float:
        """As a share; where nothing must be done, what was done instead, per operation."""
        return abs(self.counted - self.expected) / (self.expected or 1)


def expectations(test: Test, dbms: str, table_size: int, client: Mapping[str, float]) -> dict[str, float]:
    """What one operation must do. `client`: `rows` and `affected` per operation, as the client saw them."""
    made = definition(test, dbms, table_size)
    repeats = [(statement, statement.get("repeat", 1)) for statement in made["statements"]]
    statements = sum(repeat for _, repeat in repeats)
    found = {
        "statements": statements,
        "prepared executes": sum(repeat for statement, repeat in repeats if statement.get("mode") != "text"),
        "commits": 1 if test.transaction else statements if dbms == "postgres" else 0,
        "rows changed": client["affected"],
    }
    found["rows read"] = table_size if test.slow else rows_read(made["statements"], dbms, table_size, client)
    return found


def rows_read(statements: Sequence[Json], dbms: str, table_size: int, client: Mapping[str, float]) -> float:
    """Rows that the statements of an operation have to find. What the client got tells how long ranges were."""
    # a range ends with the first row that is not in it; where the condition is pushed down to the index nobody reads that
    past_end = 0 if dbms == "postgres" or any(PUSHED_DOWN.match(item["sql"]) for item in statements) else 1
    ranges, returned, found, aggregates = 0, 0, 0.0, 0
    for statement in statements:
        repeat = statement.get("repeat", 1)
        if "low" in statement["params"]:
            ranges += repeat
            aggregate = AGGREGATES.search(statement["sql"])
            aggregates += repeat if aggregate else 0
            returned += 0 if aggregate else repeat
            length = rows_in_range(statement, table_size)
        elif len(statements) == 1:
            return 0 if statement["sql"].startswith("INSERT") else client["rows"] + client["affected"]
        elif not statement["sql"].startswith("INSERT"):
            found += repeat
    if not ranges:
        return found
    if returned:
        selects = sum(statement.get("repeat", 1) for statement in statements if statement["params"].keys() == {"id"}
                      and statement["sql"].startswith("SELECT"))  # fmt: skip
        length = (client["rows"] - selects - aggregates) / returned
    return found + ranges * (length + past_end)


def rows_in_range(statement: Json, table_size: int) -> float:
    """Of a range of ids from a random one on, on average: the last ones are cut off by the end of the table."""
    length = int(statement["params"]["high"]["add"]) + 1
    return length - length * (length - 1) / 2 / table_size


def compare(suite: Suite, dbms: str, table_size: int, results: Results) -> Iterator[Line]:
    """All that can be compared, of all tests that were measured."""
    totals: dict[tuple[str, str], tuple[float, int]] = {
        (row["test"], row["counter"]): (row["total"], row["ops"]) for row in results.rows(COUNTER_TABLE)
    }
    ops = {row["test"]: row["ops"] for row in results.rows(COUNTER_TABLE)}
    for name in results.tests:
        test = suite.tests.get(name)
        if test is None:
            continue
        if name not in ops:
            raise RunError(f"{suite.name}: test {name} has no counters on {results.base.label}.")
        expected = expectations(test, dbms, table_size, seen_by_client(results, name))
        for quantity, counters in COUNTERS[dbms].items():
            if quantity == "rows read" and dbms == "postgres" and test.changes_data:
                counters = LIVE_ROWS
            if quantity == "rows read" and test.base == "scan-count" and dbms != "postgres":
                continue  # the storage engine counts the rows, and reads none for anybody
            counted = sum(totals.get((name, counter), (0.0, 0))[0] for counter in counters) / ops[name]
            yield Line(suite.name, name, quantity, expected[quantity], counted, ops[name])


def seen_by_client(results: Results, test: str) -> dict[str, float]:
    """Rows returned and changed per operation, over all slots."""
    of_test = results.slots["test"] == test
    ops = float(np.sum(results.slots["ops"][of_test]))
    return {name: float(np.sum(results.slots[name][of_test])) / ops for name in ("rows", "affected")}


def measure(target: str, suite: str, rows: int, folder: Path) -> Results:
    experiment, out = folder / "experiment.toml", folder / "out"
    experiment.write_text(EXPERIMENT.format(target=json.dumps(target), suite=suite, rows=rows))
    command = [
        sys.executable,
        "-c",
        "from dbversus.cli.main import main; main()",
        "run",
        str(experiment),
        "--out",
        str(out),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise RunError(f"`dbversus run` of suite {suite} on {target} ended with status {done.returncode}.")
    return open_results(out)


def measured(target: str, suite: str, table_size: int) -> tuple[Target, list[Line]]:
    with tempfile.TemporaryDirectory(prefix="dbv-counters-") as folder:
        results = measure(target, suite, table_size, Path(folder))
        return results.base, list(compare(load_suite(suite), results.base.dbms, table_size, results))


def worst(lines: Sequence[Line], quantity: str) -> str:
    """The largest difference of a quantity, and in which test."""
    of_quantity = [line for line in lines if line.quantity == quantity]
    if not of_quantity:
        return "–"
    line = max(of_quantity, key=lambda line: line.difference)
    return f"{line.difference:.2%} ({line.test})" if line.difference >= 5e-5 else "0.00%"


def summary(found: Mapping[str, Sequence[Line]]) -> str:
    """A line per target and suite."""
    quantities = ("statements", "prepared executes", "commits", "rows changed", "rows read")
    rows = []
    for target, lines in found.items():
        for suite in dict.fromkeys(line.suite for line in lines):
            of_suite = [line for line in lines if line.suite == suite]
            tests = len({line.test for line in of_suite})
            rows.append([target, suite, str(tests), *(worst(of_suite, quantity) for quantity in quantities)])
    return markdown(["target", "suite", "tests", *quantities], rows)


def details(found: Mapping[str, Sequence[Line]], tolerance: float | None) -> str:
    """A line per quantity; with `tolerance` only of those beyond it."""
    rows = [
        [target, line.suite, line.test, line.quantity, f"{line.expected:.4f}", f"{line.counted:.4f}",
         f"{line.ops:,}", f"{line.difference:.2%}"]
        for target, lines in found.items() for line in lines if tolerance is None or line.difference > tolerance
    ]  # fmt: skip
    return markdown(["target", "suite", "test", "quantity", "must do", "counted", "ops", "difference"], rows)


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("targets", nargs="+", help="as for `dbversus compare`")
    parser.add_argument("--suites", default=SUITES, help=f"separated by commas (default: {SUITES})")
    parser.add_argument("--table-size", default="1m", help="rows (default: 1m)")
    parser.add_argument(
        "--tolerance", type=float, default=TOLERANCE, help="largest difference, a share (default: 0.01)"
    )
    parser.add_argument("--details", action="store_true", help="print every quantity of every test as well")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    table_size = parse_count(asked.table_size, "--table-size")
    found: dict[str, list[Line]] = {}
    failed: list[str] = []
    for target in asked.targets:
        for name in asked.suites.split(","):
            try:
                base, lines = measured(target, name, table_size)
            except RunError as error:
                say(str(error))
                failed.append(f"{target}, suite {name}: {error}")
                continue
            found.setdefault(f"{base.dbms} {base.version}", []).extend(lines)
            say(f"{target}: suite {name} is done")
    print(summary(found))
    beyond = bool(failed) or any(line.difference > asked.tolerance for lines in found.values() for line in lines)
    if asked.details or beyond:
        print("\n" + details(found, None if asked.details else asked.tolerance))
    for words in failed:
        print(f"\n{words}")
    if beyond:
        sys.exit(1)


if __name__ == "__main__":
    told(main)
