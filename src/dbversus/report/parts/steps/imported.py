"""The steps of an import: what summaries of the Insert Benchmark print, in their own columns (docs/import.md)."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

from dbversus.importing.formats.insert import STEPS_2021
from dbversus.report.figures import estimate
from dbversus.report.model import Step, StepCell, StepsPart
from dbversus.results.stored import Results
from dbversus.results.tables.imported import imported_values
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import Finding

PRINTED: Mapping[str, str] = {
    "test": "",
    "target": "",
    "ips": "rows inserted or indexed, 1/s",
    "qps": "queries, 1/s",
    "rps": "reads of the disk, 1/s",
    "rmbps": "read from the disk, MB/s",
    "wps": "writes of the disk, 1/s",
    "wmbps": "written to the disk, MB/s",
    "rpq": "reads of the disk, per row or query",
    "rkbpq": "read from the disk, KB per row or query",
    "wpi": "writes of the disk, per inserted row",
    "wkbpi": "written to the disk, KB per inserted row",
    "csps": "context switches of the machine, 1/s",
    "cpups": "CPU of the machine, client included, % of all CPUs",
    "cspq": "context switches of the machine, per row or query",
    "cpupq": "CPU of the machine, client included, µs per row or query",
    "dbgb1": "database at the end: tables and indexes, GB",
    "dbgb2": "data directory at the end: logs too, GB",
    "rss": "resident memory of the server, GB",
    "maxop": "longest response time, s",
    "p50": "rate of one client that was exceeded in 50 % of the seconds, 1/s",
    "p99": "rate of one client that was exceeded in 99 % of the seconds, 1/s",
}
"""Column → what the reference method means by it, with its unit."""
_FIGURES = [name for name, what in PRINTED.items() if what]

Runs = dict[str, list[float]]
"""Column → its value in each run."""


def printed_steps(results: Results) -> dict[str, dict[str, Runs]]:
    """Tests that have rates of inserts → target label → columns; known tests in the order in which they are run."""
    printed: dict[str, dict[str, Runs]] = {test: {} for test in _in_order(results.tests)}
    for value in imported_values(results.directory, _FIGURES):
        label = results.relabelled.get(value.target, value.target)
        of_target = printed.setdefault(value.test, {}).setdefault(label, {})
        of_target.setdefault(value.metric, []).append(value.value)
    labels = [target.label for target in results.targets]
    found = {
        test: {label: targets[label] for label in labels if "ips" in targets.get(label, {})}
        for test, targets in printed.items()
    }
    return {test: targets for test, targets in found.items() if targets}


def _in_order(tests: Iterable[str]) -> list[str]:
    """An import meets files in the order of their names."""
    places = {step: place for place, step in enumerate(STEPS_2021)}
    return sorted(tests, key=lambda test: places.get(test, len(places)))


def imported_steps_part(results: Results, findings: Iterable[Finding]) -> StepsPart | None:
    """None where nothing is a step. What rate of inserts was asked for is not printed, nor whether an SLA was met."""
    printed = printed_steps(results)
    if not printed:
        return None
    of_throughput = {(one.test, one.target): one for one in findings if one.metric == THROUGHPUT}
    steps = tuple(_step(test, targets, of_throughput) for test, targets in printed.items())
    lines = tuple(_line(test, label, runs) for test, targets in printed.items() for label, runs in targets.items())
    return StepsPart(steps, lines, PRINTED)


def _step(test: str, targets: Mapping[str, Runs], findings: Mapping[tuple[str, str], Finding]) -> Step:
    has_queries = any(any(runs.get("qps", ())) for runs in targets.values())
    unit, counted = ("queries/s", "qps") if has_queries else ("rows/s", "ips")
    cells = {
        label: StepCell(
            estimate(runs.get(counted, ())),
            estimate(runs["ips"]) if has_queries else None,
            findings.get((test, label)),
        )
        for label, runs in targets.items()
    }
    return Step(test, unit, cells)


def _line(test: str, label: str, runs: Runs) -> dict[str, Any]:
    figures = {name: fmean(runs[name]) if name in runs else None for name in _FIGURES}
    return {"test": test, "target": label, **figures}
