#!/usr/bin/env python
"""What being frozen does to a server's timers: the same steps in slices, and in one piece on a server that is up alone.

Targets of a step take turns in slices, and are frozen in between. Their clocks go on: what a server does every ten seconds
(autovacuum_naptime, checkpoint_timeout, purge) comes more often in the time in which it is driven. `measure` runs steps of the
Insert Benchmark on each target beside an equal one, in slices of each length that is asked for, and alone, with nothing frozen.
What is there already is not measured again, so it can be stopped and started at will. `table` compares them per driven second
and per row.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from common import make_parser, markdown, say, spread, told

from dbversus.cli.display import PlainDisplay
from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec
from dbversus.experiment.folder import read_folder
from dbversus.experiment.run import resume_experiment, run_experiment
from dbversus.results.journal import parse_journal
from dbversus.results.read import open_results
from dbversus.results.records import AnyRecord, Counters, Objects, Row, of_type
from dbversus.results.schema import JOURNAL
from dbversus.suites import profile_choices
from dbversus.units import parse_count

EXAMPLE = """example, some 10 minutes; --seconds 900 --percent-more 20000 for a quiet machine:
  benchmarks/frozen_timers.py measure FOLDER --slices 250 1000 4000 --seconds 30
  benchmarks/frozen_timers.py table FOLDER
"""
TARGETS = ("postgres:17@checkpoint_timeout=30s", "mariadb:10.11")
LOADING = ("l.i0", "l.x")
"""Steps that the others build on."""

ALONE_MS = 3_600_000
"""A slice that no step is longer than."""

TIMED = ("num_timed", "checkpoints_timed")
REQUESTED = ("num_requested", "checkpoints_req")
LOG = ("wal.position_bytes", "status.innodb_os_log_written")
AUTOVACUUM = ("table.autovacuum_count", "table.autoanalyze_count")
FLUSHED = ("buffers_written", "buffers_checkpoint", "buffers_clean", "status.innodb_buffer_pool_pages_flushed")
OWED = ("dead_rows", "history_transactions", "wal_since_checkpoint_bytes", "checkpoint_age_bytes")


@dataclass(frozen=True)
class Driven:
    """A step on a server, in one block. `rows`: inserted and deleted; `counters`: what they rose by; `owed`: at its end."""

    seconds: float
    wall_s: float
    ops: int
    rows: int
    cpu_ns: int
    background_ns: int
    counters: Mapping[str, float] = field(default_factory=dict)
    owed: Mapping[str, float] = field(default_factory=dict)

    def rise(self, names: Sequence[str]) -> float:
        """Of all counters whose names end like that."""
        return sum(value for name, value in self.counters.items() if name.endswith(tuple(names)))

    def per_minute(self, names: Sequence[str]) -> float:
        return 60 * self.rise(names) / self.seconds


FIGURES: Mapping[str, Callable[[Driven], float]] = {
    "wall ÷ driven time": lambda one: one.wall_s / one.seconds,
    "operations/s": lambda one: one.ops / one.seconds,
    "server CPU, µs/op": lambda one: one.cpu_ns / 1e3 / one.ops,
    "background CPU, µs/row": lambda one: one.background_ns / 1e3 / max(1, one.rows),
    "log, bytes/row": lambda one: one.rise(LOG) / max(1, one.rows),
    "pages flushed/row": lambda one: one.rise(FLUSHED) / max(1, one.rows),
    "timed checkpoints/min": lambda one: one.per_minute(TIMED),
    "requested checkpoints/min": lambda one: one.per_minute(REQUESTED),
    "autovacuum and autoanalyze/min": lambda one: one.per_minute(AUTOVACUUM),
    **{f"{name} at the end": lambda one, name=name: one.owed.get(name, 0.0) for name in OWED},  # type: ignore[misc]
}
"""Seconds and minutes are those in which the server was driven."""


def suite_text(slice_ms: int, seconds: int, percent_more: int) -> str:
    """The suite `insert` with such slices, and without l.i2: what comes later builds on l.i1."""
    text = (files("dbversus.suites") / "shipped/insert.toml").read_text()
    for old, new in (
        ('kind = "step"\n', f'kind = "step"\nslice_ms = {slice_ms}\n'),
        ('builds_on = ["l.i2"]', 'builds_on = ["l.i1"]'),
        ("seconds = 60 ", f"seconds = {seconds} "),
        ("percent_more = 100 ", f"percent_more = {percent_more} "),
    ):
        if old not in text:
            raise UsageError(f"The suite insert has no '{old.strip()}' any more; this benchmark has to follow it.")
        text = text.replace(old, new)
    return text


def spec_of(target: str, suite: Path, arguments: argparse.Namespace, *, alone: bool) -> ExperimentSpec:
    choices = {
        "targets": [target] if alone else [target, target],
        "alone": alone,
        "freeze": not alone,
        "suite": str(suite),
        "tests": ",".join([*LOADING, *arguments.tests.split(",")]),
        "table_size": parse_count(arguments.table_size, "--table-size"),
        "looks": [arguments.blocks],
        "drain_s": 0,
        "calibration": False,
    }
    return make_spec(profile_choices("standard") | choices)


def measure(arguments: argparse.Namespace) -> None:
    """Alone and in slices one after another, target by target, so that what is compared was measured within the hour."""
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for target in arguments.targets:
        for slice_ms in (ALONE_MS, *arguments.slices):
            suite = arguments.folder / f"insert-{slice_ms}.toml"
            suite.write_text(suite_text(slice_ms, arguments.seconds, arguments.percent_more))
            name = "".join(letter if letter.isalnum() else "-" for letter in target)
            spec = spec_of(target, suite, arguments, alone=slice_ms == ALONE_MS)
            _measure_one(spec, arguments.folder / f"{name}@{slice_ms}")


def _measure_one(spec: ExperimentSpec, folder: Path) -> None:
    if (folder / JOURNAL).exists():
        if open_results(folder).finished:
            say(f"{folder.name}: measured already")
            return
        resume_experiment(read_folder(folder), folder, PlainDisplay(), wait=True)
        return
    say(folder.name)
    run_experiment(spec, folder, " ".join(sys.argv), PlainDisplay(), wait=True)


def driven(records: Sequence[AnyRecord]) -> Iterator[tuple[str, Driven]]:
    """Each step on each server in each block; without the steps that load."""
    rises = {(each.block, each.test): each.delta for each in of_type(records, Counters)}
    ends = {(each.block, each.test): each.at_end for each in of_type(records, Objects) if each.at_end}
    for row in of_type(records, Row):
        if row.test in LOADING:
            continue
        place = row.block, row.test
        for slot in row.slots:
            of_server = ends.get(place, {}).get(slot.target, {}).get("server", {})
            yield (
                row.test,
                Driven(
                    seconds=(slot.elapsed_ns or 0) / 1e9,
                    wall_s=((row.host_figures and row.host_figures.wall_ns) or 0) / 1e9,
                    ops=slot.ops or 0,
                    rows=slot.affected or 0,
                    cpu_ns=slot.server_cpu_ns or 0,
                    background_ns=slot.server_background_cpu_ns or 0,
                    counters=rises.get(place, {}).get(slot.target, {}),
                    owed={name: value for kind in of_server.values() for name, value in kind.items()},
                ),
            )


def tables(found: Mapping[str, Mapping[str, Sequence[Driven]]]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Title, head and lines of a table for each step. `found`: step → how it was measured → each server in each block."""
    for title, ways in found.items():
        lines = []
        for name, figure in FIGURES.items():
            values = [[figure(one) for one in of_way] for of_way in ways.values()]
            if any(any(of_way) for of_way in values):
                lines.append([name, *map(spread, values)])
        yield title, [title, *ways], lines


def read(folder: Path) -> dict[str, dict[str, list[Driven]]]:
    found: dict[str, dict[str, list[Driven]]] = {}
    journals = sorted(
        folder.glob(f"*@*/{JOURNAL}"), key=lambda path: (path.parent.name.split("@")[0], -_slice_ms(path))
    )
    for path in journals:
        results, slice_ms = open_results(path.parent), _slice_ms(path)
        way = "alone" if slice_ms == ALONE_MS else f"slices of {slice_ms:,} ms"
        for test, one in driven(parse_journal(path)[0]):
            found.setdefault(f"{results.base.label}, {test}", {}).setdefault(way, []).append(one)
    if not found:
        raise UsageError(
            f"{folder} holds nothing measured; make it with `benchmarks/frozen_timers.py measure {folder}`."
        )
    return found


def _slice_ms(journal: Path) -> int:
    return int(journal.parent.name.rpartition("@")[2])


def print_tables(arguments: argparse.Namespace) -> None:
    for _, head, lines in tables(read(arguments.folder)):
        print(f"{markdown(head, lines)}\n")


def main() -> None:
    parser = make_parser(__doc__, EXAMPLE)
    verbs = parser.add_subparsers(required=True)
    first = verbs.add_parser("measure")
    first.add_argument("folder", type=Path)
    first.add_argument("--targets", nargs="+", default=TARGETS)
    first.add_argument("--slices", nargs="+", type=int, default=[1000], help="lengths in ms")
    first.add_argument("--tests", default="l.i1,qr1000", help="names with commas between, l.i1 among them")
    first.add_argument("--seconds", type=int, default=60, help="of a step with queries")
    first.add_argument(
        "--percent-more", type=int, default=1000, help="rows of l.i1: 4/5 of so many percent of the table"
    )
    first.add_argument("--table-size", default="200k")
    first.add_argument("--blocks", type=int, default=1)
    first.set_defaults(run=measure)
    second = verbs.add_parser("table")
    second.add_argument("folder", type=Path)
    second.set_defaults(run=print_tables)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    told(main)
