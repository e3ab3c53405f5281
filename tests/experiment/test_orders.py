from collections import Counter
from itertools import pairwise

import pytest

from dbversus.experiment.orders import balanced_orders, williams_square


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7])
def test_every_treatment_follows_each_other_one_equally_often(count: int) -> None:
    square = williams_square(count)
    followers = Counter(pair for row in square for pair in pairwise(row))
    assert len(followers) == count * (count - 1)
    assert len(set(followers.values())) == 1
    for position in range(count):
        assert len(set(Counter(row[position] for row in square).values())) == 1


def test_two_targets_alternate_ab_ba_and_one_is_alone() -> None:
    assert balanced_orders(["a", "b"], 3) == [["a", "b"], ["b", "a"], ["a", "b"]]
    assert balanced_orders(["a"], 2) == [["a"], ["a"]]


def test_orders_go_on_where_an_interrupted_run_stopped() -> None:
    names = ["a", "b", "c"]
    assert balanced_orders(names, 6, 0)[4:] == balanced_orders(names, 2, 4)
