"""Short experiments with all levels of one choice in turns, and what their results tell about the choice.

The unit is one experiment of a few blocks: its result for a test is the mean over its blocks. Of equal targets the truth is
known (ratio 1), so the mean square of the results, biases included, is what an hour of the machine buys. Rounds rotate
the order of the levels, so that a host that grows busier does not favour one.
"""

import argparse
import math
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import Interval, markdown, ratio_interval, say
from scipy import stats

from dbversus.cli.display import PlainDisplay
from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.run import run_experiment
from dbversus.results.layout import lay_out
from dbversus.results.read import open_results
from dbversus.results.records import AnyRecord, Block, Load, of_type
from dbversus.results.stored import Results
from dbversus.stats.metrics import CPU, THROUGHPUT, floats, metric_named
from dbversus.stats.values.blocks import block_values
from dbversus.suites import profile_choices
from dbversus.units import parse_count
from tuning.factors import FACTORS, LONG, LONG_SLOTS, Factor

QUICK_READS = "point-query.pre,random-points-100.pre,read-only-100.pre"
QUICK_TESTS = f"{QUICK_READS},update-index"
MOST_ROWS = 5_000
CONFIDENCE = 0.95
Key = tuple[str, str]


@dataclass(frozen=True)
class Plan:
    """What is run. `base`: choices of all levels; `blocks` in each experiment."""

    name: str
    factor: Factor
    base: Mapping[str, Any]
    blocks: int
    budget_s: float
    keep: Path | None

    @property
    def equal(self) -> bool:
        first, second = self.base["targets"]
        return bool(first == second)


@dataclass(frozen=True)
class Run:
    """One experiment. By (metric, test): ln(target / base) of each block; by (test, target): ln µs/op of each block.

    `disturbed`: share of the rows.
    """

    minutes: float
    ratios: Mapping[Key, Sequence[float]]
    costs: Mapping[Key, Sequence[float]]
    disturbed: float = 0.0


Runs = Mapping[str, Sequence[Run]]


def make_plan(asked: argparse.Namespace) -> Plan:
    """From the command line; raises UsageError for a level that the experiment refuses."""
    factor = FACTORS[asked.factor]
    quick_tests = QUICK_TESTS if "update" in factor.tests else QUICK_READS
    blocks = 2 if asked.quick else 3
    base = profile_choices("standard") | {
        "targets": list(asked.targets),
        "tests": asked.tests or (quick_tests if asked.quick else factor.tests),
        "table_size": parse_count(asked.table_size or ("100k" if asked.quick else "1m"), "--table-size"),
        "looks": [blocks],
        "seconds": 1.0 if asked.quick else 3.0,
        "rows": MOST_ROWS,
    }
    minutes = (8 if asked.quick else 40) if asked.minutes is None else asked.minutes
    if minutes <= 0:
        raise UsageError("--minutes takes a number above 0.")
    plan = Plan(asked.factor, factor, base, blocks, minutes * 60, asked.keep)
    for overrides in levels(plan).values():
        make_spec(dict(plan.base) | dict(overrides))
    return plan


def levels(plan: Plan) -> dict[str, Mapping[str, Any]]:
    """All levels of the factor, and the long slots that they are held against."""
    return {**plan.factor.levels, LONG: LONG_SLOTS}


def report(plan: Plan) -> str:
    """Runs rounds for as long as there is time, and says in Markdown what came of them."""
    with tempfile.TemporaryDirectory() as folder:
        runs = run_rounds(plan, plan.keep or Path(folder))
    targets = " and ".join(plan.base["targets"])
    parts = [
        f"### {plan.name}: {plan.factor.title}\n",
        f"{targets}, {plan.base['table_size']:,} rows, {plan.base['seconds']:g} s per test and block.\n",
        spread_table(plan, runs),
        "\nServer CPU per operation, against one target alone in slots of 2 s (95 % interval over blocks):\n",
        bias_table(runs),
    ]
    if not plan.equal:
        parts += ["\nRatio of CPU per operation, against that of the slots of 2 s:\n", ratio_table(runs)]
    return "\n".join(parts)


def run_rounds(plan: Plan, folder: Path) -> dict[str, list[Run]]:
    """One experiment of each level per round; a round is begun only if it is likely to end in time."""
    found: dict[str, list[Run]] = {name: [] for name in levels(plan)}
    began, number, round_s = time.monotonic(), 0, 0.0
    while number == 0 or time.monotonic() - began + round_s < plan.budget_s:
        round_began = time.monotonic()
        for name in rotated(list(found), number):
            directory = folder / f"{plan.name}-{number}-{name.replace(' ', '')}"
            found[name].append(run_once(plan, name, directory))
            say(f"round {number + 1}, {name}: {found[name][-1].minutes:.1f} minutes")
        round_s = time.monotonic() - round_began
        number += 1
    return found


def rotated(names: Sequence[str], number: int) -> list[str]:
    shift = number % len(names)
    return [*names[shift:], *names[:shift]]


def run_once(plan: Plan, name: str, directory: Path) -> Run:
    spec = make_spec(dict(plan.base) | dict(levels(plan)[name]))
    run_experiment(spec, directory, f"benchmarks/tune.py live {plan.name}", PlainDisplay(quiet=True), wait=True)
    return read_run(open_results(directory))


def read_run(results: Results) -> Run:
    """What one experiment gave; its minutes are those of its blocks, without loading."""
    base, ratios = results.base.label, defaultdict(list)
    for value in block_values(lay_out(results.slots, base), [metric_named(CPU), metric_named(THROUGHPUT)]):
        if value.value is not None and value.rows:
            ratios[value.metric, value.test].append(value.value)
    disturbed = float(np.mean(np.nan_to_num(floats(results.slots["disturbed"]))))
    return Run(block_minutes(results.records), dict(ratios), block_costs(results), disturbed)


def block_minutes(records: Sequence[AnyRecord]) -> float:
    """From the last load (or the beginning) to the end of the last block."""
    loads = [load.at_unix_ns for load in of_type(records, Load)]
    ends = [block.at_unix_ns for block in of_type(records, Block) if block.event == "finished"]
    return float(ends[-1] - max(loads, default=records[0].at_unix_ns)) / 60e9


def block_costs(results: Results) -> dict[Key, list[float]]:
    """(test, target) → ln of server CPU µs per operation in each block, over its rows."""
    slots = results.slots
    sums: dict[tuple[str, str, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    cpu_us, ops, block = floats(slots["server_cpu_ns"]) / 1e3, floats(slots["ops"]), floats(slots["block"])
    for index in np.flatnonzero(np.isfinite(cpu_us)):
        cell = sums[str(slots["test"][index]), str(slots["target"][index]), int(block[index])]
        cell[0] += cpu_us[index]
        cell[1] += ops[index]
    costs: dict[Key, list[float]] = defaultdict(list)
    for (test, target, _), (used_us, done) in sorted(sums.items()):
        if used_us > 0 and done > 0:
            costs[test, target].append(math.log(used_us / done))
    return dict(costs)


def block_sd(runs: Sequence[Run], metric: str) -> float:
    """Spread of single blocks' values, median over tests; NaN for a single block."""
    pooled: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for (name, test), values in run.ratios.items():
            if name == metric:
                pooled[test] += values
    spreads = [statistics.stdev(values) for values in pooled.values() if len(values) > 1]
    return statistics.median(spreads) if spreads else math.nan


def mean_square(runs: Sequence[Run], metric: str, equal: bool) -> tuple[float, int]:
    """Variance of an experiment's result (mean over its blocks), over tests and runs, and its degrees of freedom.

    Of equal targets about the truth, 0, and so with what is biased; else about each test's mean over runs.
    """
    by_test: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for (name, test), values in run.ratios.items():
            if name == metric:
                by_test[test].append(statistics.fmean(values))
    squares, freedom = 0.0, 0
    for means in by_test.values():
        centre = 0.0 if equal else statistics.fmean(means)
        squares += sum((value - centre) ** 2 for value in means)
        freedom += len(means) if equal else len(means) - 1
    return (squares / freedom if freedom else math.nan), freedom


def relative_cost(runs: Sequence[Run], against: Sequence[Run], metric: str, equal: bool) -> Interval:
    """(variance × minutes) / the same of `against`, with a 95 % interval from Fisher's F (normal noise)."""
    (ours, our_freedom), (theirs, their_freedom) = (mean_square(each, metric, equal) for each in (runs, against))
    if not our_freedom or not their_freedom or theirs <= 0:
        return Interval(math.nan, math.nan, math.nan)
    minutes = statistics.fmean(run.minutes for run in runs) / statistics.fmean(run.minutes for run in against)
    tail = (1 - CONFIDENCE) / 2
    low, high = (float(stats.f.ppf(share, our_freedom, their_freedom)) for share in (1 - tail, tail))
    estimate = ours / theirs * minutes
    return Interval(estimate, estimate / low, estimate / high)


def mean_ratio(runs: Sequence[Run], metric: str) -> Interval:
    """Ratio over all tests: each block gives the mean over its tests, and blocks give the interval."""
    return ratio_interval(
        [statistics.fmean(row) for run in runs for row in _by_block(run.ratios, lambda key: key[0] == metric)]
    )


def _by_block(figures: Mapping[Key, Sequence[float]], chosen: Any = lambda key: True) -> list[tuple[float, ...]]:
    """One tuple per block, of all chosen figures; blocks that lack one are left out."""
    return list(zip(*(values for key, values in figures.items() if chosen(key)), strict=False))


def change(ours: Sequence[float], reference: Sequence[float]) -> Interval:
    """Difference of two means of logarithms as a share, with Welch's 95 % interval."""
    estimate = statistics.fmean(ours) - statistics.fmean(reference)
    if min(len(ours), len(reference)) < 2:
        return Interval(math.expm1(estimate), -math.inf, math.inf)
    found = stats.ttest_ind(ours, reference, equal_var=False).confidence_interval(CONFIDENCE)
    return Interval(math.expm1(estimate), math.expm1(found.low), math.expm1(found.high))


def percent(interval: Interval) -> str:
    return f"{interval.estimate:+.1%} [{interval.low * 100:+.1f}, {interval.high * 100:+.1f}]"


def spread_table(plan: Plan, runs: Runs) -> str:
    """Per level: what it took, how far results spread, and what that is against the first level."""
    first = runs[next(iter(plan.factor.levels))]
    lines = []
    for name in plan.factor.levels:
        each = runs[name]
        lines.append(
            [
                name,
                f"{len(each)} × {plan.blocks}",
                f"{statistics.fmean(run.minutes for run in each):.2f}",
                f"{statistics.fmean(run.disturbed for run in each):.0%}",
                *(f"{block_sd(each, metric):.2%}" for metric in (CPU, THROUGHPUT)),
                mean_ratio(each, CPU).text(),
                *(relative_cost(each, first, metric, plan.equal).text(2) for metric in (CPU, THROUGHPUT)),
            ]
        )
    header = [
        plan.name,
        "runs × blocks",
        "min per run",
        "rows disturbed",
        "sd of a block, CPU/op",
        "throughput",
        "CPU/op ratio over all tests",
        "variance × minutes ÷ first, CPU/op",
        "throughput",
    ]
    return markdown(header, lines)


def bias_table(runs: Runs) -> str:
    """Per test, both targets together, and over all tests: CPU per operation of each level against the long slots."""
    names = [name for name in runs if name != LONG]
    tests = list(dict.fromkeys(test for run in runs[LONG] for test, _ in run.costs))
    lines = []
    for test in [*tests, ""]:
        blocks = {name: _cost_blocks(each, test) for name, each in runs.items()}
        if not all(blocks.values()):
            continue
        long_us = math.exp(statistics.fmean(blocks[LONG]))
        lines.append(
            [
                test or "mean of all",
                f"{long_us:,.1f}" if test else "",
                *(percent(change(blocks[name], blocks[LONG])) for name in names),
            ]
        )
    return markdown(["test", "long slots, µs/op", *names], lines)


def _cost_blocks(runs: Sequence[Run], test: str) -> list[float]:
    """ln µs/op of each block, mean over targets; `test` empty: and over tests."""
    return [
        statistics.fmean(row) for run in runs for row in _by_block(run.costs, lambda key: not test or key[0] == test)
    ]


def ratio_table(runs: Runs) -> str:
    """Per test: the ratio in long slots, and how far from it that of each level is."""
    names = [name for name in runs if name != LONG]
    tests = list(dict.fromkeys(test for run in runs[LONG] for metric, test in run.ratios if metric == CPU))
    lines = []
    for test in tests:
        found = {
            name: [value for run in each for value in run.ratios.get((CPU, test), ())] for name, each in runs.items()
        }
        if all(found.values()):
            differences = (percent(change(found[name], found[LONG])) for name in names)
            lines.append([test, ratio_interval(found[LONG]).text(), *differences])
    return markdown(["test", "ratio in long slots", *names], lines)
