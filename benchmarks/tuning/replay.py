"""Sets of looks compared: experiments made by drawing measured blocks again, run as `dbversus` runs them, and timed.

A block is drawn as a whole, so that what its tests have in common stays. Values are taken about their mean over all
blocks (and stretched for having fitted it), which makes targets that are equal by construction. Blocks come in random
order, again in another when they are used up, each with all of its values turned round by the toss of a coin: the same
few blocks drawn again as they are would look like no noise at all. A change is then added to some tests. Rows and
retirement cost what the experiment's own journal says.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dbversus.stats.judge import decided_tests
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.metrics import CPU, PRIMARY, THROUGHPUT
from dbversus.stats.model import BlockValue, Finding, Verdict
from tuning.clock import Clock

CHANGES = (Verdict.REGRESSION, Verdict.IMPROVEMENT)
FEWEST_BLOCKS = 4
MOST_TESTS = 0.75
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Pool:
    """Measured block values about their mean, by block; `tests` are those that every block has."""

    tests: tuple[str, ...]
    blocks: tuple[tuple[BlockValue, ...], ...]


@dataclass(frozen=True)
class Replayed:
    """One experiment: minutes until all was settled or the looks were used up, and what was said of each test.

    `settled_min`: when each test that was settled was, in order.
    """

    minutes: float
    settled_min: Sequence[float]
    findings: Sequence[Finding]


@dataclass
class Tally:
    """Over experiments with one set of looks. `changed` are tests with a true change."""

    minutes: list[float] = field(default_factory=list)
    false_alarms: int = 0
    settled: int = 0
    tests: int = 0
    found: int = 0
    changed: int = 0
    most_settled_min: list[float] = field(default_factory=list)

    def add(self, one: Replayed, changed: frozenset[str], tests: int) -> None:
        called = {finding.test for finding in one.findings if finding.verdict in CHANGES}
        self.minutes.append(one.minutes)
        wanted = math.ceil(MOST_TESTS * tests)
        self.most_settled_min.append(one.settled_min[wanted - 1] if len(one.settled_min) >= wanted else math.inf)
        self.false_alarms += bool(called - changed)
        self.settled += len(one.settled_min)
        self.tests += tests
        self.found += len(called & changed)
        self.changed += len(changed)


def make_pool(values: Sequence[BlockValue]) -> Pool:
    """From the block values of all primary metrics; raises ValueError where fewer than FEWEST_BLOCKS blocks are whole."""
    blocks_of: dict[str, set[int]] = defaultdict(set)
    for value in values:
        blocks_of[value.test].add(value.block)
    most = max((len(blocks) for blocks in blocks_of.values()), default=0)
    tests = tuple(test for test, blocks in blocks_of.items() if len(blocks) == most)
    if most < FEWEST_BLOCKS:
        raise ValueError(f"{most} blocks; {FEWEST_BLOCKS} or more that all tests went through are needed")
    centred = _centred([value for value in values if value.test in tests])
    blocks = sorted({value.block for value in centred})
    return Pool(tests, tuple(tuple(value for value in centred if value.block == block) for block in blocks))


def _centred(values: Sequence[BlockValue]) -> list[BlockValue]:
    known: dict[Key, list[float]] = defaultdict(list)
    for value in values:
        if value.value is not None:
            known[value.test, value.target, value.metric].append(value.value)
    means = {key: float(np.mean(found)) for key, found in known.items()}
    stretch = {key: (len(found) / (len(found) - 1)) ** 0.5 if len(found) > 1 else 1.0 for key, found in known.items()}
    made = []
    for value in values:
        key = value.test, value.target, value.metric
        shifted = None if value.value is None else (value.value - means[key]) * stretch[key]
        made.append(replace(value, value=shifted))
    return made


def replay(
    pool: Pool, clock: Clock, looks: tuple[int, ...], effects: Mapping[str, float], rng: np.random.Generator
) -> Replayed:
    """One experiment. `effects`: test → true change of CPU per op as a share; throughput moves the other way."""
    turns = math.ceil(looks[-1] / len(pool.blocks))
    drawn = np.concatenate([rng.permutation(len(pool.blocks)) for _ in range(turns)])
    signs = rng.choice((-1.0, 1.0), size=len(drawn))

    def block(number: int, tests: Collection[str], _: bool) -> list[BlockValue]:
        source = pool.blocks[drawn[number]]
        return [_placed(value, number, signs[number], effects) for value in source if value.test in tests]

    return run_looks(pool.tests, looks, block, lambda tests, _: clock.block_duration_s(tests))


def run_looks(
    tests: Sequence[str],
    looks: tuple[int, ...],
    block: Callable[[int, Collection[str], bool], list[BlockValue]],
    duration_s: Callable[[Collection[str], bool], float],
) -> Replayed:
    """One experiment: blocks of the tests that are still open, looks, retirement.

    `block(number, tests, looked)` gives values, `duration_s(tests, looked)` what they take; `looked`: after a look.
    """
    open_tests = dict.fromkeys(tests)
    seen: list[BlockValue] = []
    findings: list[Finding] = []
    settled_min: list[float] = []
    seconds = 0.0
    for number in range(looks[-1]):
        looked = number >= looks[0]
        seconds += duration_s(open_tests, looked)
        seen += block(number, open_tests, looked)
        if number + 1 in looks:
            findings = assess(seen, PRIMARY, looks)
            settled = decided_tests(findings)
            newly = [test for test in open_tests if test in settled]
            settled_min += [seconds / 60] * len(newly)
            open_tests = {test: None for test in open_tests if test not in newly}
        if not open_tests:
            break
    return Replayed(seconds / 60, settled_min, findings)


def _placed(value: BlockValue, block: int, sign: float, effects: Mapping[str, float]) -> BlockValue:
    change = float(np.log1p(effects.get(value.test, 0.0)))
    shift = {CPU: change, THROUGHPUT: -change}.get(value.metric, 0.0)
    return replace(value, block=block, value=None if value.value is None else sign * value.value + shift)


def compare_looks(
    pool: Pool, clock: Clock, sets: Sequence[tuple[int, ...]], share: float, effect: float, replays: int, seed: int
) -> dict[tuple[int, ...], Tally]:
    """Each set of looks over the same draws; in each experiment a `share` of the tests, drawn anew, changes by `effect`."""
    tallies = {looks: Tally() for looks in sets}
    count = round(share * len(pool.tests))
    for number in range(replays):
        for looks, tally in tallies.items():
            rng = np.random.default_rng((seed, number))
            changed = frozenset(str(test) for test in rng.choice(pool.tests, size=count, replace=False))
            tally.add(replay(pool, clock, looks, dict.fromkeys(changed, effect), rng), changed, len(pool.tests))
    return tallies
