"""Virtual suites: many experiments on equal targets, made of the blocks of one long one, and judged as any other.

Within a block the two equal targets could have had each other's labels, and blocks could have come in any other order. So a
virtual suite takes blocks in random order, without repetition, and changes the sign of whole blocks at random: what befell
several tests of a block together stays together.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dbversus.stats.calibration.twins import Twins
from dbversus.stats.judge import settled_tests
from dbversus.stats.metrics import Floats, metric_named
from dbversus.stats.model import CHANGES, BlockValue, Finding, Metric, Verdict
from dbversus.stats.protocol import Looked, take_looks
from dbversus.stats.verdicts import assess

Margins = Mapping[tuple[str, str], float]
"""Share by test and metric."""


@dataclass(frozen=True)
class Pool:
    """What suites are drawn from. `values`: test → those of each measured block, in order of blocks.

    `metrics` are judged; `changed` is the one that a change is added to. `residuals`: test → per block, its ln ratio that is
    left of an injected target when the truth is taken off; NaN: none. They stand in for `values` where a change is added.
    """

    tests: tuple[str, ...]
    values: Mapping[str, Sequence[Sequence[BlockValue]]]
    residuals: Mapping[str, Floats]
    blocks: int
    looks: tuple[int, ...]
    margins: Margins
    metrics: tuple[Metric, ...]
    changed: str


@dataclass(frozen=True)
class Game:
    """One suite to play: its seed, and the test of which a metric grows by `effect` (a share); no test: all are equal."""

    seed: tuple[int, ...]
    test: str | None = None
    effect: float = 0.0


@dataclass(frozen=True)
class Played:
    """How a suite ended. Counts are of findings on judged metrics; `found`: the change in the changed test is found.

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
    index = {block: number for number, block in enumerate(twins.blocks)}
    values: dict[str, list[list[BlockValue]]] = {test: [[] for _ in index] for test in twins.tests}
    for value in twins.values:
        if value.block in index and value.test in values:
            values[value.test][index[value.block]].append(value)
    residuals = {test: np.full(len(index), np.nan) for test in twins.tests}
    for (test, block), injected in twins.slowed_down.items():
        if test in residuals and block in index:
            residuals[test][index[block]] = injected.residual
    return Pool(twins.tests, values, residuals, len(index), looks, margins, twins.metrics, twins.changed)


def play(pool: Pool, game: Game) -> Played:
    """One suite through its looks; one with a changed test only until that is settled."""
    looked = _look(pool, draw(pool, game), None if game.test is None else (game.test,))
    if game.test is not None:
        own = [finding for finding in looked.findings if finding.test == game.test and finding.metric == pool.changed]
        return _count(pool, game, own, looked)
    return _count(pool, game, looked.findings, looked)


def changed_as_measured(pool: Pool) -> list[str]:
    """Tests called changed by the experiment that the first blocks were: order and signs kept, the default margins.

    What lasts (a target that is always favoured) is in it; signs that change at random make noise of that.
    """
    findings = _look(replace(pool, margins={}), pool.values).findings
    changed = {finding.test for finding in findings if finding.verdict in CHANGES}
    return [test for test in pool.tests if test in changed]


def _look(
    pool: Pool, values: Mapping[str, Sequence[Sequence[BlockValue]]], watched: Collection[str] | None = None
) -> Looked:
    def judge(blocks: Mapping[str, int]) -> list[Finding]:
        chosen = [value for test, count in blocks.items() for block in values[test][:count] for value in block]
        return assess(chosen, pool.metrics, pool.looks, pool.margins)

    return take_looks(judge, pool.tests, pool.looks, settled_tests, watched)


def draw(pool: Pool, game: Game) -> dict[str, list[list[BlockValue]]]:
    """Block values of one suite: test → per place in the suite, as many as the last look wants."""
    rng = np.random.default_rng(game.seed)
    order = rng.permutation(pool.blocks)[: pool.looks[-1]]
    signs = rng.choice((-1.0, 1.0), len(order))
    return {
        test: [
            [_moved(pool, game, value, int(block), place, float(sign)) for value in pool.values[test][block]]
            for place, (block, sign) in enumerate(zip(order, signs, strict=True))
        ]
        for test in pool.tests
    }


def _moved(pool: Pool, game: Game, value: BlockValue, block: int, place: int, sign: float) -> BlockValue:
    """`value` of measured block number `block`, as the one at `place` of the suite."""
    log_ratio = value.value
    if value.test == game.test and value.metric == pool.changed and log_ratio is not None:
        residual = float(pool.residuals[value.test][block])
        log_ratio = sign * (log_ratio if np.isnan(residual) else residual) + float(np.log1p(game.effect))
    elif log_ratio is not None:
        log_ratio *= sign
    return BlockValue(value.test, value.target, value.metric, place, log_ratio, value.rows, value.dropped)


def _count(pool: Pool, game: Game, findings: Sequence[Finding], looked: Looked) -> Played:
    bounds = [(_truth(pool, game, item), item.low, item.high) for item in findings]
    shown = [(truth, low, high) for truth, low, high in bounds if low is not None and high is not None]
    false = {item.test for item in findings if item.verdict in CHANGES and _truth(pool, game, item) == 0}
    grown = Verdict.IMPROVEMENT if metric_named(pool.changed).higher_is_better else Verdict.REGRESSION
    return Played(
        game=game,
        false_tests=tuple(sorted(false)),
        findings=len(findings),
        equivalent=sum(item.verdict is Verdict.EQUIVALENT for item in findings),
        undecided=sum(item.verdict in (Verdict.UNDECIDED, Verdict.UNSTABLE, Verdict.DISTURBED) for item in findings),
        intervals=len(shown),
        covered=sum(low <= np.exp(truth) <= high for truth, low, high in shown),
        found=any(item.test == game.test and item.verdict is grown for item in findings),
        blocks=tuple(looked.blocks.values()),
        open_tests=len(looked.open_tests),
    )


def _truth(pool: Pool, game: Game, finding: Finding) -> float:
    """ln of the true ratio."""
    return float(np.log1p(game.effect)) if (finding.test, finding.metric) == (game.test, pool.changed) else 0.0
