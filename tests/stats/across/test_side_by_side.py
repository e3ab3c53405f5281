"""Experiments side by side: interactions of unpaired blocks against hand calculation and a simulated truth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from scipy import stats

from dbversus.stats.across.side_by_side import Measured, block_means, judge_interactions
from dbversus.stats.judge import settled_tests
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.means import Mean
from dbversus.stats.metrics import CPU, PRIMARY, THROUGHPUT
from dbversus.stats.model import CHANGES, BlockValue, Finding, Verdict
from dbversus.stats.simulation.protocol import take_looks
from dbversus.stats.simulation.simulate import World, block_noise, values_of
from dbversus.stats.values.table import Key

LOOKS = (4, 6, 8, 12)
ONE = ("scan", "b", CPU)


def values(logs: Sequence[float | None], metric: str = CPU, test: str = "scan") -> list[BlockValue]:
    return [BlockValue(test, "b", metric, block, log, 10) for block, log in enumerate(logs)]


def measured(
    means: dict[Key, Mean], margins: dict[tuple[str, str], float] | None = None, looks: tuple[int, ...] = (4,)
) -> Measured:
    return Measured(means, margins or {}, looks)


def only(first: Mean, other: Mean, **more: object) -> Finding:
    (found,) = judge_interactions(measured({ONE: first}), [measured({ONE: other}, **more)], PRIMARY)  # type: ignore[arg-type]
    return found[ONE]


def test_a_mean_is_that_of_the_blocks() -> None:
    logs = [0.05, 0.06, 0.07, 0.08]
    mean = block_means(values(logs), PRIMARY)[ONE]
    assert mean.value == pytest.approx(0.065) and (mean.blocks, mean.df) == (4, 3)
    assert mean.error == pytest.approx(stats.sem(logs))


def test_one_block_has_no_error_and_nothing_to_compare_no_mean() -> None:
    means = block_means([*values([0.1]), *values([None, None], test="idle")], PRIMARY)
    assert means == {ONE: Mean(0.1, None, 0.0, 1, (0.1, 0.1))}
    assert block_means([], PRIMARY) == {}


def test_the_interval_is_that_of_welch() -> None:
    ours, first = [0.10, 0.12, 0.11, 0.13, 0.14], [0.01, 0.05, 0.03, 0.02]
    found = only(block_means(values(first), PRIMARY)[ONE], block_means(values(ours), PRIMARY)[ONE])
    truth = stats.ttest_ind(ours, first, equal_var=False)
    low, high = truth.confidence_interval(0.95)
    assert found.ratio == pytest.approx(math.exp(np.mean(ours) - np.mean(first)))
    assert [found.low, found.high] == pytest.approx([math.exp(low), math.exp(high)])
    assert [found.p_value, found.degrees_of_freedom] == pytest.approx([truth.pvalue, truth.df])
    assert (found.verdict, found.blocks) == (Verdict.REGRESSION, 4)


def test_verdicts_go_by_the_wider_margin_and_by_what_is_better() -> None:
    none, some = Mean(0.0, 0.001, 6, 4), Mean(0.05, 0.001, 6, 4)
    assert only(none, some).verdict is Verdict.REGRESSION
    assert only(some, none).verdict is Verdict.IMPROVEMENT
    assert only(none, none).verdict is Verdict.EQUIVALENT
    for margin, verdict in ((0.08, Verdict.SMALL_CHANGE), (0.2, Verdict.EQUIVALENT)):
        wide = only(none, some, margins={("scan", CPU): margin})
        assert (wide.verdict, wide.margin, wide.is_worse) == (verdict, margin, verdict is Verdict.SMALL_CHANGE)
    key = ("scan", "b", THROUGHPUT)
    (found,) = judge_interactions(measured({key: none}), [measured({key: Mean(0.08, 0.001, 6, 4)})], PRIMARY)
    assert found[key].verdict is Verdict.IMPROVEMENT


def test_without_an_interval_nothing_is_said() -> None:
    found = only(Mean(0.0, None, 0, 1), Mean(0.5, 0.001, 6, 4))
    assert (found.verdict, found.low, found.q_value) == (Verdict.UNDECIDED, None, None)
    assert found.note == "1 of 4 blocks: no verdict"


def test_before_the_first_look_of_either_nothing_is_said() -> None:
    first, other = Mean(0.0, 0.001, 6, 5), Mean(0.5, 0.001, 6, 8)
    found = only(first, other, looks=(12,))
    assert (found.verdict, found.note) == (Verdict.UNDECIDED, "5 of 12 blocks: no verdict")
    assert found.low is not None
    assert only(first, other, looks=(8,)).verdict is Verdict.REGRESSION


def test_two_blocks_of_either_give_a_range() -> None:
    first = block_means(values([0.0, 0.1]), PRIMARY)[ONE]
    found = only(first, block_means(values([0.5, 0.6, 0.7, 0.8]), PRIMARY)[ONE])
    assert (found.low, found.high) == (None, None)
    assert (found.least, found.most) == pytest.approx((math.exp(0.4), math.exp(0.8)))


def test_what_one_experiment_lacks_is_in_no_pair() -> None:
    both = measured({ONE: Mean(0.0, 0.01, 6, 4)})
    assert judge_interactions(both, [measured({}), both], PRIMARY)[0] == {}
    assert judge_interactions(both, [], PRIMARY) == []


def test_more_looks_ask_for_a_stricter_level() -> None:
    first, other = Mean(0.0, 0.01, 20, 8), Mean(0.03, 0.01, 20, 8)
    once, often = only(first, other), only(first, other, looks=LOOKS)
    assert once.q_value and often.q_value and once.low and often.low
    assert once.q_value < often.q_value and once.low > often.low


# --- simulated truth: each experiment goes through its looks and retires what is settled, as a real one does


def experiment(world: World, rng: np.random.Generator) -> Measured:
    noise = block_noise(world, world.looks[-1], rng)

    def chosen(blocks: dict[str, int]) -> list[BlockValue]:
        return values_of(world, noise, {int(name[1:]): range(count) for name, count in blocks.items()})

    looked = take_looks(
        lambda blocks: assess(chosen(dict(blocks)), PRIMARY, world.looks),
        [f"t{number}" for number in range(world.tests)],
        world.looks,
        settled_tests,
    )
    return Measured(block_means(chosen(looked.blocks), PRIMARY), {}, world.looks)


@dataclass
class Tally:
    """Shares over families and over their findings."""

    alarms: int = 0
    covered: list[bool] = field(default_factory=list)
    equal: list[Verdict] = field(default_factory=list)
    changed: list[Verdict] = field(default_factory=list)


def simulated(worlds: Sequence[World], families: int, seed: int) -> Tally:
    """The first world is set against each of the others, again and again."""
    rng, tally = np.random.default_rng(seed), Tally()
    for _ in range(families):
        first, *others = (experiment(world, rng) for world in worlds)
        false = False
        for world, found in zip(worlds[1:], judge_interactions(first, others, PRIMARY), strict=True):
            for (test, _, metric), one in found.items():
                number = int(test[1:])
                truth = world.truth(number, metric) - worlds[0].truth(number, metric)
                assert one.low and one.high
                tally.covered.append(one.low <= math.exp(truth) <= one.high)
                (tally.equal if truth == 0 else tally.changed).append(one.verdict)
                false |= truth == 0 and one.verdict in CHANGES
        tally.alarms += false
    return tally


EQUAL = World(tests=12, sd=0.012, looks=LOOKS)
CHANGED = replace(EQUAL, changes={0: 0.05, 1: 0.05, 2: 0.05})


@pytest.mark.slow
@pytest.mark.parametrize(
    "worlds",
    [
        (EQUAL, EQUAL),
        (CHANGED, CHANGED),  # the same change on both: it is found, but it depends on nothing
        (EQUAL, replace(EQUAL, sd=0.03), EQUAL),
        (replace(EQUAL, looks=(4,)), EQUAL),
    ],
    ids=["equal", "changed alike", "three, one noisy", "one look and four"],
)
def test_equal_experiments_seldom_differ_and_intervals_hold_the_truth(worlds: Sequence[World]) -> None:
    tally = simulated(worlds, 80, seed=5)
    # 5 % of families are promised; 80 of them show at most 9 with a chance of 99 %
    assert tally.alarms <= 9
    assert np.mean(tally.covered) >= 0.95


@pytest.mark.slow
def test_true_interactions_are_found() -> None:
    tally = simulated((EQUAL, replace(EQUAL, changes={0: 0.08})), 40, seed=6)
    assert np.mean([verdict in CHANGES for verdict in tally.changed]) >= 0.9
    assert np.mean([verdict is Verdict.EQUIVALENT for verdict in tally.equal]) >= 0.4
    assert np.mean(tally.covered) >= 0.95
