"""What an experiment would do, with its expected time and disk need: `--dry-run`."""

import sys

from rich.console import Console
from rich.table import Table

from dbversus.builds.catalog import CatalogEntry
from dbversus.builds.model import Build
from dbversus.builds.store import resolve
from dbversus.builds.target import labels, parse_target
from dbversus.dbms.sizes import BYTES_PER_ROW
from dbversus.experiment.asked.groups import make_groups
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.plan.estimate import Estimate, check_time_budget, estimate
from dbversus.experiment.rig.dry import Asked, check_settings
from dbversus.report.terminal import print_table
from dbversus.stats.judgeable import USUAL
from dbversus.suites.send.define import work_words
from dbversus.units import show_bytes, show_duration, show_memory


def _origin(found: Build | CatalogEntry) -> str:
    if isinstance(found, Build):
        return f"{found.name} in {found.prefix}"
    return f"{found.name}, to be fetched"


_CACHES = {
    "cold": "cold: before every row servers are restarted and the page cache is dropped",
    "mixed": "mixed: in every block servers are restarted and the page cache is dropped once; nothing is warmed",
}


def print_plan(spec: ExperimentSpec) -> None:
    """Prints targets, tests, slots, looks, time and disk; checks settings on the way, fetches and starts nothing."""
    suite = spec.read_suite()
    expected = estimate(spec, suite)
    table = Table(show_header=False, box=None, pad_edge=False)
    _add_targets(table, spec)
    for phase in suite.phases:
        table.add_row("phase", f"{phase.name}: {', '.join(test.name for test in phase.tests)}")
    for size in spec.table_sizes:
        for words in work_words(suite, size, spec.tables):
            table.add_row("work", words)
    dbms = [parse_target(text).dbms for text in spec.targets]
    rows = "; ".join(", ".join(suite.table_words(size, spec.tables, dbms)) for size in spec.table_sizes)
    times = "once" if expected.loads == 1 else f"{expected.loads} times"
    when = "in every block" if spec.restore == "block" else "once"
    table.add_row("data", f"{rows}, loaded {times}, restored for each target {when}")
    if spec.memory:
        table.add_row("memory", _memory(spec))
    if spec.cache != "warm":
        table.add_row("caches", _CACHES[spec.cache])
    if probes := ", ".join(suite.probes):
        table.add_row("host", f"measured before anything is started: {probes}")
    _add_protocol(table, spec, expected)
    print_table(Console(highlight=False, markup=False), table)
    if words := check_time_budget(spec, suite):
        print(words, file=sys.stderr)


def _add_targets(table: Table, spec: ExperimentSpec) -> None:
    targets = [parse_target(text) for text in spec.targets]
    asked = [Asked(label, target, resolve(target)) for label, target in zip(labels(targets), targets, strict=True)]
    for number, (one, note) in enumerate(zip(asked, check_settings(asked, spec), strict=True)):
        words = f"{one.label}: {_origin(one.found)}"
        table.add_row("target" if number else "base", f"{words}; {note}" if note else words)
    if len(targets) > 1:
        table.add_row("order", _order(spec))


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


def _add_protocol(table: Table, spec: ExperimentSpec, expected: Estimate) -> None:
    if expected.has_slots:
        table.add_row("slots", f"{_slots(spec)} per test and block")
    if expected.has_lead_in:
        length = show_duration(spec.lead_in_s)
        table.add_row("lead-in", f"{length} on the slowest target before each test that changes data, uncounted")
    table.add_row("clients", ", ".join(map(str, spec.clients)))
    if spec.judge != list(USUAL):
        table.add_row("judged", f"{', '.join(spec.judge)} make the verdicts")
    table.add_row("looks", f"after {', '.join(map(str, spec.looks))} blocks; a decided test takes part in no more")
    beside = "; work without a rate comes on top" if expected.has_unpaced else ""
    table.add_row(
        "time",
        f"load {show_duration(expected.load_s)}, {show_duration(expected.block_s)} a block: first verdicts after "
        f"{show_duration(expected.first_verdict_s)}, at most {show_duration(expected.most_s)}{beside}",
    )
    if spec.time_budget_s:
        budget = show_duration(spec.time_budget_s)
        table.add_row(
            "budget", f"no block is started that would end after {budget}; the blocks there are then are judged"
        )
    if words := _quiet(spec):
        table.add_row("quiet", words)
    table.add_row("disk", f"{show_bytes(expected.disk_bytes)} for snapshots and working copies")
