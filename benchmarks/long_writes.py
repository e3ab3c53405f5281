#!/usr/bin/env python
"""Write tests for ten minutes on each server, beside the verdicts that dbversus gives on them in seconds.

`measure` runs each test on each target alone, one after the other: on aged data, all cores for the server but that of its
client, nothing frozen, ten minutes without a pause. What is there already is not measured again, so it can be stopped and
started at will. A shared host is not the same for ten minutes and the next ten: with `--in-turns` all targets of a test take
turns of 10 s, and are frozen meanwhile. `export` prints what was measured as CSV, a line per slot, to be kept where the folder
is not. `table` reads either, sets the ratios of these minutes beside those of a comparison of the same targets (`dbversus
compare`), and says where their directions differ.
"""

import argparse
import csv
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from common import make_parser, markdown, say, told

from dbversus.cli.display import PlainDisplay
from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec
from dbversus.experiment.folder import read_folder
from dbversus.experiment.run import resume_experiment, run_experiment
from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL
from dbversus.results.stored import Results
from dbversus.stats.judge import judge
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Finding
from dbversus.suites import load_suite, profile_choices
from dbversus.units import parse_count

EXAMPLE = """example:
  benchmarks/long_writes.py measure FOLDER --targets mysql:5.6 mysql:8.0 --tests update-index,insert
  dbversus compare mysql:5.6 mysql:8.0 --tests writes --out SHORT
  benchmarks/long_writes.py export FOLDER > docs/results/long-writes.csv
  benchmarks/long_writes.py table docs/results/long-writes.csv --short SHORT
"""
SUITE = Path(__file__).with_name("long_writes.toml")
SLOT_S = 10
FIGURES = ("ops_per_s", "cpu_us_per_op", "written_bytes_per_op", "foreground_us_per_op")
COLUMNS = ("test", "target", "slot", *FIGURES)
FOREGROUND = "server_foreground_cpu_us_per_op"
METRICS = {CPU: "CPU/op", FOREGROUND: "foreground CPU/op", THROUGHPUT: "throughput"}
SMALL = 0.03
"""Changes below this have no direction."""


@dataclass(frozen=True)
class Course:
    """One test on one target: a value for each slot, in order. CPU is that of the server, foreground and background.

    Of its foreground alone nothing is known in older files: that is empty then.
    """

    test: str
    target: str
    ops_per_s: Sequence[float]
    cpu_us_per_op: Sequence[float]
    written_bytes_per_op: Sequence[float]
    foreground_us_per_op: Sequence[float] = ()

    def of(self, metric: str) -> Sequence[float]:
        """Values of one of METRICS."""
        return {CPU: self.cpu_us_per_op, FOREGROUND: self.foreground_us_per_op, THROUGHPUT: self.ops_per_s}[metric]

    def late(self, values: Sequence[float]) -> float:
        """Median of the second half: what the first minutes bring is over."""
        return statistics.median(values[len(values) // 2 :])

    def early(self, values: Sequence[float]) -> float:
        return statistics.median(values[:3])


def spec_of(targets: list[str], test: str, minutes: float, table_size: int, placement: str) -> ExperimentSpec:
    """One target alone, or several in turns."""
    slots = max(1, round(minutes * 60 / SLOT_S))
    alone = len(targets) == 1
    choices = {
        "targets": targets,
        "alone": alone,
        "suite": str(SUITE),
        "tests": test,
        "table_size": table_size,
        "order": "sequential" if alone else "interleaved",
        "placement": placement,
        "slot_ms": SLOT_S * 1000,
        "write_slot_ms": SLOT_S * 1000,
        "warm_up_ms": 0,
        "rows": slots,
        "seconds": (slots + 1) * SLOT_S * len(targets),
        "looks": [1],
        "check_events": 0,
        "drain_s": 60,
        "calibration": False,
    }
    return make_spec(profile_choices("standard") | choices)


def measure(arguments: argparse.Namespace) -> None:
    """Every test on all targets before the next test, so that what is compared was measured within the hour."""
    size = parse_count(arguments.table_size, "--table-size")
    for test in load_suite(SUITE).select(arguments.tests).tests:
        groups = [arguments.targets] if arguments.in_turns else [[target] for target in arguments.targets]
        for group in groups:
            folder = arguments.folder / f"{test}@{'+'.join(group).replace('/', '_').replace(':', '-')}"
            _measure_one(spec_of(group, test, arguments.minutes, size, arguments.placement), folder)


def _measure_one(spec: ExperimentSpec, folder: Path) -> None:
    if (folder / JOURNAL).exists():
        if open_results(folder).finished:
            say(f"{folder.name}: measured already")
            return
        resume_experiment(read_folder(folder), folder, PlainDisplay(), wait=True)
        return
    say(folder.name)
    run_experiment(spec, folder, " ".join(sys.argv), PlainDisplay(), wait=True)


def export(arguments: argparse.Namespace) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if not arguments.no_head:
        writer.writerow(COLUMNS)
    for one in courses(arguments.folder):
        figures = [one.ops_per_s, one.cpu_us_per_op, one.written_bytes_per_op, one.foreground_us_per_op]
        slots = zip(*filter(None, figures), strict=True)
        writer.writerows(
            [one.test, one.target, number, *(f"{value:.5g}" for value in slot)] for number, slot in enumerate(slots)
        )


def courses(source: Path) -> list[Course]:
    """From a folder of `measure`, or a file of `export`."""
    return _exported(source) if source.is_file() else _measured(source)


def _exported(file: Path) -> list[Course]:
    slots: dict[tuple[str, str], list[list[float]]] = {}
    with file.open(newline="") as lines:
        reader = csv.DictReader(lines)
        names = tuple(reader.fieldnames or ())
        if names not in (COLUMNS, COLUMNS[:-1]):
            raise UsageError(f"{file} does not begin with {','.join(COLUMNS)}; name what `export` printed.")
        for line in reader:
            slots.setdefault((line["test"], line["target"]), []).append(
                [float(line[name]) for name in FIGURES if name in names]
            )
    return [Course(*place, *map(list, zip(*of_course, strict=True))) for place, of_course in slots.items()]


def _measured(folder: Path) -> list[Course]:
    of_folders = (open_results(path.parent) for path in sorted(folder.glob(f"*/{JOURNAL}")))
    found = [_course(results, target.label) for results in of_folders for target in results.targets]
    if not found:
        raise UsageError(
            f"{folder} holds no measured test; make some with `benchmarks/long_writes.py measure {folder}`."
        )
    return found


def _course(results: Results, target: str) -> Course:
    own = results.slots["target"] == target
    slots = {name: column[own] for name, column in results.slots.items()}
    ops, seconds = np.asarray(slots["ops"], float), np.asarray(slots["elapsed_ns"], float) / 1e9
    cpu_us, written = np.asarray(slots["server_cpu_ns"], float) / 1e3, np.asarray(slots["server_write_bytes"], float)
    foreground_us = np.asarray(slots["server_foreground_cpu_ns"], float) / 1e3
    return Course(
        str(slots["test"][0]),
        target,
        *(list(one) for one in (ops / seconds, cpu_us / ops, written / ops, foreground_us / ops)),
    )


def course_rows(found: Sequence[Course]) -> list[list[str]]:
    rows = []
    for one in found:
        figures = [one.ops_per_s, one.cpu_us_per_op, [value / 1024 for value in one.written_bytes_per_op]]
        rows.append(
            [one.test, one.target, *(f"{one.early(values):,.1f} → {one.late(values):,.1f}" for values in figures)]
        )
    return rows


def short_findings(folders: Sequence[Path]) -> dict[tuple[str, str, str], dict[str, Finding]]:
    """(test, base, target) → metric → finding, of comparisons."""
    found: dict[tuple[str, str, str], dict[str, Finding]] = {}
    for folder in folders:
        results = open_results(folder)
        for finding in judge(results):
            if finding.metric in METRICS:
                found.setdefault((finding.test, results.base.label, finding.target), {})[finding.metric] = finding
    return found


def pair_rows(found: Sequence[Course], short: dict[tuple[str, str, str], dict[str, Finding]]) -> Iterator[list[str]]:
    """A line for each pair of targets that has both: ratios of the long run's second half, and the findings."""
    by_test: dict[str, list[Course]] = {}
    for one in found:
        by_test.setdefault(one.test, []).append(one)
    for test, of_test in by_test.items():
        for one, other in combinations(of_test, 2):
            for base, target in ((one, other), (other, one)):
                findings = short.get((test, base.target, target.target), {})
                if findings:
                    yield _pair_row(base, target, findings)


def _pair_row(base: Course, target: Course, findings: dict[str, Finding]) -> list[str]:
    cells = [base.test, f"{base.target} → {target.target}"]
    for name in METRICS:
        values = base.of(name), target.of(name)
        finding = findings.get(name)
        ratio = finding.ratio if finding else None
        short = f"{ratio:.2f} {finding.verdict}" if finding and ratio else "–"
        if not all(values):
            cells += ["–", "–", short, ""]
            continue
        early, late = base.early(values[1]) / base.early(values[0]), base.late(values[1]) / base.late(values[0])
        is_same = ratio is None or _same_direction(late, ratio)
        cells += [f"{early:.2f}", f"{late:.2f}", short, "" if is_same else "differs"]
    return cells


def _same_direction(one: float, other: float) -> bool:
    return (
        abs(math.log(one)) < math.log1p(SMALL) or abs(math.log(other)) < math.log1p(SMALL) or (one > 1) == (other > 1)
    )


def print_tables(arguments: argparse.Namespace) -> None:
    found = courses(arguments.folder)
    heads = ["test", "target", "operations/s, first → last half", "CPU/op, µs", "written/op, kB"]
    print(markdown(heads, course_rows(found)))
    rows = list(pair_rows(found, short_findings(arguments.short)))
    if rows:
        of_metric = ["first 30 s", "last half", "dbversus", ""]
        print()
        print(
            markdown(
                ["test", "pair", *(f"{title}: {head}" for title in METRICS.values() for head in of_metric)],
                rows,
            )
        )


def main() -> None:
    parser = make_parser(__doc__, EXAMPLE)
    verbs = parser.add_subparsers(required=True)
    first = verbs.add_parser("measure")
    first.add_argument("folder", type=Path)
    first.add_argument("--targets", nargs="+", default=["mysql:5.6", "mysql:8.0", "mariadb:10.11", "postgres:17"])
    first.add_argument("--tests", help="globs, comma separated (default: all)")
    first.add_argument("--minutes", type=float, default=10)
    first.add_argument("--table-size", default="1m")
    first.add_argument("--placement", default="split")
    first.add_argument("--in-turns", action="store_true", help="all targets of a test in turns of 10 s")
    first.set_defaults(run=measure)
    kept = verbs.add_parser("export")
    kept.add_argument("folder", type=Path)
    kept.add_argument("--no-head", action="store_true", help="leave the line of names out, to append to a file")
    kept.set_defaults(run=export)
    second = verbs.add_parser("table")
    second.add_argument("folder", type=Path, metavar="SOURCE", help="folder of `measure`, or file of `export`")
    second.add_argument("--short", type=Path, action="append", default=[], help="results of a comparison (repeatable)")
    second.set_defaults(run=print_tables)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    told(main)
