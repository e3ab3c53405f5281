"""Would it pay to give tests rows by what they need, once a look has told how noisy they are? A simulation of the best case.

Spreads between and within blocks and the costs of blocks and rows are those measured. Experiments are drawn from them,
normal, targets that are equal except in a share of tests, and run as `dbversus` runs them: looks, retirement, changes measured
again. The policies differ in the rows that a test gets per block. The adaptive one is told the true spreads after the first
look, as no program would be: what it saves here is the most that it can save.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from dbversus.experiment.plan.slots import ROWS_AT_LEAST
from dbversus.stats.metrics import CPU, PRIMARY, THROUGHPUT, Floats
from dbversus.stats.model import BlockValue
from tuning.clock import Clock
from tuning.replay import Replayed, Tally, run_looks
from tuning.variance import Components

MOST_TIMES_PLANNED = 2.0
TYPICAL_ROWS = 20
TARGET = "changed"
Rows = Mapping[str, float]
# rows of each test in blocks up to the first look, and after it
Policy = Callable[["Suite"], tuple[Rows, Rows]]


@dataclass(frozen=True)
class Suite:
    """What was measured. `spreads`: test → metric → components; `fixed`: tests whose rows must stay the same in all
    blocks, since they change data.
    """

    clock: Clock
    spreads: Mapping[str, Mapping[str, Components]]
    fixed: frozenset[str]

    @property
    def tests(self) -> list[str]:
        return list(self.spreads)


def allocate(suite: Suite, at_most: float = MOST_TIMES_PLANNED) -> dict[str, float]:
    """Rows per test that minimise its variance for the time, between ROWS_AT_LEAST and `at_most` × those planned.

    A test that has one tight and one noisy primary metric gets what the noisier one (per margin) needs: that decides when it
    is retired. Rows come in pairs of orders.
    """
    rows = dict(suite.clock.rows)
    for test in suite.tests:
        if test not in suite.fixed:
            planned = suite.clock.rows[test]
            best = _noisiest(suite.spreads[test]).best_rows(suite.clock.share_s(test), suite.clock.row_s[test])
            rows[test] = 2 * round(min(max(best, ROWS_AT_LEAST), at_most * planned) / 2)
    return rows


def _noisiest(spreads: Mapping[str, Components]) -> Components:
    margins = {metric.name: math.log1p(metric.margin) for metric in PRIMARY}
    return max(spreads.items(), key=lambda item: item[1].variance(TYPICAL_ROWS) / margins[item[0]] ** 2)[1]


def as_planned(suite: Suite) -> tuple[Rows, Rows]:
    return suite.clock.rows, suite.clock.rows


def adaptive(suite: Suite) -> tuple[Rows, Rows]:
    return suite.clock.rows, allocate(suite)


def best_from_the_start(suite: Suite) -> tuple[Rows, Rows]:
    rows = allocate(suite)
    return rows, rows


def scaled(factor: float) -> Policy:
    """All tests get `factor` × the rows planned, from the start: then those that change data do the same in all blocks."""

    def policy(suite: Suite) -> tuple[Rows, Rows]:
        rows = {test: max(min(planned, ROWS_AT_LEAST), planned * factor) for test, planned in suite.clock.rows.items()}
        return rows, rows

    return policy


POLICIES: Mapping[str, Policy] = {
    "as planned": as_planned,
    "half of it": scaled(0.5),
    "a third of it": scaled(1 / 3),
    "by need, from the start": best_from_the_start,
    "by need, after the first look": adaptive,
}


def simulate(
    suite: Suite,
    policies: Mapping[str, Policy],
    looks: tuple[int, ...],
    share: float,
    effect: float,
    replays: int,
    seed: int,
) -> dict[str, Tally]:
    """Tally per policy; all policies see the same noise, scaled to their rows."""
    tallies = {name: Tally() for name in policies}
    count = round(share * len(suite.tests))
    for number in range(replays):
        rng = np.random.default_rng((seed, number))
        changed = frozenset(str(test) for test in rng.choice(suite.tests, size=count, replace=False))
        noise = rng.standard_normal((looks[-1], len(suite.tests), 2))
        for name, policy in policies.items():
            one = _run(suite, policy(suite), looks, noise, dict.fromkeys(changed, effect))
            tallies[name].add(one, changed, len(suite.tests))
    return tallies


def _run(
    suite: Suite,
    rows: tuple[Rows, Rows],
    looks: tuple[int, ...],
    noise: Floats,
    effects: Mapping[str, float],
) -> Replayed:
    return run_looks(
        suite.tests,
        looks,
        lambda block, tests, looked: _block(suite, block, rows[looked], tests, noise[block], effects),
        lambda tests, looked: suite.clock.block_duration_s(tests, rows[looked]),
    )


def _block(
    suite: Suite, block: int, rows: Rows, tests: Collection[str], noise: Floats, effects: Mapping[str, float]
) -> list[BlockValue]:
    """Values of CPU per op and throughput; what throughput has in common with CPU per op does not matter for the time."""
    values = []
    for test in tests:
        change = math.log1p(effects.get(test, 0.0))
        for column, (metric, sign) in enumerate(((CPU, 1), (THROUGHPUT, -1))):
            if spread := suite.spreads[test].get(metric):
                sd = math.sqrt(spread.variance(rows[test]))
                value = sign * change + sd * float(noise[suite.tests.index(test), column])
                values.append(BlockValue(test, TARGET, metric, block, value, round(rows[test])))
    return values
