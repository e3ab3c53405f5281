#!/usr/bin/env python
"""Does dbversus make a server do what sysbench makes it do? Ten scripts of sysbench 1.0.20, statement for statement.

Both drive the same server on the same table, each with one client, one connection and prepared statements, in turns of some
50 ms with the same number of operations; who comes first alternates. sysbench runs its own scripts and waits between turns
(in_turns.lua). dbversus's figure is the server CPU of its slot, as it reports it; sysbench's, and dbversus's again for a
check, what the server's control group used meanwhile. A ratio is made as verdicts are: the midmean of the rounds of a
block, then the mean over blocks with Student's 95 % interval. Before that, the server's own counters tell whether it does the
same work for both.

dbversus asks of the server what sysbench's libraries ask beside the statements, so that what is left is the statements;
with --plain it asks what it asks in experiments.
"""

import argparse
import itertools
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from common import (
    Group,
    Interval,
    cgroup_cpu_ns,
    engine_target,
    fill,
    make_parser,
    markdown,
    need_sysbench,
    own_cgroup,
    private_server,
    ratio_interval,
    say,
    sysbench_command,
    told,
)
from in_turns import Client, EngineClient, SysbenchClient
from scipy import stats

from dbversus.dbms.known import names_of
from dbversus.dbms.model import Family
from dbversus.errors import UsageError
from dbversus.host.pinning import place
from dbversus.servers.base import Server
from dbversus.suites import Suite, definition, load_suite
from dbversus.units import parse_count

EXAMPLE = """example:
  benchmarks/fidelity.py > fidelity.md
  benchmarks/fidelity.py --server mariadb:10.11 --rounds 1600 --tests 'oltp_point_select,*write*'
"""
SUITE = Path(__file__).with_name("fidelity.toml")
MYSQL_FAMILY = names_of(Family.MYSQL)
ACCEPTED = ("postgres", *MYSQL_FAMILY)
TOLERANCE = 0.02
SAME_WORK = 0.01
ROUNDS = 8
"""Of a block: each client comes first in half of them, and its midmean is that of four. The first block only warms up."""
WORK_S = 2.0
REST_S = 0.1
"""After a client is gone its backend still has to leave, and to report its counters."""
FIRST_SEED = 2
DELETED = 1.5
"""Rows drawn by oltp_delete, as a share of the table: a fifth of the rows is left at its end."""

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

# what sysbench's library asks for (docs/engine-protocol.md)
SESSION: Mapping[str, tuple[str, ...]] = dict.fromkeys(MYSQL_FAMILY, ("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci",))
READS = ("oltp_point_select", "select_random_points", "select_random_ranges", "oltp_read_only")
TRANSACTIONS = ("oltp_read_only", "oltp_write_only", "oltp_read_write")
TEXTS = ("oltp_update_non_index", "oltp_write_only", "oltp_read_write")


@dataclass(frozen=True)
class Note:
    """A known difference between the two clients, and in which tests of which DBMSs it shows.

    `plain`: only where dbversus does not follow sysbench's libraries. `prepared`: only where sysbench prepares BEGIN and COMMIT.
    """

    dbms: tuple[str, ...]
    words: str
    tests: tuple[str, ...]
    plain: bool = False
    prepared: bool = False

    def holds(self, dbms: str, test: str) -> bool:
        return dbms in self.dbms and test in self.tests


NOTES: tuple[Note, ...] = (
    Note(
        ("postgres",),
        "sysbench's library (libpq) asks for the result's columns with every execution (Describe), dbversus once",
        (*READS, "oltp_update_index", *TEXTS, "oltp_delete"),
        plain=True,
    ),
    Note(
        ("postgres",),
        "sysbench sends integers as text, dbversus in binary form",
        (*READS, "oltp_update_index", *TEXTS, "oltp_delete"),
        plain=True,
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
        plain=True,
    ),
    Note(
        MYSQL_FAMILY,
        "BEGIN and COMMIT: sysbench prepares them where the server can, dbversus sends them as text",
        TRANSACTIONS,
        prepared=True,
    ),
    Note(
        MYSQL_FAMILY,
        "texts are converted from utf8mb4, which sysbench's library asks for; dbversus stays with the tables' latin1",
        (*TEXTS, "oltp_insert"),
        plain=True,
    ),
    Note(ACCEPTED, "sent as text by both", ("oltp_insert",)),
    Note(ACCEPTED, "rows that are gone already cost less; both find the same share gone", ("oltp_delete",)),
)


@dataclass
class Figures:
    """Of one client in one test: µs of server CPU per operation in each round, and statements and the server's work per op."""

    statements_per_op: float
    work_per_op: Mapping[str, float]
    cpu_us_per_op: list[float] = field(default_factory=list)
    own_cpu_us_per_op: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """One test. `ratio`: dbversus's own figure / sysbench; `outside`: both read from outside, in the same way."""

    test: str
    own: Figures
    peer: Figures
    ratio: Interval
    outside: Interval


def work_of(server: Server, client: Client, ops: int, seed: int) -> Figures:
    """What the server does for one turn of `ops` operations, with values drawn from `seed`."""
    server.await_counts()
    before = server.counters()
    with client.connected(ops, 1, seed) as turns:
        turns.run()
    time.sleep(REST_S)
    server.await_counts()
    after = server.counters()
    work = {name: (after.get(name, 0) - before.get(name, 0)) / ops for name in WORK[server.dbms]}
    return Figures(turns.statements / ops, work)


def measure(
    group: Group, clients: Mapping[str, Client], figures: Mapping[str, Figures], ops: int, rounds: int, seed: int
) -> None:
    """All rounds of one test, with turns of `ops` operations, after a block that only warms up."""
    with ExitStack() as stack:
        turns = {
            name: stack.enter_context(client.connected(ops, ROUNDS + rounds, seed)) for name, client in clients.items()
        }
        for number in range(ROUNDS + rounds):
            for name in sorted(turns, reverse=number % 2 == 1):
                before = cgroup_cpu_ns(group)
                own_ns = turns[name].run()
                used_ns = cgroup_cpu_ns(group) - before
                if number >= ROUNDS:
                    figures[name].cpu_us_per_op.append(used_ns / ops / 1e3)
                    if own_ns is not None:
                        figures[name].own_cpu_us_per_op.append(own_ns / ops / 1e3)


def outcome_of(test: str, figures: Mapping[str, Figures]) -> Outcome:
    own, peer = figures["own"], figures["peer"]
    reported = block_logs(own.own_cpu_us_per_op, peer.cpu_us_per_op)
    outside = block_logs(own.cpu_us_per_op, peer.cpu_us_per_op)
    return Outcome(test, own, peer, ratio_interval(reported), ratio_interval(outside))


def block_logs(own: Sequence[float], peer: Sequence[float]) -> list[float]:
    """Of each block, the midmean over rounds of ln own/peer."""
    logs = np.log(np.asarray(own) / np.asarray(peer)).reshape(-1, ROUNDS)
    found: list[float] = stats.trim_mean(logs, 0.25, axis=1).tolist()
    return found


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
    own, peer = outcome.own.statements_per_op, outcome.peer.statements_per_op
    name, share = work_difference(outcome.own.work_per_op, outcome.peer.work_per_op)
    if abs(own - peer) > 0.01:
        return f"**no**: {own:.2f} and {peer:.2f} statements"
    return f"yes ({share:.1%})" if share <= SAME_WORK else f"**no**: {name} differs by {share:.1%}"


def notes_for(
    dbms: str, tests: Sequence[str], *, plain: bool, text_transactions: bool = False
) -> tuple[list[str], dict[str, str]]:
    """Known differences that hold for any of the tests, and their numbers (`1, 3`) by test."""
    known = [note for note in NOTES if (plain or not note.plain) and not (text_transactions and note.prepared)]
    found = [note for note in known if any(note.holds(dbms, test) for test in tests)]
    numbers = {
        test: ", ".join(str(number) for number, note in enumerate(found, 1) if note.holds(dbms, test)) for test in tests
    }
    return [note.words for note in found], numbers


def report(dbms: str, outcomes: Sequence[Outcome], *, plain: bool, text_transactions: bool) -> str:
    tests = [outcome.test for outcome in outcomes]
    words, numbers = notes_for(dbms, tests, plain=plain, text_transactions=text_transactions)
    rows = [
        [
            outcome.test,
            f"{outcome.own.statements_per_op:.4g}",
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


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("--server", default="postgres:17", help="target: version or prefix (default: %(default)s)")
    parser.add_argument("--rows", default="1m", help="rows of the table (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=768, help="turns of each client per test (default: %(default)s)")
    parser.add_argument("--turn-ms", type=float, default=50, help="length of a turn, about (default: %(default)s)")
    parser.add_argument("--plain", action="store_true", help="dbversus as in experiments, not as sysbench's libraries")
    parser.add_argument(
        "--text-transactions", action="store_true", help="sysbench, too, sends BEGIN and COMMIT as text, unprepared"
    )
    parser.add_argument("--tests", default="", help="globs of scripts, such as '*select*' (default: all ten)")
    parser.add_argument(
        "--placement",
        default="together",
        choices=("together", "apart"),
        help="of client and server (default: %(default)s)",
    )
    return parser.parse_args()


def outcomes_of(
    asked: argparse.Namespace, rows: int, suite: Suite, server: Server, group: Group, cpu: int
) -> Iterator[Outcome]:
    """Test after test of the suite, on a server with all rows loaded.

    Each draws from seeds of its own: an UPDATE that finds the text that it is to write changes nothing.
    """
    sysbench = need_sysbench()
    target = engine_target(server, group, not asked.plain)
    if not asked.plain:
        target["session_sql"] = list(SESSION.get(server.dbms, ()))
    seeds = itertools.count(FIRST_SEED)
    for name in suite.tests:
        own = EngineClient(target, definition(suite.tests[name], server.dbms, rows), cpu)
        clients: dict[str, Client] = {
            "own": own,
            "peer": SysbenchClient(
                sysbench_command(sysbench, name, target["address"], rows), cpu, asked.text_transactions
            ),
        }
        rate = own.ops_per_s()
        ops, ops_of_work = max(2, round(rate * asked.turn_ms / 1e3)), round(rate * WORK_S)
        if name == "oltp_delete":  # what one has deleted the other does not find
            ops = max(2, min(ops, round(DELETED * rows / 2 / (ROUNDS + asked.rounds))))
            ops_of_work = min(ops_of_work, round(SAME_WORK * rows / 4))
        seed = next(seeds)
        figures = {each: work_of(server, client, ops_of_work, seed) for each, client in clients.items()}
        measure(group, clients, figures, ops, asked.rounds, next(seeds))
        yield outcome_of(name, figures)
        server.settle(["sbtest1"])


def main() -> None:
    asked = parse_arguments()
    if asked.rounds < 2 * ROUNDS or asked.rounds % ROUNDS or asked.turn_ms <= 0:
        raise UsageError(f"--rounds takes a multiple of {ROUNDS} from {2 * ROUNDS} on, --turn-ms a number above 0.")
    rows, suite = parse_count(asked.rows, "--rows"), load_suite(SUITE)
    suite = suite.select(asked.tests) if asked.tests else suite
    need_sysbench()  # before a server is started
    plan = place(1, asked.placement)
    server_cpu, cpu = plan.server_cpus[0], plan.client_cpus[0]
    outcomes = []
    with own_cgroup() as group, private_server(asked.server, rows, ACCEPTED, [server_cpu], group) as server:
        fill(server, rows, group)
        for outcome in outcomes_of(asked, rows, suite, server, group, cpu):
            say(f"{outcome.test}: {outcome.ratio.text()}")
            outcomes.append(outcome)
    turns = f"{asked.rounds} rounds of turns of {asked.turn_ms:g} ms"
    print(f"{server.build.name}, {rows:,} rows, 1 client on CPU {cpu}, server on {server_cpu}, {turns}.")
    print("µs/op: server CPU per operation, median over rounds.\n")
    print(report(server.dbms, outcomes, plain=asked.plain, text_transactions=asked.text_transactions))


if __name__ == "__main__":
    told(main)
