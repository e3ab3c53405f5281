"""A calibration judged again with fewer rows per block: real blocks, what was really injected, real retirement.

Of each block only some rows are kept; then come the very virtual suites that `dbversus calibrate` makes (docs/calibration.md).
Minutes are those of an experiment with two targets, of the time that blocks, tests and rows took in the calibration.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from common import markdown, say

from dbversus.errors import UsageError
from dbversus.results.stored import Results
from dbversus.stats.calibration.evaluate import calibrated_margins, detection_games, fitting_looks, share
from dbversus.stats.calibration.suites import Game, Played, make_pool, play
from dbversus.stats.calibration.twins import Twins, read_twins
from dbversus.stats.metrics import CPU, Columns, metric_named
from tuning.clock import Clock, read_clock
from tuning.variance import choose_rows, cycle_length, usable_sizes

TARGETS = 2
EFFECTS = (0.03, 0.05)


@dataclass(frozen=True)
class Judged:
    """Virtual suites with `rows` rows per block at most. `widened`: tests with a margin of CPU per op over the default."""

    rows: int
    looks: tuple[int, ...]
    equal: Sequence[Played]
    changed: Sequence[Played]
    minutes: float
    widened: int

    def found(self, effect: float) -> float:
        return statistics.fmean(suite.found for suite in self.changed if suite.game.effect == effect)

    def coverage(self) -> float:
        counts = [of_look for suite in (*self.equal, *self.changed) for of_look in suite.intervals.values()]
        return sum(covered for covered, _ in counts) / sum(shown for _, shown in counts)


def report(results: Results, suites: int, seed: int) -> str:
    """A table by rows; raises UsageError when `results` are not those of a calibration."""
    clock, whole = read_clock(results), read_twins(results)
    sizes = usable_sizes(max(clock.rows.values()), cycle_length(results.slots))
    judged = [judge_with(results, clock, whole, size, suites, seed) for size in sizes]
    header = [
        "rows",
        "looks",
        "min, two targets",
        "settled",
        "false alarms",
        *(f"{effect:+.0%} found" for effect in EFFECTS),
        "intervals hold",
        "wider margins",
    ]
    words = (
        f"{suites} virtual suites of equal targets in each line, and {len(judged[0].changed)} with a change in one test. "
        "Settled: share of tests at the last look. False alarms: suites with any, with the 95 % interval of the drawing alone."
    )
    return f"{markdown(header, [_line(one) for one in judged])}\n\n{words}"


def judge_with(results: Results, clock: Clock, whole: Twins, size: int, suites: int, seed: int) -> Judged:
    """The calibration with `size` rows of each block of each test, or all of them where there are fewer."""
    say(f"{results.directory}: {size} rows per block")
    twins = _with_truth_of(whole, read_twins(replace(results, slots=dict(_thinned(results, clock, size, seed)))))
    looks = fitting_looks(len(twins.blocks))
    margins = calibrated_margins(twins, looks[-1], seed)
    pool = make_pool(twins, looks, margins)
    equal = [play(pool, Game((seed, number))) for number in range(suites)]
    changed = [play(pool, game) for game in detection_games(pool, suites, seed) if game.effect in EFFECTS]
    minutes = statistics.fmean(minutes_of(suite, twins.tests, clock, size, len(results.targets)) for suite in equal)
    default = metric_named(CPU).margin
    widened = sum(margin > default for (_, metric), margin in margins.items() if metric == CPU)
    return Judged(size, looks, equal, changed, minutes, widened)


def _with_truth_of(whole: Twins, thinned: Twins) -> Twins:
    """The counters of what was injected span all rows of a block, so the truth is that of all rows."""
    known = {place: one for place, one in thinned.injected.items() if place in whole.injected}
    return replace(
        thinned, injected={place: replace(one, truth=whole.injected[place].truth) for place, one in known.items()}
    )


def _thinned(results: Results, clock: Clock, size: int, seed: int) -> Columns:
    """Slots of `size` random rows of each block; tests that never had more keep all of theirs."""
    rng = np.random.default_rng(seed)
    few = [test for test, rows in clock.rows.items() if rows <= size]
    mask = choose_rows(results.slots, size, rng) | np.isin(np.asarray(results.slots["test"], dtype=str), few)
    return {name: column[mask] for name, column in results.slots.items()}


def minutes_of(suite: Played, tests: Sequence[str], clock: Clock, size: int, targets: int) -> float:
    """What the suite's blocks take with TARGETS targets, where those of the calibration had `targets`."""
    own = clock.only(tests)
    rows = {test: min(size, count) for test, count in own.rows.items()}
    seconds = 0.0
    for number in range(max(suite.blocks)):
        still_open = [test for test, blocks in zip(tests, suite.blocks, strict=True) if blocks > number]
        seconds += own.block_duration_s(still_open, rows)
    return TARGETS / targets * seconds / 60


def _line(one: Judged) -> list[str]:
    alarms = share(sum(bool(suite.false_tests) for suite in one.equal), len(one.equal))
    open_share = statistics.fmean(suite.open_tests / len(suite.blocks) for suite in one.equal)
    return [
        str(one.rows),
        ", ".join(map(str, one.looks)),
        f"{one.minutes:.1f}",
        f"{1 - open_share:.0%}",
        f"{alarms.share:.1%} [{alarms.low * 100:.1f}, {alarms.high * 100:.1f}]",
        *(f"{one.found(effect):.0%}" for effect in EFFECTS),
        f"{one.coverage():.1%}",
        str(one.widened),
    ]


def is_calibration(results: Results) -> bool:
    try:
        read_twins(results)
    except UsageError:
        return False
    return True


def equal_targets(results: Results) -> Results:
    """A calibration's base and its twin alone: what was added to the third target differs from block to block."""
    twins = read_twins(results)
    pair = twins.base, twins.twin
    kept = np.isin(np.asarray(results.slots["target"], dtype=str), [target.label for target in pair])
    return replace(results, targets=pair, slots={name: column[kept] for name, column in results.slots.items()})
