"""Figures of what servers did beside answering and after the tests: values per block, in the form of `figures.block_figures`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dbversus.report.figures import BlockFigures
from dbversus.results.stored import Results
from dbversus.results.tables.background import BACKGROUND_WORK, DRAINS
from dbversus.stats.metrics import BACKGROUND, DRAIN, metric_named
from dbversus.stats.model import Metric

KINDS_SHOWN = 5


def block_figures(results: Results) -> BlockFigures:
    """(test, target label) → what was drained (metrics DRAIN) and `background.<kind>` (CPU, µs/op) → values per block."""
    figures: BlockFigures = {}
    for (test, target), rows in _grouped(results.rows(DRAINS), "test", "target").items():
        figures.setdefault((test, target), {}).update(_drained(rows))
    for (test, target, kind), rows in _grouped(results.rows(BACKGROUND_WORK), "test", "target", "kind").items():
        figures.setdefault((test, target), {})[BACKGROUND + kind] = [row["cpu_us_per_op"] or 0.0 for row in rows]
    return figures


def _drained(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """A target that was up with several groups was drained several times in a block: their mean."""
    found: dict[str, list[float]] = {}
    for metric in DRAIN:
        for of_block in _grouped(rows, "block").values():
            values = [row[metric.name] for row in of_block]
            if None not in values:
                found.setdefault(metric.name, []).append(float(np.mean(values)))
    return found


def _grouped(rows: Iterable[Mapping[str, Any]], *names: str) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    """Rows that have the same values under these names; blocks rising."""
    grouped: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: int(row["block"])):
        grouped.setdefault(tuple(row[name] for name in names), []).append(row)
    return grouped


def metrics(of_targets: Sequence[Mapping[str, Sequence[float]]]) -> list[Metric]:
    """What to show of one test: what was drained, and the kinds of background work that used most CPU on any target.

    `of_targets`: metric → block values, for each target.
    """
    most: dict[str, float] = {}
    for of_target in of_targets:
        for name, values in of_target.items():
            if name.startswith(BACKGROUND):
                most[name] = max(most.get(name, 0.0), float(np.mean(values)))
    largest = sorted(most, key=lambda name: -most[name])[:KINDS_SHOWN]
    return [*DRAIN, *(metric_named(name) for name in largest)]
