"""The truth of experiments with known slowdowns: by how much targets really differed, from what was burned and read for it.

A copy that costs c per operation, b of which were added to it, would have cost c - b: its true ln ratio to a copy that was left
alone is ln(c / (c - b)). Both are measured over the same block and test: b by the library that adds it (journal, `injected`), c
by the account of the slots, so that nothing depends on what was asked for.
"""

from collections import Counter, defaultdict

import numpy as np

from dbversus.results.layout import Layout
from dbversus.results.records import Injected
from dbversus.results.stored import Results
from dbversus.stats.metrics import CPU, IO_BYTES, Floats, metric_named
from dbversus.stats.model import Metric
from dbversus.stats.values.blocks import slot_parts, sums_per_op

# test, label of the target, block
Place = tuple[str, str, int]
# … and the group in which it was measured, if there are groups
GroupPlace = tuple[str, str, int, str | None]

_COUNTERS = {CPU: "burned_ns", IO_BYTES: "io_bytes_added"}


def true_log_ratios(results: Results, metric: str = CPU) -> dict[Place, float]:
    """True ln(target/base) of server CPU per operation, or of IO bytes per operation, by test, target's label and block.

    Of targets that carried the library in blocks in which the base did; 0 where nothing was injected. Where the rest would be
    under the metric's floor there is no ratio, and none is given.
    """
    judged = metric_named(metric)
    added = _added_per_op(results, judged)
    layout = results.layout
    found = slot_parts(layout, judged) if layout else None
    if not added or layout is None or found is None:
        return {}
    costs = {label: _costs(layout, index, found) for index, label in _others(layout)}
    cells = {name: cell for cell, name in enumerate(layout.cell_names)}
    truths = {}
    for (test, label, block, group), mine in added.items():
        base = added.get((test, results.base.label, block, group))
        cell = cells.get((block, test))
        if label in costs and base is not None and cell is not None:
            ours, theirs = costs[label]
            truth = _grown(ours[cell], mine, judged.floor) - _grown(theirs[cell], base, judged.floor)
            if np.isfinite(truth):
                truths[test, label, block] = float(truth)
    return truths


def _others(layout: Layout) -> list[tuple[int, str]]:
    return [(index, layout.targets[index]) for index in layout.others]


def _costs(layout: Layout, target: int, found: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Cost per operation of a target and of the base in each cell, over slots of rows that both were in."""
    known = np.isfinite(found[0] + found[1])
    pairs, apart = layout.pairs(target).where(known), layout.apart(target).where(known)
    cells = len(layout.cell_names)
    ours, theirs = np.concatenate((pairs.ours, apart.ours)), np.concatenate((pairs.theirs, apart.theirs))
    our_cell = np.concatenate((pairs.our_cell, apart.our_cell))
    their_cell = np.concatenate((pairs.their_cell, apart.their_cell))
    return sums_per_op(found, ours, our_cell, cells), sums_per_op(found, theirs, their_cell, cells)


def _grown(cost: float, added: float, floor: float) -> float:
    """ln of what a cost has grown by; NaN when the rest is nothing."""
    rest = cost - added
    return float(np.log(cost / rest)) if rest > floor else float("nan")


def _added_per_op(results: Results, metric: Metric) -> dict[GroupPlace, float]:
    """What was added per operation, in the metric's unit. Records of one place add up: a test that was resumed has several."""
    sums: dict[GroupPlace, Counter[str]] = defaultdict(Counter)
    for record in results.of_type(Injected):
        for name, work in record.targets.items():
            added = {counter: getattr(work, counter) or 0 for counter in ("ops", *_COUNTERS.values())}
            sums[record.test, results.label(name), record.block, record.group].update(added)
    counter = _COUNTERS[metric.name]
    return {place: all_of[counter] * metric.scale / all_of["ops"] for place, all_of in sums.items() if all_of["ops"]}
