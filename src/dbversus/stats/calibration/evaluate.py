"""From the results of a calibration to its figures."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import beta

from dbversus.results.stored import Results
from dbversus.stats.calibration.model import BurstDetection, Detection, Figures, Share
from dbversus.stats.calibration.recovery import recover
from dbversus.stats.calibration.starts import start_bias
from dbversus.stats.calibration.suites import Game, Margins, Played, Pool, changed_as_measured, make_pool, play
from dbversus.stats.calibration.twins import Twins, read_twins
from dbversus.stats.calibration.variation import order_bias, rows_of, spreads, uniformity
from dbversus.stats.judging.sequential import LOOKS
from dbversus.stats.metrics import Floats

SUITES = 1000
EFFECTS = (0.01, 0.02, 0.03, 0.05, 0.08)
FEWEST_GAMES = 4
"""Suites for each test and effect, however many tests there are."""

SUITES_ALIKE = 2.2
"""Suites are drawn from the same blocks. Between 14 simulated calibrations shares had a standard deviation half as large again
as their number alone explains (6.4 points instead of 4.3): they are worth fewer independent ones by the square of that."""

MARGIN_QUANTILE = 0.99
MARGIN_FACTOR = 1.5
_MARGIN_DRAWS = 4000
_SAID_EVERY = 50

Say = Callable[[str], None]


def evaluate(results: Results, suites: int = SUITES, seed: int = 1, say: Say = lambda _: None) -> Figures:
    """Figures from `suites` virtual suites of equal targets, and as many again with a change in one test.

    Raises UsageError when `results` are not those of a calibration, or too few blocks are finished.
    """
    say("reading the results")
    twins = read_twins(results)
    looks = fitting_looks(len(twins.blocks))
    margins = calibrated_margins(twins, looks[-1], seed)
    pool = make_pool(twins, looks, margins)
    equal = _play(pool, [Game((seed, number)) for number in range(suites)], "equal targets", say)
    changed = _play(pool, detection_games(pool, suites, seed), "a change in one test", say)
    in_bursts = _play(pool, burst_games(pool, suites, seed), "bursts in one test", say)
    say("taking the noise apart")
    rows = rows_of(results, twins)
    of_tests = spreads(results, twins, rows, margins)
    return Figures(
        tests=list(twins.tests),
        blocks=len(twins.blocks),
        looks=list(looks),
        suites=suites,
        metrics=[metric.name for metric in twins.metrics],
        changed=twins.changed,
        **_of_equal(equal, len(twins.tests)),
        changed_as_measured=changed_as_measured(pool),
        disturbed=_disturbed(results, twins),
        **_coverage([*equal, *changed]),
        detection=[_detected(effect, [one for one in changed if one.game.effect == effect]) for effect in EFFECTS],
        bursts=_bursts(twins, in_bursts),
        injected=bool(twins.slowed_down),
        recovery=recover(twins.injected, twins.injected_metric),
        spreads=of_tests,
        order_bias=order_bias(rows),
        start_bias=start_bias(results, twins),
        uniformity=uniformity(of_tests),
    )


def fitting_looks(blocks: int) -> tuple[int, ...]:
    """The usual looks that `blocks` blocks are enough for, or one after them all."""
    return tuple(look for look in LOOKS if look <= blocks) or (blocks,)


def calibrated_margins(twins: Twins, blocks: int, seed: int) -> Margins:
    """Per test and metric, a share: MARGIN_FACTOR × the 99th percentile of |mean d| over virtual suites of `blocks` blocks.

    Never under the default. Metrics with nothing to compare have none.
    """
    rng = np.random.default_rng((seed, len(twins.blocks)))
    draws = _signed_draws(len(twins.blocks), blocks, rng)
    default = {metric.name: metric.margin for metric in twins.metrics}
    return {
        place: max(
            default[place[1]],
            float(np.expm1(MARGIN_FACTOR * np.nanquantile(np.abs(_means(draws, of_place)), MARGIN_QUANTILE))),
        )
        for place, of_place in _logs(twins).items()
    }


def _logs(twins: Twins) -> dict[tuple[str, str], Floats]:
    """Per block, ln ratios of the tests and metrics that have any; 0: nothing on either side, NaN: not measured."""
    index = {block: number for number, block in enumerate(twins.blocks)}
    logs = {(each.test, each.metric): np.full(len(index), np.nan) for each in twins.values if each.value is not None}
    for value in twins.values:
        if value.rows > 0 and (value.test, value.metric) in logs:
            logs[value.test, value.metric][index[value.block]] = value.value or 0.0
    return logs


def _means(draws: Floats, logs: Floats) -> Floats:
    """Mean of each draw over the blocks that were measured; NaN where it has none of them."""
    measured = np.isfinite(logs)
    taken = np.abs(draws) @ measured
    sums = draws @ np.where(measured, logs, 0.0)
    means: Floats = np.divide(sums, taken, out=np.full(len(draws), np.nan), where=taken > 0)
    return means


def _signed_draws(measured: int, wanted: int, rng: np.random.Generator) -> Floats:
    """Draws × measured blocks: ±1 for the blocks that a suite takes, 0 for the others."""
    ranks = np.argsort(rng.random((_MARGIN_DRAWS, measured)), axis=1)
    signs: Floats = np.where(ranks < wanted, rng.choice((-1.0, 1.0), ranks.shape), 0.0)
    return signs


def detection_games(pool: Pool, suites: int, seed: int) -> list[Game]:
    """About `suites` games, equally many for each test that has the metric and each effect, all added to the same noise."""
    tests = [test for test in pool.tests if _has_changed(pool, test)] or list(pool.tests)
    return [
        Game((seed, number, place), test, effect)
        for number in range(_games_each(len(tests), suites))
        for place, test in enumerate(tests)
        for effect in EFFECTS
    ]


def _has_changed(pool: Pool, test: str) -> bool:
    return any(value.metric == pool.changed for block in pool.values[test] for value in block)


def burst_games(pool: Pool, suites: int, seed: int) -> list[Game]:
    """As many for each test that had bursts."""
    return [
        Game((seed, number, place), test, in_bursts=True)
        for number in range(_games_each(len(pool.tests), suites))
        for place, test in enumerate(pool.tests)
        if test in pool.bursts
    ]


def _games_each(tests: int, suites: int) -> int:
    return max(FEWEST_GAMES, suites // (tests * len(EFFECTS)))


def _play(pool: Pool, games: Sequence[Game], what: str, say: Say) -> list[Played]:
    played: list[Played] = []
    for number, game in enumerate(games):
        if number % _SAID_EVERY == 0:
            say(f"virtual suites with {what}: {number} of {len(games)}")
        played.append(play(pool, game))
    return played


def _of_equal(played: Sequence[Played], tests: int) -> dict[str, Any]:
    findings = sum(suite.findings for suite in played)
    alarmed = [test for suite in played for test in suite.false_tests]
    return {
        "false_alarms": of_suites(sum(bool(suite.false_tests) for suite in played), len(played)),
        "alarmed": {test: alarmed.count(test) / len(played) for test in sorted(set(alarmed), key=alarmed.count)[::-1]},
        "equivalent": sum(suite.equivalent for suite in played) / findings,
        "undecided": sum(suite.undecided for suite in played) / findings,
        "median_blocks": float(np.median([blocks for suite in played for blocks in suite.blocks])),
        "never_settled": sum(suite.open_tests for suite in played) / (len(played) * tests),
    }


def _coverage(played: Sequence[Played]) -> dict[str, Any]:
    """Of all intervals, and of those of tests that stopped after so many blocks."""
    by_look: dict[int, Share] = {}
    counts = np.zeros(2, dtype=np.int64)
    for blocks in sorted({blocks for suite in played for blocks in suite.intervals}):
        of_look = np.sum([suite.intervals.get(blocks, (0, 0)) for suite in played], axis=0)
        by_look[blocks] = of_suites(*map(int, of_look))
        counts += of_look
    return {"coverage": of_suites(*map(int, counts)) if by_look else None, "coverage_by_look": by_look}


def _detected(effect: float, played: Sequence[Played]) -> Detection:
    by_test: dict[str, list[bool]] = {}
    for suite in played:
        by_test.setdefault(str(suite.game.test), []).append(suite.found)
    means = {test: sum(hits) / len(hits) for test, hits in by_test.items()}
    return Detection(effect=effect, found=of_suites(sum(suite.found for suite in played), len(played)), by_test=means)


def _bursts(twins: Twins, played: Sequence[Played]) -> BurstDetection | None:
    if twins.bursts is None or not played:
        return None
    known = [twins.whole_injected[place] for place in twins.bursts.where if place in twins.whole_injected]
    added, measured = (
        float(np.expm1(np.mean(logs))) for logs in zip(*((i.truth, i.measured) for i in known), strict=True)
    )
    found = _detected(added, played)
    return BurstDetection(
        **found.model_dump(),
        ms=twins.bursts.ms,
        every_ms=twins.bursts.every_ms,
        measured=measured,
        blocks_with=len(known),
    )


def of_suites(part: int, whole: int) -> Share:
    """`part` of `whole` virtual suites, with the interval of fewer by SUITES_ALIKE."""
    return share(part, whole, 1 / SUITES_ALIKE)


def share(part: int, whole: int, worth: float = 1.0) -> Share:
    """`part` of `whole` with its 95 % Clopper-Pearson interval, where each is `worth` so many independent ones."""
    hits, misses = worth * part, worth * (whole - part)
    low = float(beta.ppf(0.025, hits, misses + 1)) if part else 0.0
    high = float(beta.ppf(0.975, hits + 1, misses)) if part < whole else 1.0
    return Share(share=part / whole, low=low, high=high, count=whole)


def _disturbed(results: Results, twins: Twins) -> float:
    """Share of the twins' rows in which the host was disturbed."""
    slots = results.slots
    of_twin = (slots["target"] == twins.twin.label) & np.isin(np.asarray(slots["block"]), twins.blocks)
    return float(np.mean(slots["disturbed"][of_twin]))
