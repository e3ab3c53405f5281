#!/usr/bin/env python
"""Does dbversus make a server do what sysbench makes it do? Ten scripts of sysbench 1.0.20, statement for statement.

Both drive the same server on the same table with one client and prepared statements, in turns, who comes first alternates.
A turn is a whole process with a connection of its own and a fixed number of operations, the same for both, so that a new
backend costs both the same. What the server used is read from its control group before and after, less what a run of
one operation takes (median of five); dbversus's figure is that of its own slot, as it reports it. The server's own
counters tell whether it did the same work. Ratios are over rounds, with Student's 95 % interval.
"""

import argparse
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from common import (
    Group,
    Interval,
    Json,
    cgroup_cpu_ns,
    engine_slots,
    engine_target,
    fill,
    make_parser,
    markdown,
    need_sysbench,
    number_after,
    own_cgroup,
    private_server,
    ratio_interval,
    run_engine,
    run_process,
    say,
    slot_commands,
    sysbench_command,
    told,
)

from dbversus.errors import UsageError
from dbversus.experiment.units import parse_count
from dbversus.host.pinning import place
from dbversus.servers.base import Server
from dbversus.suites import Suite, definition, load_suite

EXAMPLE = """example:
  benchmarks/fidelity.py > fidelity.md
  benchmarks/fidelity.py --server mariadb:10.11 --rounds 24 --tests 'oltp_point_select,*write*'
"""
SUITE = Path(__file__).with_name("fidelity.toml")
MYSQL_FAMILY = ("mysql", "mariadb", "myrocks")
ACCEPTED = ("postgres", *MYSQL_FAMILY)
TOLERANCE = 0.02
SAME_WORK = 0.01
STARTS = 5
MOST_OPS = 10_000_000
REST_S = 0.1
"""After a client is gone its backend still has to leave, and to report its counters."""

_MYSQL_WORK = (
    "status.com_select",
    "status.com_insert",
    "status.com_update",
    "status.com_delete",
    "status.com_commit",
    "status.handler_read_key",
    "status.handler_read_next",
    "status.handler_update",
    "status.handler_delete",
)
WORK: Mapping[str, tuple[str, ...]] = {
    "postgres": (
        "database.xact_commit",
        "table.seq_scan",
        "table.idx_scan",
        "table.idx_tup_fetch",
        "table.n_tup_ins",
        "table.n_tup_upd",
        "table.n_tup_del",
    ),
    **dict.fromkeys(MYSQL_FAMILY, _MYSQL_WORK),
}
"""Counters that tell statements from statements and rows read from rows read, by DBMS."""

# what sysbench's library asks for; dbversus itself stays with latin1, that of the tables (docs/engine-protocol.md)
SESSION: Mapping[str, tuple[str, ...]] = dict.fromkeys(MYSQL_FAMILY, ("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci",))
READS = ("oltp_point_select", "select_random_points", "select_random_ranges", "oltp_read_only")
TRANSACTIONS = ("oltp_read_only", "oltp_write_only", "oltp_read_write")
TEXTS = ("oltp_update_non_index", "oltp_write_only", "oltp_read_write")


@dataclass(frozen=True)
class Note:
    """A known difference between the two clients, and in which tests of which DBMSs it shows."""

    dbms: tuple[str, ...]
    words: str
    tests: tuple[str, ...]

    def holds(self, dbms: str, test: str) -> bool:
        return dbms in self.dbms and test in self.tests


NOTES: tuple[Note, ...] = (
    Note(
        ("postgres",),
        "sysbench's library (libpq) asks for a description of the result with every statement (Describe) and sends integers "
        "as text; dbversus asks once, and sends them in binary form",
        (*READS, "oltp_update_index", *TEXTS, "oltp_delete"),
    ),
    Note(
        ("postgres",),
        'sysbench declares texts as "char", of which the server keeps the first character and pads it with blanks; '
        "dbversus's text is stored whole, in as many bytes",
        TEXTS,
    ),
    Note(
        ("mariadb", "myrocks"),
        "sysbench's library (libmariadb) takes the description of a result only once per statement, from MariaDB 10.6 on; "
        "dbversus takes it with every answer, as servers of all versions give it",
        (*READS, "oltp_read_write"),
    ),
    Note(
        MYSQL_FAMILY,
        "BEGIN and COMMIT: sysbench prepares them where the server can, dbversus sends them as text",
        TRANSACTIONS,
    ),
    Note(
        MYSQL_FAMILY,
        "texts are converted from utf8mb4, which sysbench's library asks for; dbversus was told to do so here, and otherwise "
        "stays with the tables' latin1",
        (*TEXTS, "oltp_insert"),
    ),
    Note(ACCEPTED, "sent as text by both", ("oltp_insert",)),
    Note(ACCEPTED, "rows that are gone already cost less; both find the same share gone", ("oltp_delete",)),
)


@dataclass(frozen=True)
class Turn:
    """What a client says of one turn. `own_cpu_ns`: server CPU by its own account; None: it has none."""

    ops: int
    statements: int
    own_cpu_ns: int | None = None


class Client(Protocol):
    def run(self, ops: int, seed: int) -> Turn:
        """Connects, does `ops` operations with values drawn from `seed`, and leaves."""


@dataclass(frozen=True)
class EngineClient:
    target: Json
    test: Json
    cpu: int

    def run(self, ops: int, seed: int) -> Turn:
        slot = self._slot({"ops": ops}, seed)
        if slot["errors"]:
            say(f"{self.test['name']}: errors {slot['errors']}")
        return Turn(slot["ops"], slot["statements"], slot["server_cpu_ns"])

    def rate(self) -> float:
        """Operations per second."""
        slot = self._slot({"ms": 300, "min_ops": 1}, 0)
        return float(slot["ops"] / slot["elapsed_ns"] * 1e9)

    def _slot(self, bound: Json, seed: int) -> Json:
        replies, _ = run_engine(slot_commands(self.target, self.test, self.cpu, bound, seed), [self.cpu])
        return engine_slots(replies)[0]


@dataclass(frozen=True)
class SysbenchClient:
    command: Sequence[str]
    cpu: int

    def run(self, ops: int, seed: int) -> Turn:
        length = [f"--events={ops}", "--time=0", f"--rand-seed={seed + 1}"]  # 0 means the clock
        output, _ = run_process([*self.command, *length, "run"], [self.cpu])
        if errors := number_after(output, "ignored errors:"):
            say(f"{self.command[1]}: {errors} errors")
        return Turn(number_after(output, "transactions:"), number_after(output, "queries:"))


@dataclass
class Figures:
    """Of one client in one test: µs of server CPU per operation in each round, and totals over all of them."""

    cpu_us_per_op: list[float] = field(default_factory=list)
    own_cpu_us_per_op: list[float] = field(default_factory=list)
    ops: int = 0
    statements: int = 0
    work: dict[str, float] = field(default_factory=dict)

    def add(self, turn: Turn, cpu_ns: float, work: Mapping[str, float]) -> None:
        self.cpu_us_per_op.append(cpu_ns / turn.ops / 1e3)
        if turn.own_cpu_ns is not None:
            self.own_cpu_us_per_op.append(turn.own_cpu_ns / turn.ops / 1e3)
        self.ops += turn.ops
        self.statements += turn.statements
        self.work = {name: self.work.get(name, 0) + value for name, value in work.items()}

    @property
    def work_per_op(self) -> dict[str, float]:
        return {name: value / self.ops for name, value in self.work.items()}


@dataclass(frozen=True)
class Outcome:
    """One test. `ratio`: dbversus's own figure / sysbench; `outside`: both read from outside, in the same way."""

    test: str
    own: Figures
    peer: Figures
    ratio: Interval
    outside: Interval


def measured(server: Server, group: Group, client: Client, ops: int, seed: int) -> tuple[Turn, int, dict[str, float]]:
    """A turn, the server CPU (ns) of the whole of it, and what the server's counters of work rose by."""
    before = server.counters()
    time.sleep(REST_S)
    cpu_before = cgroup_cpu_ns(group)
    turn = client.run(ops, seed)
    time.sleep(REST_S)
    cpu_ns = cgroup_cpu_ns(group) - cpu_before
    after = server.counters()
    return turn, cpu_ns, {name: after.get(name, 0) - before.get(name, 0) for name in WORK[server.dbms]}


def start_cpu_ns(server: Server, group: Group, client: Client) -> float:
    """Server CPU of connecting, preparing, one operation and leaving."""
    return statistics.median(measured(server, group, client, 1, number)[1] for number in range(STARTS))


def compare(
    server: Server,
    group: Group,
    own: EngineClient,
    peer: SysbenchClient,
    rounds: int,
    seconds: float,
    most_ops: int,
) -> Outcome:
    """All rounds of one test, with turns of at most `most_ops` operations; what comes before only warms up."""
    ops = min(most_ops, max(20, round(own.rate() * seconds)))
    clients: dict[str, Client] = {"own": own, "peer": peer}
    for client in clients.values():
        client.run(ops, 0)
    starts = {name: start_cpu_ns(server, group, client) for name, client in clients.items()}
    figures = {name: Figures() for name in clients}
    for number in range(rounds):
        for name in sorted(clients, reverse=number % 2 == 1):
            turn, cpu_ns, work = measured(server, group, clients[name], ops, number + 1)
            # one operation is in the start already
            figures[name].add(turn, (cpu_ns - starts[name]) * turn.ops / (turn.ops - 1), work)
    outside = logs_of(figures["own"].cpu_us_per_op, figures["peer"].cpu_us_per_op)
    reported = logs_of(figures["own"].own_cpu_us_per_op, figures["peer"].cpu_us_per_op)
    return Outcome(own.test["name"], figures["own"], figures["peer"], ratio_interval(reported), ratio_interval(outside))


def logs_of(own: Sequence[float], peer: Sequence[float]) -> list[float]:
    return [math.log(mine / theirs) for mine, theirs in zip(own, peer, strict=True)]


def agreement(ratio: Interval, tolerance: float = TOLERANCE) -> str:
    """`yes` or `no` when the whole interval says so."""
    low, high = 1 / (1 + tolerance), 1 + tolerance
    if ratio.inside(low, high):
        return "yes"
    return "**no**" if ratio.outside(low, high) else "too few rounds to say"


def work_difference(own: Mapping[str, float], peer: Mapping[str, float]) -> tuple[str, float]:
    """The counter in which two clients differ most, and by what share of the larger; next to nothing per op is nothing."""
    worst = ("", 0.0)
    for name in own.keys() & peer.keys():
        larger, smaller = max(own[name], peer[name]), min(own[name], peer[name])
        if larger >= 0.05 and 1 - smaller / larger > worst[1]:
            worst = (name, 1 - smaller / larger)
    return worst


def same_work(outcome: Outcome) -> str:
    """Whether statements and the server's counters per operation agree."""
    own, peer = outcome.own.statements / outcome.own.ops, outcome.peer.statements / outcome.peer.ops
    name, share = work_difference(outcome.own.work_per_op, outcome.peer.work_per_op)
    if abs(own - peer) > 0.01:
        return f"**no**: {own:.2f} and {peer:.2f} statements"
    return f"yes ({share:.1%})" if share <= SAME_WORK else f"**no**: {name} differs by {share:.1%}"


def notes_for(dbms: str, tests: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Known differences that hold for any of the tests, and their numbers (`1, 3`) by test."""
    found = [note for note in NOTES if any(note.holds(dbms, test) for test in tests)]
    numbers = {
        test: ", ".join(str(number) for number, note in enumerate(found, 1) if note.holds(dbms, test)) for test in tests
    }
    return [note.words for note in found], numbers


def report(dbms: str, outcomes: Sequence[Outcome]) -> str:
    words, numbers = notes_for(dbms, [outcome.test for outcome in outcomes])
    rows = [
        [
            outcome.test,
            f"{outcome.own.statements / outcome.own.ops:.4g}",
            same_work(outcome),
            f"{statistics.median(outcome.own.own_cpu_us_per_op):,.1f}",
            f"{statistics.median(outcome.peer.cpu_us_per_op):,.1f}",
            outcome.ratio.text(),
            agreement(outcome.ratio),
            outcome.outside.text(),
            numbers[outcome.test],
        ]
        for outcome in outcomes
    ]
    header = [
        "script",
        "statements/op",
        "same work",
        "dbversus µs/op",
        "sysbench µs/op",
        "dbversus ÷ sysbench",
        f"agrees within {TOLERANCE:.0%}",
        "both from outside",
        "notes",
    ]
    lines = [f"{number}. {text}." for number, text in enumerate(words, 1)]
    return "\n".join([markdown(header, rows), "", *lines])


def chosen_tests(suite: Suite, globs: str) -> list[str]:
    tests = suite.select(globs).tests if globs else suite.tests
    return list(tests)


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("--server", default="postgres:17", help="target: version or prefix (default: %(default)s)")
    parser.add_argument("--rows", default="1m", help="rows of the table (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=16, help="turns of each client per test (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn, about (default: %(default)s)")
    parser.add_argument("--tests", default="", help="globs of scripts, such as '*select*' (default: all ten)")
    parser.add_argument(
        "--placement",
        default="together",
        choices=("together", "apart"),
        help="of client and server (default: %(default)s)",
    )
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    if asked.rounds < 2 or asked.seconds <= 0:
        raise UsageError("--rounds takes 2 or more, --seconds more than 0: an interval needs two rounds.")
    rows, suite, sysbench = parse_count(asked.rows, "--rows"), load_suite(SUITE), need_sysbench()
    tests = chosen_tests(suite, asked.tests)
    plan = place(1, asked.placement)
    server_cpu, cpu = plan.server_cpus[0], plan.client_cpus[0]
    outcomes = []
    with own_cgroup() as group, private_server(asked.server, rows, ACCEPTED, [server_cpu], group) as server:
        fill(server, rows, group)
        target = engine_target(server, group) | {"session_sql": list(SESSION.get(server.dbms, ()))}
        for name in tests:
            own = EngineClient(target, definition(suite.tests[name], server.dbms, rows), cpu)
            peer = SysbenchClient(sysbench_command(sysbench, name, target["address"], rows), cpu)
            most_ops = max(2, rows // (4 * asked.rounds)) if name == "oltp_delete" else MOST_OPS
            outcomes.append(compare(server, group, own, peer, asked.rounds, asked.seconds, most_ops))
            say(f"{name}: {outcomes[-1].ratio.text()}")
            server.settle(["sbtest1"])
    print(
        f"{server.build.name}, {rows:,} rows, 1 client on CPU {cpu}, server on {server_cpu}, {asked.rounds} rounds of ",
        end="",
    )
    print(f"{asked.seconds:g} s each in turns. µs/op: server CPU per operation, median over rounds.\n")
    print(report(server.dbms, outcomes))


if __name__ == "__main__":
    told(main)
