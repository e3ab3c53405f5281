"""How often the judging code is right, against simulated truth (seeded; docs/evidence/simulations.md has larger tables)."""

import numpy as np
import pytest

from dbversus.stats.judging.sequential import LOOKS
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.metrics import CPU, PRIMARY
from dbversus.stats.simulation.simulate import Tally, World, block_noise, main, run_suite, simulate, values_of

pytestmark = pytest.mark.slow

NOISE = ("normal", "t4")


@pytest.fixture(scope="module", params=NOISE)
def equal(request: pytest.FixtureRequest) -> Tally:
    """Suites of 42 equal tests."""
    return simulate(World(noise=request.param), 80, seed=11)


@pytest.fixture(scope="module")
def changed() -> Tally:
    """Suites in which two tests use 5 % more CPU per op."""
    return simulate(World(changes={0: 0.05, 1: 0.05}), 30, seed=12)


@pytest.fixture(scope="module")
def slightly_changed() -> Tally:
    """Suites in which three tests use 3 % more CPU per op."""
    return simulate(World(changes={0: 0.03, 1: 0.03, 2: 0.03}), 30, seed=13)


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("blocks", [4, 8])
def test_intervals_cover_the_truth_as_often_as_they_say(noise: str, blocks: int) -> None:
    """Of what is equivalent 90 %, of the rest 95 %."""
    world, rng = World(noise=noise, changes={0: 0.05}), np.random.default_rng(3)
    covered, said = list[bool](), list[float]()
    for _ in range(25):
        every = dict.fromkeys(range(world.tests), range(blocks))
        findings = assess(values_of(world, block_noise(world, blocks, rng), every), PRIMARY, looks=(blocks,))
        for f in findings:
            if f.low is not None and f.high is not None:
                covered.append(bool(np.log(f.low) <= world.truth(int(f.test[1:]), f.metric) <= np.log(f.high)))
                said.append(f.confidence)
    assert len(covered) > 2000
    assert np.mean(said) - 0.02 <= np.mean(covered) <= 0.97


def test_false_alarms_through_all_looks(equal: Tally) -> None:
    """At most 5 % of suites at any look, with 2.3 standard errors of 80 suites; most are taken back by fresh blocks."""
    assert equal.false_suites_found <= 8
    assert equal.false_suites_final <= 3


def test_a_suite_goes_as_an_experiment_does() -> None:
    outcome = run_suite(World(tests=6, changes={0: 0.1}), np.random.default_rng(2))
    final = {(finding.test, finding.metric): finding for finding in outcome.final}
    found = outcome.found["t0", CPU]
    assert (found.blocks, found.fresh_blocks) == (3, 0)
    assert final["t0", CPU].fresh_blocks == final["t0", CPU].blocks - found.blocks >= 2
    blocks = {finding.test: finding.blocks for finding in outcome.final}
    assert outcome.test_blocks == sum(blocks.values()) <= 6 * 12


def test_what_is_found_at_the_last_look_is_not_measured_again() -> None:
    outcome = run_suite(World(tests=6, changes={0: 0.1}, looks=(4,)), np.random.default_rng(2))
    assert outcome.test_blocks == 6 * 4
    assert {finding.fresh_blocks for finding in outcome.final} == {0}
    assert ("t0", CPU) in outcome.found


def test_equal_tests_are_called_equivalent(equal: Tally) -> None:
    assert equal.equal_equivalent >= 0.95 * equal.equal_findings


def test_equal_tests_retire_early(equal: Tally) -> None:
    assert equal.test_blocks < 0.5 * equal.suites * 42 * 12


def test_five_percent_is_found(changed: Tally) -> None:
    assert changed.changed_found >= 0.95 * changed.changed
    assert changed.changed_final >= 0.95 * changed.changed


def test_three_percent_is_found(slightly_changed: Tally) -> None:
    assert slightly_changed.changed_found >= 0.75 * slightly_changed.changed
    assert slightly_changed.changed_final >= 0.75 * slightly_changed.changed


def test_shown_intervals_cover_the_truth_whenever_a_test_stopped(changed: Tally, slightly_changed: Tally) -> None:
    for tally in (changed, slightly_changed):
        assert np.mean(tally.covered) >= 0.95


def test_what_is_measured_again_exaggerates_less() -> None:
    """Of a +2 % change only lucky draws are found; over all that are found, more blocks take half of the luck away."""
    tally = simulate(World(changes=dict.fromkeys(range(12), 0.02)), 40, seed=16)
    again, found = np.array(tally.again_estimates), np.mean(tally.found_estimates)
    assert len(again) > 50
    assert found > 0.024
    assert again.mean() < min(0.0245, found)


def test_no_effect_of_noisy_tests_on_what_stands_in_the_end() -> None:
    tally = simulate(World(noisy_tests=3), 25, seed=15)
    assert tally.false_suites_final <= 2


def test_noise_has_the_spread_that_was_asked_for() -> None:
    for noise in NOISE:
        drawn = block_noise(World(tests=200, sd_spread=0.0, noise=noise), 200, np.random.default_rng(1)).added
        assert drawn[:, 0].std() == pytest.approx(0.015, rel=0.03)
        assert np.corrcoef(drawn[:, 0].ravel(), drawn[:, 1].ravel())[0, 1] == pytest.approx(-0.8, abs=0.02)


def test_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--suites", "1", "--world", "one +5 %, sd 1.5 %"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("| one +5 %, sd 1.5 % | ")


def test_command_takes_other_looks(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--suites", "1", "--world", "equal, sd 1.5 %", "--looks", "1"])
    assert capsys.readouterr().out.splitlines()[2].endswith(f"| {World().tests} |")  # test blocks: one of each test


def test_a_run_whose_time_is_up_before_its_first_look_says_nothing() -> None:
    """No verdict; with two blocks no interval either, with more one that is as often right."""
    for blocks, looks in ((2, LOOKS), (4, (6, 8, 12))):
        tally = simulate(World(tests=15, noisy_tests=4, ended_after=blocks, looks=looks), 200, seed=17)
        assert tally.test_blocks == 200 * 15 * blocks
        assert tally.false_suites_final == tally.equal_equivalent == 0
        assert not tally.covered if blocks < 3 else np.mean(tally.covered) >= 0.95


def test_command_refuses_to_judge_one_block(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--suites", "1", "--ended-after", "1"])
    assert "--ended-after is 1; 2 or more is accepted" in capsys.readouterr().err


def test_truth_moves_only_what_was_changed() -> None:
    assert World(changes={3: 0.05}).truth(3, CPU) == pytest.approx(np.log(1.05))
    assert World(changes={3: 0.05}).truth(2, CPU) == 0
