"""Virtual suites from block values with a known spread: as often right as suites that were simulated one by one."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from dbversus.results.read import Target
from dbversus.stats.calibration.evaluate import calibrated_margins, detection_games, fitting_looks
from dbversus.stats.calibration.suites import Game, Played, Pool, draw, make_pool, play
from dbversus.stats.calibration.twins import Injected, Twins
from dbversus.stats.metrics import CPU
from dbversus.stats.simulate import World, block_noise, simulate, values_of

BLOCKS = 16
LOOKS = (4, 6, 8, 12)
TESTS = 10


def twins_of(world: World, seed: int, blocks: int = BLOCKS, injected: bool = False) -> Twins:
    """Block values of equal targets; those of an injected one are 1 to 8 % higher in truth, and have noise of their own."""
    rng = np.random.default_rng(seed)
    every = dict.fromkeys(range(world.tests), range(blocks))
    values = values_of(world, block_noise(world, blocks, rng), every)
    slowed = values_of(world, block_noise(world, blocks, rng), every) if injected else []
    target = Target("t1", "postgres:17#2", "postgres", "17.11", "")
    return Twins(
        base=target,
        twin=target,
        tests=tuple(f"t{number}" for number in range(world.tests)),
        blocks=tuple(range(blocks)),
        values=tuple(values),
        injected={
            (value.test, value.block): Injected(
                value.value + 0.01 * (1 + value.block % 8), 0.01 * (1 + value.block % 8)
            )
            for value in slowed
            if value.metric == CPU and value.value is not None
        },
    )


@pytest.fixture(scope="module")
def pool() -> Pool:
    return make_pool(twins_of(World(tests=TESTS), 5, injected=True), LOOKS, {})


@pytest.fixture(scope="module")
def equal(pool: Pool) -> Sequence[Played]:
    return [play(pool, Game((1, number))) for number in range(80)]


def test_a_suite_has_every_block_at_most_once_and_one_sign_for_all_of_a_block(pool: Pool) -> None:
    values = draw(pool, Game((3,)))
    known = {test: [of_block[0].value for of_block in blocks] for test, blocks in pool.values.items()}
    sources = set()
    for place in range(LOOKS[-1]):
        signs = set()
        for test in pool.tests:
            drawn = values[test][place][0].value
            assert drawn is not None
            source = next(i for i, value in enumerate(known[test]) if value is not None and abs(value) == abs(drawn))
            sources.add((place, source))
            signs.add(np.sign(drawn) * np.sign(known[test][source] or 0.0))
        assert len(signs) == 1
    assert len(sources) == len({source for _, source in sources}) == LOOKS[-1]


def test_equal_tests_raise_few_alarms_and_are_found_equivalent(equal: Sequence[Played]) -> None:
    """At most 5 % of suites in truth; the blocks are one draw, and there are 80 suites of them."""
    assert sum(bool(suite.false_tests) for suite in equal) <= 12
    assert sum(suite.equivalent for suite in equal) >= 0.9 * sum(suite.findings for suite in equal)


def test_intervals_of_virtual_suites_hold_the_truth(equal: Sequence[Played]) -> None:
    covered, intervals = sum(suite.covered for suite in equal), sum(suite.intervals for suite in equal)
    assert intervals > 1500
    assert 0.95 <= covered / intervals <= 1


@pytest.mark.parametrize(("effect", "least", "most"), [(0.01, 0.0, 0.2), (0.05, 0.9, 1.0), (0.08, 0.95, 1.0)])
def test_large_changes_are_found_and_small_ones_are_not(pool: Pool, effect: float, least: float, most: float) -> None:
    games = [Game((2, number, place), test, effect) for number in range(4) for place, test in enumerate(pool.tests)]
    assert least <= np.mean([play(pool, game).found for game in games]) <= most


def test_a_change_at_the_margin_is_found_as_often_as_in_suites_of_their_own(pool: Pool) -> None:
    games = [Game((2, number, place), test, 0.03) for number in range(6) for place, test in enumerate(pool.tests)]
    simulated = simulate(World(tests=TESTS, changes={0: 0.03}), 60, seed=4)
    assert np.mean([play(pool, game).found for game in games]) == pytest.approx(
        simulated.changed_found / simulated.changed, abs=0.2
    )


def test_nobody_is_favoured_when_the_twins_swap_their_names(pool: Pool) -> None:
    mirrored = {
        test: [
            [replace(value, value=None if value.value is None else -value.value) for value in block] for block in blocks
        ]
        for test, blocks in pool.values.items()
    }
    swapped = replace(pool, values=mirrored)
    for number in range(10):
        assert play(swapped, Game((9, number))) == play(pool, Game((9, number)))


def test_noise_that_calls_equal_tests_changed_is_seen() -> None:
    """Values that stray together, block after block, are no noise for which the protocol is made."""
    twins = twins_of(World(tests=TESTS, sd=0.03), 6)
    drift = {block: 0.08 if block % 2 else 0.079 for block in twins.blocks}
    strayed = [
        replace(value, value=drift[value.block]) if value.metric == CPU and value.test == "t1" else value
        for value in twins.values
    ]
    pool = make_pool(replace(twins, values=tuple(strayed)), (4,), {})
    alarms = [play(pool, Game((1, number))).false_tests for number in range(30)]
    assert any("t1" in tests for tests in alarms)


def test_a_watched_test_ends_its_suite(pool: Pool) -> None:
    played = play(pool, Game((2, 1, 0), pool.tests[0], 0.08))
    assert played.found
    assert max(played.blocks) < LOOKS[-1]
    assert played.findings == 1


def test_margins_widen_with_the_noise_and_never_shrink() -> None:
    twins = twins_of(World(tests=4, sd=0.01, sd_spread=0.0, noisy_tests=1), 8)
    margins = calibrated_margins(twins, 12, seed=1)
    assert margins["t0", CPU] == 0.03
    own = [value.value for value in twins.values if (value.test, value.metric) == ("t3", CPU)]
    expected = 1.5 * 2.576 * np.sqrt(np.mean(np.square(np.array(own, dtype=float)))) / np.sqrt(12)
    assert margins["t3", CPU] == pytest.approx(max(0.03, np.expm1(expected)), rel=0.15)


def test_looks_that_fit() -> None:
    assert [fitting_looks(blocks) for blocks in (3, 4, 8, 16)] == [(3,), (4,), (4, 6, 8), (4, 6, 8, 12)]


def test_every_test_and_effect_has_as_many_games(pool: Pool) -> None:
    games = detection_games(pool, 200, 1)
    assert len(games) == 200
    assert len({(game.test, game.effect) for game in games}) == TESTS * 5
    assert len({game.seed for game in games}) == 200 / 5
