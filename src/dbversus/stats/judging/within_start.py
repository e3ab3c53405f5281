"""What a single block can say of its own uncertainty: that of one start of the servers, from the slots within it.

Slots of one start are no repetitions: they follow each other, and another start would differ from all of them together. So
this interval goes with an estimate that has no other, is labelled for what it leaves out, and bears no verdict.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from dbversus.results.layout import Layout
from dbversus.stats.means import CONFIDENCE, Mean, difference
from dbversus.stats.metrics import CPU, SMOOTH, THROUGHPUT, Floats
from dbversus.stats.model import Finding
from dbversus.stats.values.blocks import slot_logs, slot_parts
from dbversus.stats.values.table import Key

FEWEST_SLOTS = 8
_MOST_CORRELATION = 0.99


def add_within_start(findings: Sequence[Finding], layout: Layout) -> list[Finding]:
    """The findings, those of one block with `start_low` and `start_high`, where slots tell (CPU per op, throughput)."""
    single = {finding.key for finding in findings if finding.blocks == 1 and finding.ratio is not None}
    wanted = {key for key in single if key[2] in (CPU, THROUGHPUT)}
    if not wanted:
        return list(findings)
    distances = _distances(layout)
    return [_with(finding, distances.get(finding.key)) if finding.key in wanted else finding for finding in findings]


def _with(finding: Finding, distance: float | None) -> Finding:
    if distance is None or finding.ratio is None:
        return finding
    low, high = finding.ratio * math.exp(-distance), finding.ratio * math.exp(distance)
    note = f"{finding.note}; within this one start {low:.3f} to {high:.3f}, differences between starts not included"
    return replace(finding, start_low=low, start_high=high, note=note)


def _distances(layout: Layout) -> dict[Key, float]:
    """Half the length of the interval of ln(target/base), of every test that was measured in one block."""
    names = [test for _, test in layout.cell_names]
    found: dict[Key, float] = {}
    for metric in SMOOTH:
        part = slot_parts(layout, metric)
        if part is None:
            continue
        logs = slot_logs(part)
        for target in layout.others:
            for cell, test in enumerate(names):
                mean = _mean(layout, target, cell, logs) if names.count(test) == 1 else None
                if mean is not None and mean.error is not None:
                    distance = mean.error * float(stdtrit(mean.df, (1 + CONFIDENCE) / 2))
                    found[test, layout.targets[target], metric.name] = distance
    return found


def _mean(layout: Layout, target: int, cell: int, logs: Floats) -> Mean | None:
    """Of ln(target/base) in one cell; of targets measured one after the other, the difference of two means."""
    known = np.isfinite(logs)
    pairs, apart = layout.pairs(target).where(known), layout.apart(target).where(known)
    here = pairs.our_cell == cell
    if here.any():
        return series_mean(logs[pairs.ours[here]] - logs[pairs.theirs[here]])
    mine, theirs = logs[apart.ours[apart.our_cell == cell]], logs[apart.theirs[apart.their_cell == cell]]
    return difference(series_mean(mine), series_mean(theirs)) if mine.size and theirs.size else None


def series_mean(values: Floats) -> Mean:
    """Mean of values that follow each other in time, with an error that counts how much they resemble their neighbours.

    n values with the correlation r of neighbours are worth n(1 - r)/(1 + r) independent ones, and their variance is that
    much too small (Bayley & Hammersley 1946, for a correlation that fades by the same factor from step to step). r of a
    short series comes out too small by about (1 + 4r)/n (Kendall 1954), which is added; below 0 it counts as 0. No error
    with fewer than FEWEST_SLOTS values, or when they are worth fewer than two.
    """
    n = len(values)
    if n < FEWEST_SLOTS:
        return Mean(float(np.mean(values)) if n else math.nan, None, 0.0, 1)
    centered = values - values.mean()
    squares = float(centered @ centered)
    neighbours = float(centered[:-1] @ centered[1:]) / squares if squares else 0.0
    correlation = min(max(neighbours + (1 + 4 * neighbours) / n, 0.0), _MOST_CORRELATION)
    effective = n * (1 - correlation) / (1 + correlation)
    error = math.sqrt(squares / (n * (effective - 1))) if effective >= 2 else None
    return Mean(float(values.mean()), error, effective - 1, 1)
