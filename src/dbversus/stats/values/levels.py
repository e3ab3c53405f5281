"""Absolute figures at the level of the verdicts' ratios: target ÷ base of what is shown is the ratio that is shown.

The base's figure is the mean over blocks in logarithms, as ratios are; a target's is the base's times the ratio. Block values are
multiplied by one number, so that their mean is that figure: it lies among them, and their spread stays theirs. Parts of the CPU
time are its shares, so that they add up to it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from dbversus.errors import UsageError
from dbversus.results.layout import Layout
from dbversus.stats.means import spread_of
from dbversus.stats.metrics import (
    BACKGROUND_CPU,
    COUNTER,
    CPU,
    FOREGROUND_CPU,
    SMOOTH,
    SYSTEM_CPU,
    THROUGHPUT,
    USER_CPU,
    Columns,
    floats,
    metric_named,
)
from dbversus.stats.model import CHANGES, DECIDED, DIFFERS, WITHIN, Finding, Verdict
from dbversus.stats.values.blocks import slot_logs, slot_parts
from dbversus.stats.values.midmean import midmeans
from dbversus.stats.values.server_counters import FLOOR_PER_OP

Figures = Mapping[tuple[str, str], Mapping[str, Sequence[float]]]
"""(test, target label) → metric → its value in each block."""

AFFECTED = "affected_per_op"
CPU_PARTS = (USER_CPU, SYSTEM_CPU, FOREGROUND_CPU, BACKGROUND_CPU)


def at_level(figures: Figures, findings: Iterable[Finding], base: str) -> dict[tuple[str, str], dict[str, list[float]]]:
    """The same figures; those without a ratio at the level of their own blocks. `base`: a label."""
    ratios = {one.key: one.ratio for one in findings if one.ratio}
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for (test, label), known in figures.items():
        of_base = figures.get((test, base), {})
        own = found.setdefault((test, label), {})
        for metric, values in known.items():
            ratio = ratios.get((test, label, metric))
            level = _level(metric, values, known)
            if ratio and of_base.get(metric) and label != base:
                reference, floor = _level(metric, of_base[metric], of_base), _floor(metric, of_base)
                # something against nothing is a ratio to the floor, and no quotient of what there was
                if min(fmean(values), fmean(of_base[metric])) >= floor:
                    level = reference * ratio
            own[metric] = scaled(values, level)
    return found


def _level(metric: str, values: Sequence[float], known: Mapping[str, Sequence[float]]) -> float:
    """exp of the mean of logarithms, of values lifted to the floor; the plain mean of what is next to nothing."""
    floor = _floor(metric, known)
    lifted = [max(value, floor) for value in values]
    if min(lifted) <= 0 or fmean(values) < floor:
        return fmean(values)
    return math.exp(fmean(map(math.log, lifted)))


def _floor(metric: str, known: Mapping[str, Sequence[float]]) -> float:
    """As in stats/values/blocks.py; `known`: all figures of that target and test."""
    if metric.startswith(COUNTER):
        return FLOOR_PER_OP
    try:
        one = metric_named(metric)
    except UsageError:
        return 0.0
    rates = known.get(THROUGHPUT)
    if not one.rate_floor or not rates or any(known.get(AFFECTED, ())):
        return one.floor
    return max(one.floor, one.rate_floor / fmean(rates))


def scaled(values: Sequence[float], level: float) -> list[float]:
    """Values whose mean is `level`, as far from each other as before."""
    mean = fmean(values)
    return [value * level / mean for value in values] if mean else list(values)


def own_midmeans(layout: Layout) -> dict[tuple[str, str], dict[str, dict[int, float]]]:
    """(test, target label) → metric of SMOOTH → the midmean of its slots in each block, in logarithms.

    Without blocks in which a target shared no row with others: there, ratios are of sums.
    """
    cells = len(layout.cell_names)
    shared = np.bincount(layout.cell_of_row[(layout.slot_at >= 0).sum(axis=1) > 1], minlength=cells) > 0
    if len(layout.targets) == 1:
        shared[:] = True
    found: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for metric in SMOOTH:
        of_slots = slot_parts(layout, metric)
        if of_slots is None:
            continue
        logs = slot_logs(of_slots)
        for index, label in enumerate(layout.targets):
            here = layout.slot_at[:, index] >= 0
            slots, cell = layout.slot_at[here, index], layout.cell_of_row[here]
            counted = np.isfinite(logs[slots]) & shared[cell]
            values = midmeans(logs[slots[counted]], cell[counted], np.bincount(cell[counted], minlength=cells))
            for place in np.flatnonzero(np.isfinite(values)):
                block, test = layout.cell_names[place]
                found.setdefault((test, label), {}).setdefault(metric.name, {})[block] = math.exp(values[place])
    return found


def cpu_shares(columns: Columns) -> dict[tuple[str, str], dict[str, float]]:
    """(test, target label) → metric of CPU_PARTS → its share of the server's CPU time, over all slots."""
    whole = floats(columns["server_cpu_ns"])
    places: dict[tuple[str, str], int] = {}
    keys = zip(columns["test"], columns["target"], strict=True)
    cell = np.fromiter((places.setdefault(key, len(places)) for key in keys), np.int64, len(whole))
    found: dict[tuple[str, str], dict[str, float]] = {}
    for name in CPU_PARTS:
        part = floats(columns[metric_named(name).numerator[0]])
        known = np.isfinite(part) & np.isfinite(whole)
        over, under = (
            np.bincount(cell[known], weights=values[known], minlength=len(places)) for values in (part, whole)
        )
        for place, index in places.items():
            if under[index] > 0:
                found.setdefault(place, {})[name] = float(over[index] / under[index])
    return found


def parts_as_shares(figures: Figures, columns: Columns) -> dict[tuple[str, str], dict[str, list[float]]]:
    """The parts of the CPU time, at the level of its shares of the whole as `figures` have it."""
    shares = cpu_shares(columns)
    return {
        place: {
            name: scaled(known[name], fmean(known[CPU]) * share)
            for name, share in shares.get(place, {}).items()
            if known.get(name) and known.get(CPU)
        }
        for place, known in figures.items()
    }


def ratios_as_shares(findings: Sequence[Finding], columns: Columns, base: str) -> list[Finding]:
    """The findings; ratios of parts of the CPU time are those of the whole times those of their shares, as figures are."""
    whole = {(one.test, one.target): one.ratio for one in findings if one.metric == CPU and one.ratio}
    shares = cpu_shares(columns) if whole else {}
    return [_as_share(one, whole.get((one.test, one.target)), shares, base) for one in findings]


def _as_share(
    finding: Finding, whole: float | None, shares: Mapping[tuple[str, str], Mapping[str, float]], base: str
) -> Finding:
    mine, theirs = (shares.get((finding.test, label), {}).get(finding.metric) for label in (finding.target, base))
    if not (whole and mine and theirs and finding.ratio):
        return finding
    factor = whole * mine / theirs / finding.ratio
    low, high, least, most = (None if end is None else end * factor for end in spread_of(finding))
    moved = replace(finding, ratio=finding.ratio * factor, low=low, high=high, least=least, most=most)
    if finding.verdict not in DECIDED or low is None or high is None or _bears_out(moved, low, high):
        return moved
    note = f"{finding.verdict} by its sums over all slots, which its share of the CPU time does not bear out"
    return replace(moved, verdict=Verdict.UNDECIDED, note=note)


def _bears_out(moved: Finding, low: float, high: float) -> bool:
    """Whether the interval still says what the verdict does."""
    within, differs = 1 / (1 + moved.margin) <= low and high <= 1 + moved.margin, not low <= 1 <= high
    worse = (low > 1) != moved.higher_is_better
    same_way = moved.verdict not in CHANGES or worse == (moved.verdict is Verdict.REGRESSION)
    return within == (moved.verdict in WITHIN) and (differs or moved.verdict not in DIFFERS) and same_way
