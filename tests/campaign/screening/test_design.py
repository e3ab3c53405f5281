"""A fold-over design sets each setting half of the time, with each other one as often as without; effects are those put in."""

from math import exp

import numpy as np
import pytest

from dbversus.campaign.agenda import Found
from dbversus.campaign.screening.design import chosen, effects, fold_over
from dbversus.stats.model import Verdict

NAMES = ["a", "b"]


@pytest.mark.parametrize("settings", [4, 5, 7, 8, 15, 16, 40])
def test_settings_are_balanced_and_pairs_are_not_mistaken_for_a_third(settings: int) -> None:
    rows = fold_over(settings, seed=3)
    assert len(np.unique(rows, axis=0)) == len(rows)
    whole = np.vstack([rows, -np.ones((1, settings), dtype=int)])  # the first config is its own base
    assert not whole.sum(axis=0).any()
    products = whole.T @ whole
    assert (products == len(whole) * np.eye(settings)).all()
    pairs = np.array([whole[:, a] * whole[:, b] for a in range(settings) for b in range(a)])
    assert not (pairs @ whole).any()


def test_the_design_follows_from_the_seed() -> None:
    assert (fold_over(9, 1) == fold_over(9, 1)).all()
    assert (fold_over(9, 1) != fold_over(9, 2)).any()


def test_15_settings_take_31_configs_beside_the_first() -> None:
    assert len(fold_over(15, 1)) == 31


def test_names_of_a_row() -> None:
    assert chosen([1, -1, 1], ["a", "b", "c"]) == ["a", "c"]


def row(chosen: str, value: float, blocks: int = 4, sd: float = 0.01) -> tuple[str, Found]:
    return chosen, Found("scan", 1, "server_cpu_us_per_op", Verdict.UNDECIDED, blocks, exp(value), None, None, sd)


def test_each_setting_has_its_effect_and_error() -> None:
    a, b = effects(NAMES, [row("a", 0.10), row("b", 0.01), row("ab", 0.11)], 1)
    assert [a.value, b.value] == pytest.approx([0.10, 0.01])
    # four values with a standard error of 0.01 / √4 each: their contrast is twice the mean's error
    assert a.error == pytest.approx(0.005)
    assert (a.is_shown, b.is_shown) == (True, False)


def test_a_row_that_is_missing_leaves_the_others() -> None:
    a, b = effects(NAMES, [row("a", 0.10), row("ab", 0.13)], 1)
    assert [a.value, b.value] == pytest.approx([0.10, 0.03])


@pytest.mark.parametrize("rows", [[], [row("a", 0.1)], [row("a", 0.1), row("b", 0.1, blocks=1)]])
def test_too_few_rows_say_nothing(rows: list[tuple[str, Found]]) -> None:
    assert effects(NAMES, rows, 1) == []


def test_more_tests_ask_for_more() -> None:
    rows = [row("a", 0.016), row("b", 0.0), row("ab", 0.016)]
    assert effects(NAMES, rows, 1)[0].is_shown and not effects(NAMES, rows, 1000)[0].is_shown
