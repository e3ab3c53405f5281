"""Throughput and CPU per operation of each block, in logarithms, for ratios between tests of the same target."""

import math
from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean

from dbversus.results.stored import Results
from dbversus.stats.metrics import CPU, THROUGHPUT, metric_named
from dbversus.stats.values.blocks import block_values
from dbversus.stats.values.imported import is_imported, run_values

METRICS = (THROUGHPUT, CPU)

Logs = Mapping[int, float]
"""Block → ln of a figure."""

Places = Mapping[tuple[str, str], Logs]
"""(test, target label) → its blocks."""


def own_logs(results: Results) -> dict[str, Places]:
    """Metric → ln of each target's own figures, from sums over the rows of a block; of an import, from the mean of its runs."""
    if is_imported(results):
        return _of_runs(results)
    query = """
        SELECT test, target, block, ln(sum(ops) / sum(elapsed_ns)), ln(sum(server_cpu_ns) / sum(ops))
        FROM slots GROUP BY ALL
        HAVING sum(ops) > 0 AND sum(elapsed_ns) > 0 AND coalesce(sum(server_cpu_ns), 1) > 0 ORDER BY block"""
    found: dict[str, dict[tuple[str, str], dict[int, float]]] = {name: defaultdict(dict) for name in METRICS}
    for test, target, block, *logs in results.slot_rows(query):
        for name, log in zip(METRICS, logs, strict=True):
            if log is not None and math.isfinite(log):
                found[name][test, target][block] = log
    return {name: dict(places) for name, places in found.items()}


def _of_runs(results: Results) -> dict[str, Places]:
    values = run_values(results)
    return {
        name: {
            place: {0: math.log(fmean(own[name]))}
            for place, own in values.items()
            if any(own.get(name, ())) and fmean(own[name]) > 0
        }
        for name in METRICS
    }


def logs_against_base(results: Results) -> dict[str, Places]:
    """Metric → ln(target/base) of each block, from same-row pairs; of an import, from the means of its runs."""
    base = results.base.label
    if is_imported(results):
        return {name: _differences(places, base) for name, places in _of_runs(results).items()}
    found: dict[str, dict[tuple[str, str], dict[int, float]]] = {name: defaultdict(dict) for name in METRICS}
    if results.layout is not None:
        for value in block_values(results.layout, [metric_named(name) for name in METRICS]):
            if value.value is not None:
                found[value.metric][value.test, value.target][value.block] = value.value
    return {name: dict(places) for name, places in found.items()}


def _differences(places: Places, base: str) -> Places:
    return {
        (test, target): {block: log - places[test, base][block] for block, log in own.items()}
        for (test, target), own in places.items()
        if target != base and (test, base) in places
    }
