"""Virtual suites from block values with a known spread: as often right as suites that were simulated one by one."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from dbversus.results.stored import Target
from dbversus.stats.calibration.evaluate import burst_games, calibrated_margins, detection_games, fitting_looks
from dbversus.stats.calibration.suites import Game, Played, Pool, changed_as_measured, draw, make_pool, play
from dbversus.stats.calibration.twins import Bursts, Injected, Twins
from dbversus.stats.metrics import CPU, IO_BYTES
from dbversus.stats.simulation.simulate import World, block_noise, simulate, values_of

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
        injected_metric=CPU,
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
    values, _ = draw(pool, Game((3,)))
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


@pytest.mark.slow
def test_equal_tests_raise_few_alarms_and_are_found_equivalent(equal: Sequence[Played]) -> None:
    """At most 5 % of suites in truth; the blocks are one draw, and there are 80 suites of them."""
    assert sum(bool(suite.false_tests) for suite in equal) <= 12
    assert sum(suite.equivalent for suite in equal) >= 0.9 * sum(suite.findings for suite in equal)


@pytest.mark.slow
def test_intervals_of_virtual_suites_hold_the_truth(equal: Sequence[Played]) -> None:
    covered, intervals = np.sum([counts for suite in equal for counts in suite.intervals.values()], axis=0)
    assert intervals > 1500
    assert 0.95 <= covered / intervals <= 1


@pytest.mark.slow
@pytest.mark.parametrize(("effect", "least", "most"), [(0.01, 0.0, 0.2), (0.05, 0.9, 1.0), (0.08, 0.95, 1.0)])
def test_large_changes_are_found_and_small_ones_are_not(pool: Pool, effect: float, least: float, most: float) -> None:
    games = [Game((2, number, place), test, effect) for number in range(4) for place, test in enumerate(pool.tests)]
    assert least <= np.mean([play(pool, game).found for game in games]) <= most


BURST = 0.1


def with_bursts() -> Pool:
    """Of twins whose rows are equal; bursts added a tenth in every fourth block, and all the work shows it."""
    twins = twins_of(World(tests=TESTS), 5, injected=True)
    whole = [value for value in twins_of(World(tests=TESTS, sd=0.02), 9).values if value.metric != IO_BYTES]
    truth = {(test, block): float(np.log1p(BURST)) * (block % 4 == 0) for test in twins.tests for block in twins.blocks}
    noise = {(value.test, value.block): value.value or 0.0 for value in whole if value.metric == CPU}
    bursts = Bursts(50, 500, frozenset(place for place, of_place in truth.items() if of_place))
    injected = {place: Injected(noise[place] + truth[place], truth[place]) for place in truth}
    return make_pool(replace(twins, whole=tuple(whole), whole_injected=injected, bursts=bursts), LOOKS, {})


@pytest.mark.slow
def test_bursts_are_found_by_all_the_work() -> None:
    pool = with_bursts()
    assert {test: of_test.tolist() for test, of_test in pool.bursts.items()} == {
        test: pytest.approx([np.log1p(BURST)] * 4) for test in pool.tests
    }
    games = burst_games(pool, 200, 1)
    assert {game.test for game in games} == set(pool.tests) and len(games) == 4 * TESTS
    played = [play(pool, game) for game in games]
    assert np.mean([one.found for one in played]) >= 0.9
    assert sum(bool(play(pool, Game((1, number))).false_tests) for number in range(40)) <= 6


def test_a_test_without_bursts_has_no_games_of_them(pool: Pool) -> None:
    assert burst_games(pool, 200, 1) == []


def test_in_bursts_only_all_the_work_of_the_test_changes_and_by_what_was_added_in_some_block() -> None:
    pool = with_bursts()
    moved, equal = Game((4,), pool.tests[0], in_bursts=True), Game((4,), pool.tests[0])
    (rows, whole), (equal_rows, equal_whole) = draw(pool, moved), draw(pool, equal)
    assert rows == equal_rows
    for test in pool.tests:
        for block, equal_block in zip(whole[test], equal_whole[test], strict=True):
            for value, other in zip(block, equal_block, strict=True):
                assert value.value is not None and other.value is not None
                added = value.value - other.value
                expected = np.log1p(BURST) if test == moved.test and value.metric == CPU else 0.0
                assert added == pytest.approx(expected)


@pytest.mark.slow
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


def lasting(twins: Twins, by: float) -> Twins:
    """The twin of test t1 differs by `by` in every block."""
    values = [
        replace(value, value=value.value + by) if (value.test, value.metric) == ("t1", CPU) and value.value else value
        for value in twins.values
    ]
    return replace(twins, values=tuple(values))


def test_what_lasts_is_seen_in_the_blocks_as_they_were_measured() -> None:
    """Random signs make noise of it: virtual suites call it changed less often than every experiment does."""
    twins = lasting(twins_of(World(tests=TESTS, sd=0.005), 6), -0.05)
    pool = make_pool(twins, LOOKS, calibrated_margins(twins, LOOKS[-1], 1))
    assert changed_as_measured(pool) == ["t1"]
    assert sum(bool(play(pool, Game((1, number))).false_tests) for number in range(30)) < 20


def test_equal_targets_are_not_called_changed_as_measured(pool: Pool) -> None:
    assert changed_as_measured(pool) == []


def test_the_order_of_blocks_is_kept_and_the_default_margins_count() -> None:
    """A difference in the last four of 16 blocks is in no look; one in the first twelve is, whatever margin was calibrated."""
    twins = twins_of(World(tests=TESTS, sd=0.005), 6)
    for few, expected in ((range(12, 16), []), (range(12), ["t1"])):
        moved = lasting(twins, 0.1)
        chosen = [new if new.block in few else old for old, new in zip(twins.values, moved.values, strict=True)]
        pool = make_pool(replace(twins, values=tuple(chosen)), LOOKS, {("t1", CPU): 0.5})
        assert changed_as_measured(pool) == expected


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


def test_blocks_that_were_not_measured_make_no_margin_narrower() -> None:
    twins = twins_of(World(tests=4, sd=0.05, sd_spread=0.0), 8)
    few = [
        replace(value, value=None, rows=0) if (value.test, value.block % 4) == ("t0", 0) or value.block > 11 else value
        for value in twins.values
    ]
    known = [value for value in few if (value.test, value.metric) == ("t0", CPU) and value.value is not None]
    assert len(known) == 9
    margin = calibrated_margins(replace(twins, values=tuple(few)), BLOCKS, seed=1)["t0", CPU]
    spread = np.sqrt(np.mean(np.square([value.value for value in known if value.value is not None])))
    assert margin == pytest.approx(np.expm1(1.5 * 2.576 * spread / 3), rel=0.15)


def test_nothing_on_either_side_is_no_difference_in_a_margin() -> None:
    twins = twins_of(World(tests=4, sd=0.05, sd_spread=0.0), 8)
    half = [replace(value, value=None) if value.block % 2 and value.test == "t0" else value for value in twins.values]
    zero = [replace(value, value=0.0) if value.block % 2 and value.test == "t0" else value for value in twins.values]
    margins = [calibrated_margins(replace(twins, values=tuple(each)), 12, seed=1) for each in (half, zero)]
    assert margins[0]["t0", CPU] == margins[1]["t0", CPU]


def test_looks_that_fit() -> None:
    assert [fitting_looks(blocks) for blocks in (3, 4, 8, 16)] == [(3,), (3, 4), (3, 4, 6, 8), (3, 4, 6, 8, 12)]


def test_every_test_and_effect_has_as_many_games(pool: Pool) -> None:
    games = detection_games(pool, 200, 1)
    assert len(games) == 200
    assert len({(game.test, game.effect) for game in games}) == TESTS * 5
    assert len({game.seed for game in games}) == 200 / 5
