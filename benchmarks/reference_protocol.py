#!/usr/bin/env python
"""dbversus beside the usual way: sysbench on the first target from the first test to the last, then on the second.

The reference method gives each test 180 s per target; here it is --seconds, and the time that the reference's length
would have taken is computed. Right after, dbversus measures the same statements on the same two targets, with no more time
than the sequential runs took. Loading is not counted on either side. With one build named twice (the default) every
ratio ought to be 1. The reference has no interval and no verdict, so there the ratios stand alone.
"""

import argparse
import math
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import (
    Json,
    cgroup_cpu_ns,
    engine_target,
    fill,
    make_parser,
    markdown,
    need_sysbench,
    number_after,
    own_cgroup,
    private_server,
    run_process,
    say,
    sysbench_command,
    told,
)
from fidelity import ACCEPTED, SUITE

from dbversus.builds.target import labels, parse_target
from dbversus.cli.display import PlainDisplay
from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.run import run_experiment
from dbversus.host.pinning import place
from dbversus.results.read import open_results
from dbversus.results.records import AnyRecord, Load, Look, of_type
from dbversus.results.stored import Results
from dbversus.stats.judge import decided_tests, judge
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Finding
from dbversus.suites import load_suite, profile_choices
from dbversus.units import parse_count

EXAMPLE = """example:
  benchmarks/reference_protocol.py > sequential.md
  benchmarks/reference_protocol.py --targets postgres:13.1 postgres:17 --seconds 30
"""
REFERENCE_SECONDS = 180
REFERENCE_TESTS = 42
TESTS = "oltp_point_select,select_random_points,oltp_read_only,oltp_update_index,oltp_write_only,oltp_insert"


@dataclass(frozen=True)
class Sequential:
    """One sysbench run of one test on one target."""

    ops_per_s: float
    cpu_us_per_op: float
    wall_s: float


@dataclass(frozen=True)
class Answer:
    """What dbversus says of one test: findings by metric, and minutes until it was decided (None: it was not)."""

    findings: Mapping[str, Finding]
    minutes: float | None


def run_sequential(target: str, tests: Sequence[str], rows: int, seconds: int, sysbench: str) -> dict[str, Sequential]:
    """All tests on one target, in order, on a server and data of its own."""
    cpu = place(1, "together").server_cpus[0]
    found = {}
    with own_cgroup() as group, private_server(target, rows, ACCEPTED, [cpu], group) as server:
        fill(server, rows, group)
        address: Json = engine_target(server, group)["address"]
        for test in tests:
            command = [*sysbench_command(sysbench, test, address, rows), "--events=0", f"--time={seconds}", "run"]
            before_ns = cgroup_cpu_ns(group)
            output, usage = run_process(command, [cpu])
            ops = number_after(output, "transactions:")
            cpu_us = (cgroup_cpu_ns(group) - before_ns) / 1e3
            found[test] = Sequential(ops / seconds, cpu_us / ops, usage.wall_s)
            say(f"{target}, {test}: {found[test].ops_per_s:,.0f} op/s, {found[test].cpu_us_per_op:,.1f} µs/op")
    return found


def run_interleaved(targets: Sequence[str], tests: Sequence[str], rows: int, budget_s: float) -> Results:
    """The same tests and targets by dbversus, with its usual looks, until all is decided or the time is up."""
    choices = profile_choices("standard") | {
        "targets": list(targets),
        "suite": str(SUITE),
        "tests": ",".join(tests),
        "table_size": rows,
        "placement": "together",
        "time_budget_s": budget_s,
    }
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "results"
        run_experiment(make_spec(choices), directory, "benchmarks/reference_protocol.py", PlainDisplay(), wait=True)
        return open_results(directory)


def told_by(results: Results) -> dict[str, Answer]:
    findings = judge(results)
    minutes = minutes_to_verdict(results.records, decided_tests(findings))
    return {
        test: Answer({one.metric: one for one in findings if one.test == test}, minutes.get(test))
        for test in results.tests
    }


def minutes_to_verdict(records: Sequence[AnyRecord], settled: Collection[str]) -> dict[str, float]:
    """Test → minutes from the end of the loading to the look at which it was retired.

    Those that were `settled` only when the time was up count from there; tests that never were are left out.
    """
    loads = [load.at_unix_ns for load in of_type(records, Load)]
    began_ns = max(loads, default=records[0].at_unix_ns)
    minutes = dict.fromkeys(settled, (records[-1].at_unix_ns - began_ns) / 60e9)
    for look in of_type(records, Look):
        minutes |= dict.fromkeys(look.retired, (look.at_unix_ns - began_ns) / 60e9)
    return minutes


def change(second: float, first: float) -> str:
    return f"{second / first - 1:+.1%}"


def interval(finding: Finding | None) -> str:
    """`+0.3% [-0.5, +1.1]`, at the confidence of the looks (docs/protocol.md)."""
    if finding is None or finding.ratio is None or finding.low is None or finding.high is None:
        return "-"
    low, high = (f"{(bound - 1) * 100:+.1f}" for bound in (finding.low, finding.high))
    return f"{finding.ratio - 1:+.1%} [{low}, {high}]"


def report(
    tests: Sequence[str], first: Mapping[str, Sequential], second: Mapping[str, Sequential], ours: Mapping[str, Answer]
) -> str:
    rows = []
    for test in tests:
        cpu, throughput = (ours[test].findings.get(metric) for metric in (CPU, THROUGHPUT))
        minutes = ours[test].minutes
        rows.append(
            [
                test,
                change(second[test].ops_per_s, first[test].ops_per_s),
                change(second[test].cpu_us_per_op, first[test].cpu_us_per_op),
                interval(throughput),
                interval(cpu),
                f"{cpu.verdict}, {throughput.verdict}" if cpu and throughput else "-",
                "-" if minutes is None else f"{minutes:.1f}",
            ]
        )
    header = [
        "script",
        "sequential: throughput",
        "CPU/op",
        "dbversus: throughput",
        "CPU/op",
        "verdicts (CPU, throughput)",
        "min to verdict",
    ]
    return markdown(header, rows)


def time_words(tests: Sequence[str], sequential_s: float, seconds: int, ours: Mapping[str, Answer]) -> str:
    """How long each took, and what the reference's own length comes to."""
    decided = [minutes for test in tests if (minutes := ours[test].minutes) is not None]
    reference_min = 2 * len(tests) * REFERENCE_SECONDS / 60
    lines = [
        f"- sequential: {sequential_s / 60:.1f} minutes of runs ({seconds} s per test and target); at the reference's "
        f"{REFERENCE_SECONDS} s these tests take {reference_min:.0f} minutes, its {REFERENCE_TESTS} tests "
        f"{2 * REFERENCE_TESTS * REFERENCE_SECONDS / 3600:.1f} hours",
        f"- dbversus: {len(decided)} of {len(tests)} tests decided"
        + (f", the last after {max(decided):.1f} minutes" if decided else ""),
    ]
    if len(decided) == len(tests):
        share = max(decided) / reference_min
        lines.append(f"- time to all verdicts ÷ time of the reference's protocol: {share:.3f} (1 ÷ {1 / share:.1f})")
    return "\n".join(lines)


def rms_words(tests: Sequence[str], first: Mapping[str, Sequential], second: Mapping[str, Sequential]) -> str:
    """Of equal targets: how far from 1 the sequential ratios are."""
    logs = [math.log(second[test].cpu_us_per_op / first[test].cpu_us_per_op) for test in tests]
    rates = [math.log(second[test].ops_per_s / first[test].ops_per_s) for test in tests]
    cpu, throughput = (math.sqrt(sum(value**2 for value in values) / len(values)) for values in (logs, rates))
    return f"- sequential, equal targets: root mean square error {cpu:.1%} in CPU/op, {throughput:.1%} in throughput"


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument(
        "--targets", nargs=2, default=["postgres:17", "postgres:17"], help="base and target (default: one build twice)"
    )
    parser.add_argument("--rows", default="1m", help="rows of the table (default: %(default)s)")
    parser.add_argument("--seconds", type=int, default=20, help="of a sysbench run (default: %(default)s)")
    parser.add_argument("--tests", default=TESTS, help="globs of scripts (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    if asked.seconds < 1:
        raise UsageError("--seconds takes whole seconds from 1 on.")
    rows, sysbench = parse_count(asked.rows, "--rows"), need_sysbench()
    tests = list(load_suite(SUITE).select(asked.tests).tests)
    first, second = (run_sequential(target, tests, rows, asked.seconds, sysbench) for target in asked.targets)
    sequential_s = sum(one.wall_s for runs in (first, second) for one in runs.values())
    ours = told_by(run_interleaved(asked.targets, tests, rows, sequential_s))
    specs = [parse_target(text) for text in asked.targets]
    print(
        f"{' against '.join(labels(specs)[::-1])}, {rows:,} rows, 1 client. Changes are those of the first named; "
        "intervals are those of the looks (docs/protocol.md).\n"
    )
    print(report(tests, first, second, ours), "\n")
    print(time_words(tests, sequential_s, asked.seconds, ours))
    if asked.targets[0] == asked.targets[1]:
        print(rms_words(tests, first, second))


if __name__ == "__main__":
    told(main)
