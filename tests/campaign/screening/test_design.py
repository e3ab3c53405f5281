"""A fold-over design sets each setting half of the time, together with each other one as often as without."""

import numpy as np
import pytest

from dbversus.campaign.screening.design import chosen, fold_over


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
