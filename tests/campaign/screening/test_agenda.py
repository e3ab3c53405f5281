"""What a screening decides, against worlds whose truth is known."""

import pytest

from dbversus.campaign.agenda import Outcome, Step
from dbversus.campaign.screening.agenda import CONFIRM, CONFIRMED, ENDS, EQUAL, SCREEN, screening_of, trials
from dbversus.campaign.screening.answer import answers
from dbversus.errors import UsageError

from .worlds import TEST, World, play, screening


def test_one_setting_is_tried_by_the_two_configs_themselves() -> None:
    agenda = screening(1)
    outcomes, why = play(agenda, World({"s0": 0.1}))
    assert (list(outcomes), why) == ([ENDS], CONFIRMED)
    (answer,) = answers(agenda, outcomes)
    assert answer.is_sure and answer.cause and answer.cause.settings == ("s0",)


def test_a_few_settings_are_all_measured_by_themselves() -> None:
    agenda = screening(3)
    outcomes, why = play(agenda, World({"s1": 0.1}))
    assert (list(outcomes), why) == ([ENDS, CONFIRM], CONFIRMED)
    (answer,) = answers(agenda, outcomes)
    assert answer.is_sure and answer.cause and answer.cause.settings == ("s1",)


@pytest.mark.parametrize("seed", range(4))
def test_of_many_those_that_make_the_change_are_named_and_no_others(seed: int) -> None:
    agenda = screening(15, seed)
    outcomes, why = play(agenda, World({"s3": 0.10, "s11": 0.04}, seed=seed))
    assert (list(outcomes), why) == ([ENDS, SCREEN, CONFIRM], CONFIRMED)
    assert agenda.named(outcomes) == ["s3", "s11"]
    (answer,) = answers(agenda, outcomes)
    assert answer.is_sure and answer.total.ratio == pytest.approx(1.15, rel=0.05)
    assert answer.rest and answer.rest.found.ratio == pytest.approx(1, rel=0.05)


def test_settings_that_act_only_together_are_named_together() -> None:
    agenda = screening(8)
    outcomes, _ = play(agenda, World({}, {("s2", "s5"): 0.2}))
    (answer,) = answers(agenda, outcomes)
    assert answer.is_sure and answer.cause and answer.cause.settings == ("s2", "s5")


def test_a_screen_without_some_of_its_configs_is_still_one() -> None:
    agenda = screening(15)
    world = World({"s3": 0.10}, lost=frozenset({4, 9, 17}))
    outcomes, _ = play(agenda, World({"s3": 0.10}))
    step = agenda.next({ENDS: outcomes[ENDS]})
    assert isinstance(step, Step)
    outcomes[SCREEN] = world.measure(step.experiments[0])
    assert agenda.named(outcomes) == ["s3"]


@pytest.mark.parametrize("seed", range(3))
def test_equal_configs_name_no_cause(seed: int) -> None:
    agenda = screening(8, seed)
    outcomes, why = play(agenda, World({}, seed=seed))
    assert (list(outcomes), why, answers(agenda, outcomes)) == ([ENDS], EQUAL, [])


def test_a_config_that_cannot_be_measured_ends_it_with_the_reason() -> None:
    end = screening(4).next({ENDS: Outcome("decided", ("x", "y"), (), {1: "it does not start"})})
    assert "second could not be measured: it does not start" in str(end)


def test_the_screen_and_the_trials_have_the_tests_that_changed_alone() -> None:
    agenda = screening(5)
    agenda.choices["tests"] = "point-query,scan"
    outcomes, _ = play(agenda, World({"s1": 0.2}))
    step = agenda.next({ENDS: outcomes[ENDS]})
    assert isinstance(step, Step)
    (screen,) = step.experiments
    assert screen.spec.tests == TEST and screen.spec.at_once == 5
    assert screen.spec.seconds == 2.5 * 2  # of the profile, for five targets in place of two


def test_equal_outcomes_give_an_equal_step() -> None:
    agenda = screening(9)
    assert agenda.next({}) == agenda.next({})


def test_trials_are_singles_pairs_all_the_others_and_everything() -> None:
    found = trials(["a", "b", "c", "d"], ["d", "a"])
    assert found == [("d",), ("a",), ("a", "d"), ("b", "c"), ("a", "b", "c", "d")]
    assert trials(["a", "b"], ["a", "b"]) == [("a",), ("b",), ("a", "b")]


def test_wrong_use_is_told_in_one_sentence() -> None:
    for build, choices, words in (
        ("sqlite:bundled@wal", {}, "name the build alone"),
        ("sqlite:bundled", {"clients": [1, 2]}, "one value of --clients; there are 1, 2"),
        ("sqlite:bundled", {"table_size": [1000, 2000]}, "one value of --table-size"),
        ("sqlite:bundled", {"tests": "nosuch"}, "nosuch"),
    ):
        with pytest.raises(UsageError, match=words):
            screening_of(build, ("base", "sync_off"), {"profile": "quick", **choices}).first_spec.read_suite()
