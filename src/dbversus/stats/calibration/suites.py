"""Virtual suites: many experiments on equal targets, made of the blocks of one long one, and judged as any other.

Within a block the two equal targets could have had each other's labels, and blocks could have come in any other order. So a
virtual suite takes blocks in random order, without repetition, and changes the sign of whole blocks at random: what befell
several tests of a block together stays together.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dbversus.results.layout import Ints
from dbversus.stats.calibration.twins import Injected, TestBlock, Twins
from dbversus.stats.judge import Evidence, decided_tests, judge_evidence
from dbversus.stats.metrics import Floats, metric_named
from dbversus.stats.model import CHANGES, DIFFERS, BlockValue, Finding, Metric, Verdict
from dbversus.stats.simulation.protocol import Looked, take_looks

Values = Mapping[str, Sequence[Sequence[BlockValue]]]
"""Test → those of each block, in order of blocks."""

Margins = Mapping[tuple[str, str], float]
"""Share by test and metric."""


@dataclass(frozen=True)
class Pool:
    """What suites are drawn from. `values`: of the measured blocks, by rows; `whole`: of all their work.

    `metrics` are judged; `changed` is the one that a change is added to. `residuals`: test → per block, its ln ratio that is
    left of an injected target when the truth is taken off; NaN: none. They stand in for `values` where a change is added,
    `whole_residuals` for `whole`. `bursts`: test → what bursts truly added to ln of CPU per op, in as many blocks as had any.
    """

    tests: tuple[str, ...]
    values: Values
    residuals: Mapping[str, Floats]
    blocks: int
    looks: tuple[int, ...]
    margins: Margins
    metrics: tuple[Metric, ...]
    changed: str
    whole: Values = field(default_factory=dict)
    whole_residuals: Mapping[str, Floats] = field(default_factory=dict)
    bursts: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class Game:
    """One suite to play: its seed, and the test of which a metric grows by `effect` (a share); no test: all are equal.

    With `in_bursts` it grows instead by what bursts added to some measured block, drawn anew for each. Only all the work
    shows that: most rows are without a burst.
    """

    seed: tuple[int, ...]
    test: str | None = None
    effect: float = 0.0
    in_bursts: bool = False


@dataclass(frozen=True)
class Played:
    """How a suite ended. Counts are of findings on judged metrics; `found`: the change in the changed test is found.

    `false_tests`: equal tests that were called changed. `intervals`: blocks → how many intervals of tests that stopped after so
    many hold the truth, and how many there are. `blocks`: those each test took part in; `open_tests`: number of tests that were
    not settled at the last look.
    """

    game: Game
    false_tests: tuple[str, ...]
    findings: int
    equivalent: int
    undecided: int
    intervals: Mapping[int, tuple[int, int]]
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
        metrics=twins.metrics,
        changed=twins.changed,
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
        own = [finding for finding in looked.findings if finding.test == game.test and finding.metric == pool.changed]
        return _count(pool, game, own, looked)
    return _count(pool, game, looked.findings, looked)


def changed_as_measured(pool: Pool) -> list[str]:
    """Tests called changed by the experiment that the first blocks were: order and signs kept, the default margins.

    What lasts (a target that is always favoured) is in it; signs that change at random make noise of that.
    """
    findings = _look(replace(pool, margins={}), pool.values, pool.whole).findings
    changed = {finding.test for finding in findings if finding.verdict in CHANGES}
    return [test for test in pool.tests if test in changed]


def _look(pool: Pool, values: Values, whole: Values, watched: Collection[str] | None = None) -> Looked:
    def of(values: Values, blocks: Mapping[str, int]) -> list[BlockValue]:
        return [value for test, count in blocks.items() for block in values.get(test, ())[:count] for value in block]

    def judge(blocks: Mapping[str, int]) -> list[Finding]:
        evidence = Evidence(of(values, blocks), of(whole, blocks))
        return judge_evidence(evidence, pool.metrics, pool.looks, pool.margins)

    return take_looks(judge, pool.tests, pool.looks, decided_tests, watched)


def draw(pool: Pool, game: Game) -> tuple[Values, Values]:
    """Block values of one suite, by rows and of all the work, in as many blocks as the last look wants."""
    rng = np.random.default_rng(game.seed)
    order = rng.permutation(pool.blocks)[: pool.looks[-1]]
    signs = rng.choice((-1.0, 1.0), len(order))
    added = np.full(len(order), np.log1p(game.effect))
    whole_added = rng.choice(pool.bursts[str(game.test)], len(order)) if game.in_bursts else added
    return (
        _drawn(pool.values, pool.residuals, (game.test, pool.changed), order, signs, added),
        _drawn(pool.whole, pool.whole_residuals, (game.test, pool.changed), order, signs, whole_added),
    )


def _drawn(
    values: Values,
    residuals: Mapping[str, Floats],
    changed: tuple[str | None, str],
    order: Ints,
    signs: Floats,
    added: Floats,
) -> Values:
    """The blocks in this `order`, with these signs; what is `added` to each is so in the test and metric that are `changed`."""
    drawn = {}
    for test, blocks in values.items():
        moves = zip(order, signs, residuals[test][order], added, strict=True)
        drawn[test] = [
            [
                _moved(value, place, sign, residual, more if (test, value.metric) == changed else None)
                for value in blocks[int(block)]
            ]
            for place, (block, sign, residual, more) in enumerate(moves)
        ]
    return drawn


def _moved(value: BlockValue, place: int, sign: float, residual: float, added: float | None) -> BlockValue:
    """`value` as the one at `place` of a suite.

    Where something is `added`, it is that and the `residual`, where there is one.
    """
    log_ratio = value.value
    if log_ratio is not None and added is not None:
        log_ratio = sign * (log_ratio if np.isnan(residual) else residual) + added
    elif log_ratio is not None:
        log_ratio *= sign
    known = None if log_ratio is None else float(log_ratio)
    return BlockValue(value.test, value.target, value.metric, place, known, value.rows, value.disturbed, value.error)


def _count(pool: Pool, game: Game, findings: Sequence[Finding], looked: Looked) -> Played:
    false = {item.test for item in findings if item.verdict in DIFFERS and _truth(pool, game, item) == 0}
    grown = Verdict.IMPROVEMENT if metric_named(pool.changed).higher_is_better else Verdict.REGRESSION
    return Played(
        game=game,
        false_tests=tuple(sorted(false)),
        findings=len(findings),
        equivalent=sum(item.verdict is Verdict.EQUIVALENT for item in findings),
        undecided=sum(item.verdict in (Verdict.UNDECIDED, Verdict.UNSTABLE) for item in findings),
        intervals=_intervals(pool, game, findings),
        found=any(item.test == game.test and item.verdict is grown for item in findings),
        blocks=tuple(looked.blocks.values()),
        open_tests=len(looked.open_tests),
    )


def _intervals(pool: Pool, game: Game, findings: Sequence[Finding]) -> dict[int, tuple[int, int]]:
    counts: dict[int, tuple[int, int]] = {}
    for item in findings:
        if item.low is not None and item.high is not None:
            covered, shown = counts.get(item.blocks, (0, 0))
            holds = item.low <= np.exp(_truth(pool, game, item)) <= item.high
            counts[item.blocks] = covered + bool(holds), shown + 1
    return counts


def _truth(pool: Pool, game: Game, finding: Finding) -> float:
    """ln of the true ratio; NaN where it is another in each block."""
    if (finding.test, finding.metric) != (game.test, pool.changed):
        return 0.0
    return math.nan if game.in_bursts else float(np.log1p(game.effect))
