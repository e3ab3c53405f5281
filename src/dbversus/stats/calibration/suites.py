"""Virtual suites: many experiments on equal targets, made of the blocks of one long one, and judged as any other.

Within a block the two equal targets could have had each other's labels, and blocks could have come in any other order. So a
virtual suite takes blocks in random order, without repetition, and changes the sign of whole blocks at random: what befell
several tests of a block together stays together.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dbversus.stats.calibration.twins import Injected, TestBlock, Twins
from dbversus.stats.judge import settled_tests
from dbversus.stats.layout import Ints
from dbversus.stats.metrics import CPU, PRIMARY, SMOOTH, Floats
from dbversus.stats.model import CHANGES, BlockValue, Finding, Metric, Verdict
from dbversus.stats.protocol import Looked, take_looks
from dbversus.stats.verdicts import assess
from dbversus.stats.whole_work import check_whole_work

Values = Mapping[str, Sequence[Sequence[BlockValue]]]
"""Test → those of each block, in order of blocks."""

Margins = Mapping[tuple[str, str], float]
"""Share by test and metric."""


@dataclass(frozen=True)
class Pool:
    """What suites are drawn from. `values`: of the measured blocks, by rows; `whole`: of all their work.

    `residuals`: test → per block, ln ratio of CPU per op that is left of an injected target when the truth is taken off;
    NaN: none. They stand in for `values` where a change is added, `whole_residuals` for `whole`. `bursts`: test → what bursts
    truly added to ln of CPU per op, in as many blocks as had any.
    """

    tests: tuple[str, ...]
    values: Values
    residuals: Mapping[str, Floats]
    blocks: int
    looks: tuple[int, ...]
    margins: Margins
    whole: Values = field(default_factory=dict)
    whole_residuals: Mapping[str, Floats] = field(default_factory=dict)
    bursts: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class Game:
    """One suite to play: its seed, and the test whose CPU per op grows by `effect` (a share); no test: all are equal.

    With `in_bursts` it grows instead by what bursts added to some measured block, drawn anew for each. Only all the work
    shows that: most rows are without a burst.
    """

    seed: tuple[int, ...]
    test: str | None = None
    effect: float = 0.0
    in_bursts: bool = False


@dataclass(frozen=True)
class Played:
    """How a suite ended. Counts are of findings on primary metrics; `found`: the changed test is called a regression.

    `false_tests`: equal tests that were called changed. `covered` of `intervals` shown hold the truth. `blocks`: those each
    test took part in; `open_tests`: number of tests that were not settled at the last look.
    """

    game: Game
    false_tests: tuple[str, ...]
    findings: int
    equivalent: int
    undecided: int
    intervals: int
    covered: int
    found: bool
    blocks: tuple[int, ...]
    open_tests: int


def make_pool(twins: Twins, looks: tuple[int, ...], margins: Margins) -> Pool:
    """The pool of one calibration."""
    return Pool(
        tests=twins.tests,
        values=_by_test(twins, twins.values),
        residuals=_residuals(twins, twins.slowed_down),
        blocks=len(twins.blocks),
        looks=looks,
        margins=margins,
        whole=_by_test(twins, twins.whole),
        whole_residuals=_residuals(twins, twins.whole_injected),
        bursts=_burst_truths(twins),
    )


def _by_test(twins: Twins, values: Sequence[BlockValue]) -> Values:
    index = {block: number for number, block in enumerate(twins.blocks)}
    found: dict[str, list[list[BlockValue]]] = {test: [[] for _ in index] for test in twins.tests}
    for value in values:
        if value.block in index and value.test in found:
            found[value.test][index[value.block]].append(value)
    return found


def _residuals(twins: Twins, injected: Mapping[TestBlock, Injected]) -> dict[str, Floats]:
    index = {block: number for number, block in enumerate(twins.blocks)}
    found = {test: np.full(len(index), np.nan) for test in twins.tests}
    for (test, block), one in injected.items():
        if test in found and block in index:
            found[test][index[block]] = one.residual
    return found


def _burst_truths(twins: Twins) -> dict[str, Floats]:
    """Of tests that had bursts."""
    found: dict[str, list[float]] = {}
    for test, block in sorted(twins.bursts.where if twins.bursts else ()):
        if (one := twins.whole_injected.get((test, block))) and test in twins.tests:
            found.setdefault(test, []).append(one.truth)
    return {test: np.array(truths) for test, truths in found.items()}


def play(pool: Pool, game: Game) -> Played:
    """One suite through its looks; one with a changed test only until that is settled."""
    looked = _look(pool, *draw(pool, game), None if game.test is None else (game.test,))
    if game.test is not None:
        own = [finding for finding in looked.findings if finding.test == game.test and finding.metric == CPU]
        return _count(game, own, looked.blocks, looked.open_tests)
    return _count(game, looked.findings, looked.blocks, looked.open_tests)


def changed_as_measured(pool: Pool) -> list[str]:
    """Tests called changed by the experiment that the first blocks were: order and signs kept, the default margins.

    What lasts (a target that is always favoured) is in it; signs that change at random make noise of that.
    """
    findings = _look(replace(pool, margins={}), pool.values, pool.whole).findings
    changed = {finding.test for finding in findings if finding.verdict in CHANGES}
    return [test for test in pool.tests if test in changed]


def _look(pool: Pool, values: Values, whole: Values, watched: Collection[str] | None = None) -> Looked:
    def assessed(values: Values, metrics: Sequence[Metric], blocks: Mapping[str, int]) -> list[Finding]:
        taken = [value for test, count in blocks.items() for block in values.get(test, ())[:count] for value in block]
        return assess(taken, metrics, pool.looks, pool.margins)

    def judge(blocks: Mapping[str, int]) -> list[Finding]:
        of_whole = {finding.key: finding for finding in assessed(whole, SMOOTH, blocks)}
        return check_whole_work(assessed(values, PRIMARY, blocks), of_whole)

    return take_looks(judge, pool.tests, pool.looks, settled_tests, watched)


def draw(pool: Pool, game: Game) -> tuple[Values, Values]:
    """Block values of one suite, by rows and of all the work, in as many blocks as the last look wants."""
    rng = np.random.default_rng(game.seed)
    order = rng.permutation(pool.blocks)[: pool.looks[-1]]
    signs = rng.choice((-1.0, 1.0), len(order))
    added = np.full(len(order), np.log1p(game.effect))
    whole_added = rng.choice(pool.bursts[str(game.test)], len(order)) if game.in_bursts else added
    return (
        _drawn(pool.values, pool.residuals, game.test, order, signs, added),
        _drawn(pool.whole, pool.whole_residuals, game.test, order, signs, whole_added),
    )


def _drawn(
    values: Values, residuals: Mapping[str, Floats], changed: str | None, order: Ints, signs: Floats, added: Floats
) -> Values:
    """The blocks in this `order`, with these signs; what is `added` to each is so in the test that is `changed`."""
    drawn = {}
    for test, blocks in values.items():
        moves = zip(order, signs, residuals[test][order], added, strict=True)
        drawn[test] = [
            [_moved(value, place, sign, residual, more if test == changed else None) for value in blocks[int(block)]]
            for place, (block, sign, residual, more) in enumerate(moves)
        ]
    return drawn


def _moved(value: BlockValue, place: int, sign: float, residual: float, added: float | None) -> BlockValue:
    """`value` as the one at `place` of a suite.

    CPU per op of a test to which something is `added` is replaced by that and the `residual`, where there is one.
    """
    log_ratio = value.value
    if log_ratio is not None and added is not None and value.metric == CPU:
        log_ratio = sign * (log_ratio if np.isnan(residual) else residual) + added
    elif log_ratio is not None:
        log_ratio *= sign
    known = None if log_ratio is None else float(log_ratio)
    return BlockValue(value.test, value.target, value.metric, place, known, value.rows, value.dropped)


def _count(game: Game, findings: Sequence[Finding], blocks: Mapping[str, int], open_tests: set[str]) -> Played:
    bounds = [(_truth(game, item), item.low, item.high) for item in findings]
    shown = [(truth, low, high) for truth, low, high in bounds if low is not None and high is not None]
    false = {item.test for item in findings if item.verdict in CHANGES and _truth(game, item) == 0}
    return Played(
        game=game,
        false_tests=tuple(sorted(false)),
        findings=len(findings),
        equivalent=sum(item.verdict is Verdict.EQUIVALENT for item in findings),
        undecided=sum(item.verdict in (Verdict.UNDECIDED, Verdict.UNSTABLE, Verdict.DISTURBED) for item in findings),
        intervals=len(shown),
        covered=sum(low <= np.exp(truth) <= high for truth, low, high in shown),
        found=any(item.test == game.test and item.verdict is Verdict.REGRESSION for item in findings),
        blocks=tuple(blocks.values()),
        open_tests=len(open_tests),
    )


def _truth(game: Game, finding: Finding) -> float:
    """ln of the true ratio; NaN where it is another in each block."""
    if finding.test != game.test or finding.metric != CPU:
        return 0.0
    return math.nan if game.in_bursts else float(np.log1p(game.effect))
