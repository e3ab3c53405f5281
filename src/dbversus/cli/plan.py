"""What an experiment would do, with its expected time and disk need: `--dry-run`."""

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from dbversus.builds.catalog import CatalogEntry
from dbversus.builds.model import UNSEEN, Build, TargetSpec
from dbversus.builds.store import check_available, resolve
from dbversus.builds.target import labels, parse_target, same_targets
from dbversus.dbms.sizes import BYTES_PER_ROW
from dbversus.experiment.asked.groups import make_groups
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.plan.estimate import Estimate, check_time_budget, estimate, shorter_ways
from dbversus.experiment.rig.data.script import check_scripts
from dbversus.experiment.rig.dry import Asked, check_settings
from dbversus.host.program import nothing_executed
from dbversus.report.terminal import make_console, print_table
from dbversus.stats.judgeable import USUAL
from dbversus.suites.model import Suite
from dbversus.suites.send.define import work_words
from dbversus.units import show_bytes, show_duration, show_memory

_LONG_S = 600.0
"""A first verdict that takes longer is worth a word on what would bring it sooner."""

_CACHES = {
    "cold": "cold: before every row servers are restarted and the page cache is dropped",
    "mixed": "mixed: in every block servers are restarted and the page cache is dropped once; nothing is warmed",
}


@dataclass(frozen=True)
class _Planned:
    """A target: its label, its build, where that is on this host (None: it is to be fetched), and what there is to say."""

    label: str
    build: str
    path: str | None
    note: str

    def words(self) -> str:
        origin = f"{self.build} in {self.path}" if self.path else f"{self.build}, to be fetched"
        return f"{self.label}: {origin}; {self.note}" if self.note else f"{self.label}: {origin}"


def print_plan(spec: ExperimentSpec, *, as_json: bool = False, may_execute: bool = True) -> None:
    """Prints targets, tests, slots, looks, time and disk; checks settings on the way, fetches and starts nothing.

    Raises UsageError or RunError where a run would. `as_json`: an object, with times in seconds and sizes in bytes. Without
    `may_execute`, no program or library is asked for its version or whether it takes its settings.
    """
    with contextlib.nullcontext() if may_execute else nothing_executed():
        _print(spec, _planned(spec, may_execute=may_execute), as_json=as_json)


def _print(spec: ExperimentSpec, targets: list[_Planned], *, as_json: bool) -> None:
    suite = spec.read_suite()
    expected = estimate(spec, suite)
    warnings = [words for words in (check_time_budget(spec, suite), _shorter(spec, expected), *_same(spec)) if words]
    if as_json:
        print(json.dumps(_as_object(spec, suite, expected, targets, warnings), indent=1))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, words in _rows(spec, suite, expected, targets):
        table.add_row(name, words)
    print_table(make_console(), table)
    for words in warnings:
        print(words, file=sys.stderr)


def _planned(spec: ExperimentSpec, *, may_execute: bool) -> list[_Planned]:
    targets = [parse_target(text) for text in spec.targets]
    if not may_execute:
        return [_not_executed(label, target) for label, target in zip(labels(targets), targets, strict=True)]
    asked = [Asked(label, target, resolve(target)) for label, target in zip(labels(targets), targets, strict=True)]
    for one in asked:
        if isinstance(one.found, CatalogEntry):
            check_available(one.found)
    notes = check_settings(asked, spec)
    return [
        _Planned(one.label, one.found.name, str(one.found.prefix) if isinstance(one.found, Build) else None, note)
        for one, note in zip(asked, notes, strict=True)
    ]


def _same(spec: ExperimentSpec) -> list[str]:
    """Targets that are the same binary with the same configs, unless it is meant."""
    if spec.inject is not None:
        return []
    targets = [parse_target(text) for text in spec.targets]
    told_apart = []
    for label, target in zip(labels(targets), targets, strict=True):
        found = resolve(target)
        build = (isinstance(found, Build) and found.checksum) or found.name
        told_apart.append((label, (found.dbms, build, target.configs)))
    return list(same_targets(told_apart).values())


def _not_executed(label: str, target: TargetSpec) -> _Planned:
    """As `_planned`, without asking a build for its version, or whether it takes its settings."""
    found = resolve(target)
    if found.version == UNSEEN:
        return _Planned(label, target.dbms, target.selector, "not executed, not even to ask for its version")
    path = str(found.prefix) if isinstance(found, Build) else None
    return _Planned(label, found.name, path, "not executed, so its settings are not checked")


def _as_object(
    spec: ExperimentSpec, suite: Suite, expected: Estimate, targets: list[_Planned], warnings: list[str]
) -> dict[str, Any]:
    return {
        "targets": [asdict(target) for target in targets],
        "phases": [
            {"name": phase.name, "tests": [test.name for test in phase.reported_tests]} for phase in suite.phases
        ],
        "passed_over": [*_passed_over(spec, suite), *spec.left_out()],
        "expected": asdict(expected),
        "experiment": spec.model_dump(mode="json"),
        "warnings": warnings,
    }


def _rows(spec: ExperimentSpec, suite: Suite, expected: Estimate, targets: list[_Planned]) -> Iterator[tuple[str, str]]:
    for number, target in enumerate(targets):
        yield ("target" if number else "base", target.words())
    if len(targets) > 1:
        yield "order", _order(spec)
    for phase in suite.phases:
        yield "phase", f"{phase.name}: {', '.join(test.name for test in phase.reported_tests)}"
    yield from (("work", words) for size in spec.table_sizes for words in work_words(suite, size, spec.tables))
    yield "data", _data(spec, suite, expected)
    yield from (("note", words) for words in (*_passed_over(spec, suite), *spec.left_out()))
    if spec.memory:
        yield "memory", _memory(spec)
    if spec.cache != "warm":
        yield "caches", _CACHES[spec.cache]
    if probes := ", ".join(suite.probes):
        yield "host", f"measured before anything is started: {probes}"
    yield from _protocol(spec, expected)


def _passed_over(spec: ExperimentSpec, suite: Suite) -> list[str]:
    return check_scripts(suite, [parse_target(text).dbms for text in spec.targets])


def _data(spec: ExperimentSpec, suite: Suite, expected: Estimate) -> str:
    dbms = [parse_target(text).dbms for text in spec.targets]
    rows = "; ".join(", ".join(suite.table_words(size, spec.tables, dbms)) for size in spec.table_sizes)
    if not expected.loads:
        return f"{rows}, of which the load is all that is measured"
    times = "once" if expected.loads == 1 else f"{expected.loads} times"
    when = "in every block" if spec.restore == "block" else "once"
    return f"{rows}, loaded {times}, restored for each target {when}"


def _shorter(spec: ExperimentSpec, expected: Estimate) -> str:
    """What else would bring first verdicts sooner, where they take long; empty where they do not, or nothing does."""
    if expected.first_verdict_s < _LONG_S:
        return ""
    ways = [f"{flag}: {show_duration(seconds)}" for flag, seconds in shorter_ways(spec, expected)]
    tests = "fewer --tests, or a smaller --table-size"
    return f"First verdicts would come sooner with {'; '.join([*ways, tests])}."


def _order(spec: ExperimentSpec) -> str:
    groups = make_groups(spec.targets, spec.order, spec.at_once)
    if spec.order == "sequential":
        return "one target after another in every block"
    if len(groups) == 1:
        return f"interleaved: all {len(spec.targets)} targets in every row"
    return f"interleaved: {len(groups)} groups a block, each of at most {spec.servers_up} targets with the base"


def _memory(spec: ExperimentSpec) -> str:
    assert spec.memory
    rows = spec.usual_rows()
    data = f"data is about {rows * BYTES_PER_ROW / spec.memory:.1f} times as large" if rows else "tests bring the data"
    return f"{show_memory(spec.memory)} for each server, page cache included; {data}"


def _slots(spec: ExperimentSpec) -> str:
    if spec.cache == "cold":
        return f"1 row with the same operations for every target, about {spec.cold_slot_ms:g} ms on the slowest,"
    longer = f" ({spec.write_slot_ms:g} ms where data is changed)" if spec.write_slot_ms != spec.slot_ms else ""
    return f"up to {spec.rows} rows × {spec.slot_ms:g} ms{longer}"


def _quiet(spec: ExperimentSpec) -> str:
    """What is done about other work on the host; empty: nothing."""
    if spec.wait_quiet_s:
        end = "the run ends" if spec.require_quiet else "the block begins all the same"
        most = show_duration(spec.wait_quiet_s)
        return f"up to {most} more before each block, until other work on the host has ended; when it has not, {end}"
    return "where other work goes on before a block, the run ends" if spec.require_quiet else ""


def _protocol(spec: ExperimentSpec, expected: Estimate) -> Iterator[tuple[str, str]]:
    if expected.has_slots:
        yield "slots", f"{_slots(spec)} per test and block"
    if expected.has_lead_in:
        length = show_duration(spec.lead_in_s)
        yield "lead-in", f"{length} on the slowest target before each test that changes data, uncounted"
    yield "clients", ", ".join(map(str, spec.clients))
    if spec.judge != list(USUAL):
        yield "judged", f"{', '.join(spec.judge)} make the verdicts"
    yield "looks", f"after {', '.join(map(str, spec.looks))} blocks; a decided test takes part in no more"
    beside = "; work without a rate comes on top" if expected.has_unpaced else ""
    yield (
        "time",
        f"load {show_duration(expected.load_s)}, {show_duration(expected.block_s)} a block: first verdicts after "
        f"{show_duration(expected.first_verdict_s)}, at most {show_duration(expected.most_s)}{beside}",
    )
    if spec.time_budget_s:
        budget = show_duration(spec.time_budget_s)
        yield "budget", f"no block is started that would end after {budget}; the blocks there are then are judged"
    if words := _quiet(spec):
        yield "quiet", words
    yield "disk", f"{show_bytes(expected.disk_bytes)} for snapshots and working copies"
