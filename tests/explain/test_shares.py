"""What settings make together, against changes whose truth is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
import pytest

from dbversus.explain.shares import acting_together, adding_up
from dbversus.stats.model import Verdict

SD = 0.01
"""Standard error of a mean over blocks."""


@dataclass(frozen=True)
class Left:
    ratio: float
    low: float
    high: float
    higher_is_better: bool = False
    verdict: Verdict = Verdict.REGRESSION


def left(mean: float, *, higher_is_better: bool = False) -> Left:
    return Left(exp(mean), exp(mean - 2 * SD), exp(mean + 2 * SD), higher_is_better)


def found(truths: Sequence[float], chance: np.random.Generator, *, is_rate: bool = False) -> set[int] | None:
    """`truths`: ln of the cost of all, and with each put back. The places of those that act together."""
    sign = -1 if is_rate else 1
    change, *afters = (left(sign * float(chance.normal(one, SD)), higher_is_better=is_rate) for one in truths)
    got = acting_together(change, afters)
    return got and set(got[0])


@pytest.mark.parametrize("is_rate", [False, True])
def test_settings_each_with_an_effect_of_its_own_are_not_taken_for_a_pair(is_rate: bool) -> None:
    """Whether effects are factors or costs that add up, also where some go the other way."""
    chance = np.random.default_rng(7)
    named = 0
    for _ in range(400):
        own = chance.normal(0, 1, int(chance.integers(2, 7))) * chance.choice([0.05, 0.3, 1.0])
        factors = [own.sum(), *(own.sum() - own)]
        costs = [1 + own.sum(), *(1 + own.sum() - own)]
        named += found(factors, chance, is_rate=is_rate) is not None
        if min(costs) > 0.02:
            named += found([log(cost) for cost in costs], chance, is_rate=is_rate) is not None
    assert named <= 4


@pytest.mark.parametrize("size", [-1.5, -0.3, 0.1, 0.3, 4.0])
def test_one_that_acts_beside_others_that_do_nothing_is_no_pair(size: float) -> None:
    chance = np.random.default_rng(8)
    named = [found([size, 0, *[size] * count], chance) for count in range(1, 6) for _ in range(40)]
    assert sum(one is not None for one in named) <= (4 if size == 0.1 else 0)  # which is known to a fifth of it


@pytest.mark.parametrize("size", [-1.5, 0.5, 4.0])
@pytest.mark.parametrize(
    ("left_of_it", "acting"),
    [
        ([0, 0], {0, 1}),  # it takes both
        ([0, 0.6, 1], {0, 1}),  # one makes a part of it by itself, too
        ([1, 0, 1, 0, 1], {1, 3}),
        ([0, 0, 0, 1], {0, 1, 2}),  # it takes three
    ],
)
def test_those_that_act_only_together_are_all_named_and_no_others(
    size: float, left_of_it: list[float], acting: set[int]
) -> None:
    chance = np.random.default_rng(9)
    named = [found([size, *(size * part for part in left_of_it)], chance) for _ in range(40)]
    assert sum(one == acting for one in named) >= 36
    assert all(one in (acting, None) for one in named)


def test_two_that_each_save_a_part_by_themselves_save_more_together_only_if_their_costs_do_not_add_up() -> None:
    for size, acting in ((2.0, {0, 1}), (-1.5, None)):
        got = acting_together(left(size), [left(0.4 * size), left(0.4 * size), left(size)])
        assert (got and set(got[0])) == acting


def test_which_of_them_are_a_pair_is_left_open_where_that_cannot_be_told() -> None:
    """A pair that makes 0.4 of it, and a third setting that makes 0.6: any two of them may be the pair."""
    got = acting_together(left(2.0), [left(2.0 * part) for part in (0.6, 0.6, 0.4)])
    assert got == ((0, 1, 2), 1.0)


def test_the_share_is_that_of_one_that_brings_all_back_or_what_the_others_leave() -> None:
    got = acting_together(left(2.0), [left(-0.02), left(1.2)])
    assert got and got[0] == (0, 1) and got[1] == pytest.approx(1.01)
    got = acting_together(left(2.0), [left(0.8), left(0.8), left(1.96)])
    assert got and got[0] == (0, 1) and got[1] == pytest.approx(0.98)
    # what the third does is not known, so nor is what the pair does
    third = Left(exp(1.9), exp(1.5), exp(2.3))
    assert acting_together(left(2.0), [left(0.8), left(0.8), third]) is None


def test_nothing_is_told_of_a_change_that_was_not_seen_again() -> None:
    nothing = Left(1.01, 0.98, 1.04, verdict=Verdict.UNDECIDED)
    assert acting_together(nothing, [left(0), left(0)]) is None


@pytest.mark.parametrize(
    ("left_of_it", "making"),
    [
        ([0.4, 0.6, 1], (0, 1)),
        ([1, 0.7, 0.65, 0.65], (1, 2, 3)),
        ([0, 1, 1], None),  # one makes it
        ([0.4, 0.9], None),  # what makes the rest does so with either of two others
        ([0.4, 0.6, 1.3], None),  # the third acts against them
        ([0.5, 0.5, 0.5], None),  # they act together
    ],
)
def test_settings_of_which_each_makes_a_part_are_named_where_the_parts_come_to_all(
    left_of_it: list[float], making: tuple[int, ...] | None
) -> None:
    for size in (-1.0, 1.0):
        got = adding_up(left(size), [left(size * part) for part in left_of_it])
        assert (got and got[0]) == making
        assert got is None or got[1] == pytest.approx(1.0)
