"""Figures from stored slots: means over blocks with intervals, latency percentiles, slot ratios."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from dbversus.report.model import Estimate, Figure, LatencyFigures, SlotRatios
from dbversus.results.latency import Latency, merge
from dbversus.results.layout import Layout, Sides
from dbversus.results.stored import Results
from dbversus.results.tables.background import DRAINS
from dbversus.results.tables.counters import COUNTERS
from dbversus.stats.judge import judge
from dbversus.stats.judgeable import P50, P95, P99
from dbversus.stats.judging.whole_work import whole_work_values
from dbversus.stats.means import spread, spread_of
from dbversus.stats.metrics import COUNTER, CPU, METRICS, THROUGHPUT, WAIT, Columns, Floats, floats, metric_named
from dbversus.stats.model import Finding, Metric, Verdict
from dbversus.stats.values.blocks import block_values, slot_logs, slot_parts
from dbversus.stats.values.finished import of_finished_blocks
from dbversus.stats.values.imported import IN_IMPORTS, is_imported, run_values
from dbversus.stats.values.levels import at_level, own_midmeans, parts_as_shares
from dbversus.stats.values.table import Key

CONFIDENCE = 0.95
PERCENTS = (50.0, 95.0, 99.0, 99.9)
PERCENTS_JUDGED = {P50: 50.0, P95: 95.0, P99: 99.0}
BUCKETS_US: tuple[float, ...] = (256.0, 1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6)
"""Upper ends of the Insert Benchmark's buckets of response times, in µs: 256 µs, 1 ms, 4 ms … 16 s."""
PLOTTED = (CPU, THROUGHPUT)
READ_AWAIT, WRITE_AWAIT = "device_read_await_ms", "device_write_await_ms"
# equal steps on the scale of nines, from the fastest operation to 99.99 %
_CURVE = tuple(100 * (1 - 10 ** (-step / 8)) for step in range(33))

# of the disk: what the server asked of it, and how the whole device did meanwhile, as iostat has it
_OF_DISK: tuple[Metric, ...] = (
    Metric("disk_reads_per_s", "disk reads per second", "1/s", True, False, 0.05, ("disk_reads",), "elapsed_ns", 1e9),
    Metric(
        "disk_writes_per_s", "disk writes per second", "1/s", True, False, 0.05, ("disk_writes",), "elapsed_ns", 1e9
    ),
    Metric(
        "disk_read_mb_per_s", "read from the disk", "MB/s", True, False, 0.05, ("disk_read_bytes",), "elapsed_ns", 1e3
    ),
    Metric(
        "disk_write_mb_per_s",
        "written to the disk",
        "MB/s",
        True,
        False,
        0.05,
        ("disk_write_bytes",),
        "elapsed_ns",
        1e3,
    ),
    Metric(
        READ_AWAIT, "await of the device's reads", "ms", False, False, 0.05, ("device_read_ns",), "device_reads", 1e-6
    ),
    Metric(
        WRITE_AWAIT,
        "await of the device's writes",
        "ms",
        False,
        False,
        0.05,
        ("device_write_ns",),
        "device_writes",
        1e-6,
    ),
    Metric(
        "device_queue", "requests under way at the device", "", False, False, 0.05, ("device_queue_ns",), "elapsed_ns"
    ),
    Metric(
        "device_busy", "utilisation of the device", "%", False, False, 0.05, ("device_busy_ns",), "elapsed_ns", 100.0
    ),
)

# the last two, and rows scanned: what operations came to; no verdict hangs on these
_FROM_SUMS: tuple[Metric, ...] = (
    *(metric for metric in METRICS if metric.denominator and not metric.tests),
    Metric("rows_per_op", "rows returned per op", "1/op", False, False, 0.05, ("rows",), "ops"),
    Metric("affected_per_op", "rows changed per op", "1/op", False, False, 0.05, ("affected",), "ops"),
    *_OF_DISK,
)
_ROWS_SCANNED = Metric("rows_scanned_per_s", "rows scanned", "rows/s", True, False, 0.05)
SHOWN = (*_FROM_SUMS, _ROWS_SCANNED, *IN_IMPORTS)

# what begins the names of figures, by what they are about; the first that fits
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "work": (THROUGHPUT, "rows_", "affected_", "errors_", "work.", "load_", "driven_", "inserts_"),
    "device": ("device_", "disk_reads_per_s", "disk_writes_per_s", "disk_read_mb", "disk_write_mb"),
    "waiting": (WAIT, "server_switches", "mean_", "p50_", "p95_", "p99_", "stall", "slowest"),
    "CPU": ("server_", "background.", "drain_cpu", "client_cpu"),
    "memory": ("minor_faults", "major_faults"),
    "IO": ("io_", "read_", "write_", "disk_", "drain_"),
}
OTHER = "other"

BlockFigures = dict[tuple[str, str], dict[str, list[float]]]


def grouped(figures: Iterable[Figure]) -> list[tuple[str, list[Figure]]]:
    """By what they are about: work, CPU, waiting, IO, memory, device."""
    groups: dict[str, list[Figure]] = {name: [] for name in ("work", "CPU", "waiting", "IO", "memory", "device", OTHER)}
    for figure in figures:
        groups[_group_of(figure.metric)].append(figure)
    return [(name, own) for name, own in groups.items() if own]


def _group_of(metric: str) -> str:
    return next((name for name, starts in _GROUPS.items() if metric.startswith(starts)), OTHER)


def estimate(values: Sequence[float]) -> Estimate:
    """Mean of block values, none of them under 0, with a t interval over blocks, or their range."""
    if not len(values):
        return Estimate(None, None, None, 0)
    mean, half = float(np.mean(values)), _half_interval(values)
    beside = spread((mean - half, mean + half), (min(values), max(values)), len(values))
    return Estimate(mean, n=len(values), confidence=CONFIDENCE, **beside._asdict())


def geometric(logs: Sequence[float]) -> Estimate:
    """exp of the mean of block values, with its t interval over blocks, or their range."""
    if not len(logs):
        return Estimate(None, None, None, 0)
    return _geometric(math.exp(float(np.mean(logs))), logs)


def _geometric(value: float, logs: Sequence[float]) -> Estimate:
    """`value`, about which block values are, with the interval of the mean of their logarithms, widened to hold it."""
    mean, half = float(np.mean(logs)), _half_interval(logs)
    interval = min(math.exp(mean - half), value), max(math.exp(mean + half), value)
    beside = spread(interval, (math.exp(min(logs)), math.exp(max(logs))), len(logs))
    return Estimate(value, n=len(logs), confidence=CONFIDENCE, **beside._asdict())


def _half_interval(values: Sequence[float]) -> float:
    """Half the t interval of their mean; 0 for a single one, which has none."""
    n = len(values)
    if n < 2:
        return 0.0
    with np.errstate(invalid="ignore"):
        return float(stdtrit(n - 1, (1 + CONFIDENCE) / 2) * np.std(values, ddof=1) / math.sqrt(n))


def block_figures(results: Results, findings: Sequence[Finding] | None = None) -> BlockFigures:
    """(test, target label) → metric → its value in each block, at the level of the ratios; of an import, in each run.

    `findings`: those of `judge`, where they are known already. (stats/values/levels.py)
    """
    if is_imported(results):
        return run_values(results)
    judged = judge(results) if findings is None and len(results.targets) > 1 else findings or ()
    results = of_finished_blocks(results)
    figures = at_level(_measured(results), judged, results.base.label)
    for place, shares in parts_as_shares(figures, results.slots).items():
        figures[place] |= shares
    plans = results.slot_plans
    for (test, _), known in figures.items():
        if test in plans and (rows := plans[test].rows_scanned_per_op):
            known[_ROWS_SCANNED.name] = [rate * rows for rate in known.get(THROUGHPUT, ())]
        for metric, count in work_metrics(results, test):
            known[metric.name] = [rate * count for rate in known.get(THROUGHPUT, ())]
    return figures


def work_metrics(results: Results, test: str) -> list[tuple[Metric, int]]:
    """What the suite counts of a test's work, as a rate, and how much of it one operation is."""
    plan = results.slot_plans.get(test)
    work = plan.work_per_op if plan else {}
    return [
        (Metric(f"work.{name}_per_s", name.replace("_", " "), f"{name.replace('_', ' ')}/s", True, False, 0.05), count)
        for name, count in work.items()
    ]


def counter_figures(results: Results) -> BlockFigures:
    """(test, target label) → metric of one of the server's own counters → per operation, in each block (or group of one)."""
    found: BlockFigures = {}
    for row in results.rows(COUNTERS):
        if row["per_op"] is not None:
            of_place = found.setdefault((row["test"], row["target"]), {})
            of_place.setdefault(COUNTER + row["counter"], []).append(row["per_op"])
    return found


def means(of_blocks: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Metric → mean over blocks; without those that have no value."""
    return {name: float(np.mean(values)) for name, values in of_blocks.items() if values}


def _measured(results: Results) -> BlockFigures:
    """From sums over the slots of a block; CPU per operation and throughput as ratios have them, unless a block measures all."""
    figures = _figures_from_sums(results)
    plans = results.slot_plans
    of_slots = own_midmeans(results.layout) if results.layout else {}
    for (test, label), known in of_slots.items():
        if test in plans and "slice_ms" in plans[test].slot:
            continue
        for metric, of_blocks in known.items():
            sums = figures[test, label].get(metric, ())
            if len(of_blocks) == len(sums):
                figures[test, label][metric] = [of_blocks[block] for block in sorted(of_blocks)]
    return figures


def _figures_from_sums(results: Results) -> BlockFigures:
    sums = {name for metric in _FROM_SUMS for name in (*metric.numerator, metric.denominator)}
    columns = sorted(sums)
    totals = ", ".join(f'sum("{name}")' for name in columns)
    query = f"SELECT test, target, {totals} FROM slots GROUP BY test, target, block ORDER BY block"  # noqa: S608
    figures: BlockFigures = {}
    for test, target, *values in results.slot_rows(query):
        of_block = dict(zip(columns, values, strict=True))
        known = figures.setdefault((test, target), {})
        for metric in _FROM_SUMS:
            value = _ratio_of_sums(metric, of_block)
            if value is not None:
                known.setdefault(metric.name, []).append(value)
    return figures


def _ratio_of_sums(metric: Metric, sums: Mapping[str, Any]) -> float | None:
    parts = [sums[name] for name in metric.numerator]
    if None in parts or not sums[metric.denominator]:
        return None
    return float(sum(parts)) / float(sums[metric.denominator]) * metric.scale


def slot_ratios(results: Results, findings: Sequence[Finding] = ()) -> dict[str, list[SlotRatios]]:
    """Test → one entry per candidate: ln(target/base) of same-row pairs and of blocks, for the metrics that are plotted."""
    layout = results.layout
    if layout is None:
        return {}
    logs = {name: slot_logs(found) for name in PLOTTED if (found := slot_parts(layout, metric_named(name)))}
    worked = _worked(results.slots)
    of_blocks = _block_ratios(results, layout, findings)
    ratios: dict[str, list[SlotRatios]] = {}
    for candidate in (target.label for target in results.targets[1:] if target.label in layout.targets):
        pairs = layout.pairs(layout.targets.index(candidate)).where(worked)
        known = {
            name: _by_cell(layout, pairs.where(np.isfinite(of_slots)), of_slots) for name, of_slots in logs.items()
        }
        for test in dict.fromkeys(layout.cell_names[cell][1] for cell in np.unique(pairs.our_cell)):
            of_test = {name: by_test.get(test, {}) for name, by_test in known.items()}
            blocks = {name: of_blocks.get((test, candidate, name), {}) for name in known}
            ratios.setdefault(test, []).append(SlotRatios(candidate, of_test, blocks))
    return ratios


def _block_ratios(results: Results, layout: Layout, findings: Sequence[Finding]) -> dict[Key, dict[int, float]]:
    """ln(target/base) of each block that the ratio of a finding comes from: of its rows, or of all its work."""
    plotted = [metric_named(name) for name in PLOTTED]
    of_whole = {one.key for one in findings if one.whole_work and one.verdict is not Verdict.UNDECIDED}
    whole = whole_work_values(layout, results.rows(DRAINS)) if of_whole else []
    found: dict[Key, dict[int, float]] = {}
    for value in (
        *(one for one in block_values(layout, plotted) if (one.test, one.target, one.metric) not in of_whole),
        *(one for one in whole if (one.test, one.target, one.metric) in of_whole),
    ):
        if value.value is not None:
            found.setdefault((value.test, value.target, value.metric), {})[value.block] = value.value
    return found


def _worked(slots: Columns) -> npt.NDArray[np.bool_]:
    """Slots in which a target did something; without those whose CPU was too little to be counted."""
    ops, elapsed, cpu = (floats(slots[name]) for name in ("ops", "elapsed_ns", "server_cpu_ns"))
    worked: npt.NDArray[np.bool_] = (ops > 0) & (elapsed > 0) & ~(cpu <= 0)
    return worked


def _by_cell(layout: Layout, pairs: Sides, logs: Floats) -> dict[str, dict[int, tuple[float, ...]]]:
    """Test → block → differences of the two slots of each pair, in order."""
    starts = np.flatnonzero(np.diff(pairs.our_cell, prepend=-1))
    found: dict[str, dict[int, tuple[float, ...]]] = {}
    for start, values in zip(starts, np.split(logs[pairs.ours] - logs[pairs.theirs], starts[1:]), strict=False):
        block, test = layout.cell_names[pairs.our_cell[start]]
        found.setdefault(test, {})[block] = tuple(values.tolist())
    return found


def latency_figures(blocks: Iterable[Latency]) -> LatencyFigures | None:
    """Percentiles of all operations together, with intervals from the percentiles of the blocks."""
    parts = [part for part in blocks if part.count]
    if not parts:
        return None
    together = merge(parts)
    of_blocks = np.array([part.percentiles_ns(PERCENTS) for part in parts]) / 1e3
    overall = np.array(together.percentiles_ns(PERCENTS)) / 1e3
    percentiles = {
        percent: _percentile(float(overall[index]), of_blocks[:, index]) for index, percent in enumerate(PERCENTS)
    }
    deepest = 100 * (1 - 1 / max(together.count, 2))
    shown = [percent for percent in _CURVE if percent <= deepest]
    curve = tuple(zip(shown, (value / 1e3 for value in together.percentiles_ns(shown)), strict=True))
    return LatencyFigures(together.count, percentiles, curve, float(together.values_ns[-1]) / 1e3, _buckets(together))


def latencies_at_level(
    latencies: Mapping[str, LatencyFigures], findings: Mapping[str, Mapping[str, Finding]], base: str
) -> dict[str, LatencyFigures]:
    """Label → figures, those percentiles that have a ratio at its level. `findings`: label → metric → finding."""
    of_base = latencies.get(base)
    found = {}
    for label, own in latencies.items():
        levels = {
            percent: _times(own.percentiles_us[percent], reference.value * ratio)
            for metric, percent in PERCENTS_JUDGED.items()
            if of_base and (finding := findings.get(label, {}).get(metric)) and (ratio := finding.ratio)
            if (reference := of_base.percentiles_us[percent]).value
        }
        found[label] = replace(own, percentiles_us={**own.percentiles_us, **levels})
    return found


def _times(estimate: Estimate, level: float) -> Estimate:
    """The same estimate around another value."""
    factor = level / estimate.value if estimate.value else 1.0
    low, high, least, most = (None if end is None else end * factor for end in spread_of(estimate))
    return replace(estimate, value=level, low=low, high=high, least=least, most=most)


def _buckets(latency: Latency) -> tuple[int, ...]:
    """Operations in each of BUCKETS_US, and those that took longer; a time at an end belongs below it."""
    places = np.searchsorted(np.array(BUCKETS_US) * 1e3, latency.values_ns, side="left")
    counts = np.bincount(places, weights=latency.counts, minlength=len(BUCKETS_US) + 1)
    return tuple(int(count) for count in counts)


def _percentile(value: float, of_blocks: Any) -> Estimate:
    """`value` with the interval of its logarithm over blocks."""
    with np.errstate(divide="ignore"):
        return _geometric(value, np.log(of_blocks).tolist())
