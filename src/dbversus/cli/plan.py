"""What an experiment would do, with its expected time and disk need: `--dry-run`."""

from rich.console import Console
from rich.table import Table

from dbversus.builds.catalog import CatalogEntry
from dbversus.builds.model import Build
from dbversus.builds.store import resolve
from dbversus.builds.target import labels, parse_target
from dbversus.experiment.estimate import estimate
from dbversus.experiment.spec import ExperimentSpec
from dbversus.experiment.units import show_bytes, show_duration
from dbversus.suites.load import load_suite


def _origin(found: Build | CatalogEntry) -> str:
    if isinstance(found, Build):
        return f"{found.name} in {found.prefix}"
    return f"{found.name}, to be fetched"


def print_plan(spec: ExperimentSpec) -> None:
    """Prints targets, tests, slots, looks, time and disk; checks names on the way, fetches and starts nothing."""
    targets = [parse_target(text) for text in spec.targets]
    suite = load_suite(spec.suite).select(spec.tests)
    expected = estimate(spec, suite, len(targets))
    table = Table(show_header=False, box=None, pad_edge=False)
    for number, (label, target) in enumerate(zip(labels(targets), targets, strict=True)):
        table.add_row("target" if number else "base", f"{label}: {_origin(resolve(target))}")
    for phase in suite.phases:
        table.add_row("phase", f"{phase.name}: {', '.join(test.name for test in phase.tests)}")
    rows = f"{spec.tables} × {spec.table_size} rows"
    table.add_row("data", f"{rows}, loaded once per target, restored in every block")
    table.add_row(
        "slots",
        f"up to {spec.rows} rows × {spec.slot_ms:g} ms per test and block, {' and '.join(map(str, spec.clients))} client(s)",
    )
    table.add_row("looks", f"after {', '.join(map(str, spec.looks))} blocks; a decided test takes part in no more")
    table.add_row(
        "time",
        f"load {show_duration(expected.load_s)}, {show_duration(expected.block_s)} a block: first verdicts after "
        f"{show_duration(expected.first_verdict_s)}, at most {show_duration(expected.most_s)}",
    )
    if spec.time_budget_s:
        table.add_row("budget", f"no block is started that would end after {show_duration(spec.time_budget_s)}")
    table.add_row("disk", f"{show_bytes(expected.disk_bytes)} for snapshots and working copies")
    Console().print(table, highlight=False, markup=False)
