"""Equal targets, one after the other on a host that slows down within each block: what the order of turns does."""

from collections.abc import Callable

import numpy as np

from dbversus.results.layout import lay_out
from dbversus.stats.judging.sequential import LOOKS
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.metrics import CPU, PRIMARY
from dbversus.stats.model import Finding, Verdict
from dbversus.stats.orders import balanced_turns
from dbversus.stats.values.blocks import block_values

from .slots import Slots, make_slots, one_after_the_other

NAMES = ("a", "b")
BLOCKS, TESTS, SUITES = LOOKS[-1], 10, 30
SLOWDOWN, TURN_SD = 0.05, 0.01  # ln, of whoever has the second turn; and of each turn, shared by all of its tests
CHANGES = (Verdict.REGRESSION, Verdict.IMPROVEMENT)

Turns = Callable[[int, int], list[str]]
"""Suite, block → targets in order."""


def measured(suite: int, turns: Turns) -> Slots:
    rng = np.random.default_rng([9, suite])
    slots = one_after_the_other(make_slots(NAMES, TESTS, BLOCKS, rows=4, seed=suite))
    noise = rng.normal(0, TURN_SD, (BLOCKS, len(NAMES)))
    for block in range(BLOCKS):
        for turn, name in enumerate(turns(suite, block)):
            here = (slots["block"] == block) & (slots["target"] == name)
            slots["server_cpu_ns"][here] *= np.exp(SLOWDOWN * turn + noise[block, turn])
    return slots


def judged(turns: Turns) -> list[list[Finding]]:
    suites = [assess(block_values(lay_out(measured(suite, turns), "a"), PRIMARY), PRIMARY) for suite in range(SUITES)]
    return [[finding for finding in findings if finding.metric == CPU] for findings in suites]


def test_the_same_order_in_every_block_calls_the_later_one_slower() -> None:
    suites = judged(lambda _suite, _block: list(NAMES))
    assert all(finding.verdict is Verdict.REGRESSION for findings in suites for finding in findings)


def test_balanced_turns_put_the_slowdown_into_the_interval() -> None:
    suites = judged(lambda suite, block: balanced_turns(NAMES, block, suite))
    assert sum(any(finding.verdict in CHANGES for finding in findings) for findings in suites) <= 4
    covered = [f.low <= 1 <= f.high for findings in suites for f in findings if f.low and f.high]
    assert len(covered) == SUITES * TESTS
    assert np.mean(covered) >= 0.95
