"""What stored results tell about the protocol: rows per block, distance of slots, looks, rows by need. Nothing is run.

For results of equal targets, or of any: values are taken about their means. The more blocks all tests went through
(`looks = [12]`), the more it says.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import markdown, say

from dbversus.errors import UsageError
from dbversus.results.layout import lay_out
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.metrics import CPU, PRIMARY, THROUGHPUT
from dbversus.stats.values.blocks import block_values
from tuning import distance, fewer
from tuning.clock import Clock, read_clock
from tuning.effort import POLICIES, Suite, allocate, scaled, simulate
from tuning.replay import Tally, compare_looks, make_pool
from tuning.variance import (
    FEWEST_BLOCKS,
    Components,
    Key,
    cycle_length,
    fit_components,
    median,
    usable_sizes,
    variances_by_rows,
)

LOOKS: tuple[tuple[int, ...], ...] = ((4, 6, 8, 12), (3, 5, 8, 12), (4, 8, 12), (6, 12), (3, 4, 6, 8, 12), (12,))
LONGER_LOOKS: tuple[tuple[int, ...], ...] = ((4, 6, 8, 12, 16), (6, 9, 12, 18), (4, 8, 12, 18, 24))
FACTORS = (1.0, 0.5, 1 / 3, 0.2)
METRICS = (CPU, THROUGHPUT)


@dataclass(frozen=True)
class Draws:
    """Experiments to draw: `share` of their tests change by `effect` (a share) in CPU per op."""

    replays: int
    share: float
    effect: float
    seed: int

    def words(self) -> str:
        return (
            f"{self.replays} experiments each; {self.share:.0%} of the tests change by {self.effect:+.0%} in CPU per op. "
            "Minutes: until all is settled or the looks are used up (± standard error). Settled: of all tests; most settled "
            "after: minutes until three quarters of the tests are, median. False alarms: experiments with any."
        )


def report(directory: Path, draws: Draws, resamples: int) -> str:
    """Markdown of all that one results directory tells."""
    results = open_results(directory)
    if not len(results.slots["block"]) or len(results.targets) < 2:
        raise UsageError(f"{directory} has no slots of two targets; name results of a comparison.")
    if (blocks := len(np.unique(results.slots["block"]))) < FEWEST_BLOCKS:
        raise UsageError(f"{directory} has {blocks} blocks; spread between blocks wants {FEWEST_BLOCKS} or more.")
    clock, rng = read_clock(results), np.random.default_rng(draws.seed)
    calibration = results if fewer.is_calibration(results) else None
    results = fewer.equal_targets(results) if calibration else results
    parts = [f"## {directory}", "", _times(clock)]
    fitted: dict[str, dict[Key, Components]] = {}
    for metric in METRICS:
        say(f"{directory}: rows of {metric}")
        sizes = usable_sizes(max(clock.rows.values()), cycle_length(results.slots))
        seen = variances_by_rows(results.slots, results.base.label, metric, sizes, resamples, rng)
        fitted[metric] = {key: fit_components(by_rows) for key, by_rows in seen.items() if len(by_rows) > 1}
        parts += [f"\n### Rows per block: {metric}\n", _by_rows(clock, seen, fitted[metric], sizes)]
    parts += ["\n### Best number of rows, by test\n", _best_rows(clock, fitted)]
    parts += ["\n### Slots by distance\n", distance.table(results.slots)]
    suite = measured_suite(results, clock, fitted)
    parts += ["\n### Sets of looks\n", _looks(results, clock, draws)]
    parts += ["\n### Rows and looks\n", _rows_and_looks(suite, directory, draws)]
    parts += ["\n### Rows by need\n", _effort(suite, draws)]
    if calibration:
        parts += [
            "\n### The calibration judged with fewer rows\n",
            fewer.report(calibration, 2 * draws.replays, draws.seed),
        ]
    return "\n".join(parts)


def _times(clock: Clock) -> str:
    total = clock.block_duration_s(clock.tests)
    rows = sum(clock.rows[test] * clock.row_s[test] for test in clock.tests)
    edges = sum(clock.test_s.values())
    return (
        f"A block with all {len(clock.tests)} tests takes {total:.0f} s: {rows:.0f} s of rows, {edges:.0f} s of tests beside "
        f"their rows, {clock.block_s:.0f} s of restoring, starting, settling and stopping."
    )


def _by_rows(
    clock: Clock, seen: Mapping[Key, Mapping[int, float]], fitted: Mapping[Key, Components], sizes: Sequence[int]
) -> str:
    """Per number of rows: spread, time of a block, and variance × time against the rows that were run."""
    lines = []
    for size in sizes:
        found = {key: seen[key][size] for key in fitted if size in seen[key]}
        if not found:
            continue
        seconds = clock.block_duration_s(clock.tests, {test: min(size, clock.rows[test]) for test in clock.tests})
        against = [
            fitted[key].variance_minutes(size, clock.share_s(key[0]), clock.row_s[key[0]])
            / fitted[key].variance_minutes(clock.rows[key[0]], clock.share_s(key[0]), clock.row_s[key[0]])
            for key in found
        ]
        sd = median(math.sqrt(value) for value in found.values())
        lines.append([str(size), str(len(found)), f"{sd:.2%}", f"{seconds:.0f}", f"{median(against):.2f}"])
    header = ["rows", "tests with as many", "sd of the block value", "s per block", "variance × time ÷ as run"]
    parts = list(fitted.values())
    between, within = (median(math.sqrt(getattr(one, name)) for one in parts) for name in ("between", "within"))
    return f"{markdown(header, lines)}\n\nMedians over tests: {between:.2%} between starts, {within:.2%} of one row."


def _best_rows(clock: Clock, fitted: Mapping[str, Mapping[Key, Components]]) -> str:
    """Quartiles over tests of what the formula gives, beside what was run."""
    lines = []
    for metric, by_key in fitted.items():
        best = [one.best_rows(clock.share_s(key[0]), clock.row_s[key[0]]) for key, one in by_key.items()]
        finite = sorted(value for value in best if math.isfinite(value))
        quarters = statistics.quantiles(finite, n=4) if len(finite) > 1 else [math.nan] * 3
        lines.append([metric, *(f"{value:.0f}" for value in quarters), str(len(best) - len(finite))])
    header = ["metric", "lower quartile", "median", "upper quartile", "tests without spread between starts"]
    planned = statistics.median(clock.rows.values())
    return f"{markdown(header, lines)}\n\nRun were {planned:.0f} rows (median over tests)."


def _looks(results: Results, clock: Clock, draws: Draws) -> str:
    values = block_values(lay_out(results.slots, results.base.label), PRIMARY)
    try:
        pool = make_pool([value for value in values if value.test in clock.row_s])
    except ValueError as error:
        return f"Not compared: {error}."
    say(
        f"{results.directory}: {draws.replays} replays of {len(LOOKS)} sets of looks, {len(pool.blocks)} blocks to draw from"
    )
    lines = []
    for looks, tally in compare_looks(
        pool, clock.only(pool.tests), LOOKS, draws.share, draws.effect, draws.replays, draws.seed
    ).items():
        lines.append([", ".join(map(str, looks)), *_tally(tally)])
    words = f"{draws.words()} " + (
        f"Drawn are the {len(pool.tests)} of {len(clock.tests)} tests that all {len(pool.blocks)} blocks have."
    )
    return f"{markdown(['looks', *_TALLY], lines)}\n\n{words}"


def _rows_and_looks(suite: Suite, directory: Path, draws: Draws) -> str:
    """Fewer rows in more blocks, by simulation with the measured spreads: all tests, normal noise."""
    lines = []
    policies = {f"{factor:.0%}": scaled(factor) for factor in FACTORS}
    for looks in (*LOOKS, *LONGER_LOOKS):
        say(f"{directory}: looks {looks}")
        for name, tally in simulate(
            suite, policies, looks, draws.share, draws.effect, draws.replays, draws.seed
        ).items():
            lines.append([", ".join(map(str, looks)), name, *_tally(tally)])
    return f"{markdown(['looks', 'rows, of those run', *_TALLY], lines)}\n\n{draws.words()}"


def _effort(suite: Suite, draws: Draws) -> str:
    tallies = simulate(suite, POLICIES, LOOKS[0], draws.share, draws.effect, draws.replays, draws.seed)
    planned = statistics.fmean(next(iter(tallies.values())).minutes)
    lines = [
        [name, *_tally(tallies[name]), f"{1 - statistics.fmean(tallies[name].minutes) / planned:+.1%}"]
        for name in POLICIES
    ]
    rows = allocate(suite)
    free = [test for test in suite.tests if test not in suite.fixed]
    given = f"{min(rows[test] for test in free):.0f} to {max(rows[test] for test in free):.0f}" if free else "none"
    words = f"Rows by need of the {len(free)} tests that only read: {given}. {draws.words()}"
    return f"{markdown(['rows', *_TALLY, 'time saved'], lines)}\n\n{words}"


def measured_suite(results: Results, clock: Clock, fitted: Mapping[str, Mapping[Key, Components]]) -> Suite:
    """Of the first target beside the base; tests bounded by count keep their rows."""
    target = results.targets[1].label
    tests = [test for test in clock.tests if all((test, target) in by_key for by_key in fitted.values())]
    spreads = {test: {metric: by_key[test, target] for metric, by_key in fitted.items()} for test in tests}
    return Suite(clock.only(tests), spreads, clock.counted)


_TALLY = ("minutes", "settled", "most settled after", "false alarms", "changes found")


def _tally(tally: Tally) -> list[str]:
    error = statistics.stdev(tally.minutes) / math.sqrt(len(tally.minutes)) if len(tally.minutes) > 1 else math.nan
    return [
        f"{statistics.fmean(tally.minutes):.1f} ± {error:.1f}",
        f"{tally.settled / tally.tests:.0%}",
        f"{most:.1f}" if math.isfinite(most := statistics.median(tally.most_settled_min)) else "never",
        f"{tally.false_alarms / len(tally.minutes):.1%}",
        f"{tally.found / tally.changed:.0%}" if tally.changed else "-",
    ]
