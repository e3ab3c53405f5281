from collections import Counter
from itertools import combinations, pairwise

import pytest

from dbversus.stats.orders import balanced_orders, balanced_turns, starting_order, williams_square


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


@pytest.mark.parametrize("count", [2, 3, 4])
def test_turns_are_balanced_over_blocks(count: int) -> None:
    names = [f"t{number}" for number in range(count)]
    rows = len(williams_square(count))
    for cycle in range(3):
        orders = [balanced_turns(names, cycle * rows + block, seed=1) for block in range(rows)]
        assert all(sorted(order) == names for order in orders)
        for position in range(count):
            assert len(set(Counter(order[position] for order in orders).values())) == 1
        assert len(set(Counter(pair for order in orders for pair in pairwise(order)).values())) == 1


def test_turns_follow_from_the_seed_and_have_no_rhythm() -> None:
    of_seed = [tuple(balanced_turns(["a", "b"], block, seed)[0] for block in range(20)) for seed in range(20)]
    assert of_seed[3] == tuple(balanced_turns(["a", "b"], block, 3)[0] for block in range(20))
    assert len(set(of_seed)) == 20
    assert all(firsts not in (("a", "b") * 10, ("b", "a") * 10) for firsts in of_seed)


def test_one_target_is_always_the_first() -> None:
    assert [balanced_turns(["a"], block, 1) for block in range(3)] == [["a"]] * 3


def test_nobody_has_an_order() -> None:
    assert starting_order([], 1) == []


def test_two_targets_start_first_in_turns() -> None:
    assert [starting_order(["a", "b"], block) for block in range(4)] == [["a", "b"], ["b", "a"]] * 2


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_of_any_two_each_is_started_before_the_other_equally_often(count: int) -> None:
    names = [f"t{number}" for number in range(count)]
    for looked in (2, 4, 6, 8, 12):
        orders = [starting_order(names, block) for block in range(looked)]
        for one, other in combinations(names, 2):
            assert sum(order.index(one) < order.index(other) for order in orders) == looked / 2
    cycle = [starting_order(names, block) for block in range(2 * count)]
    for place in range(count):
        assert set(Counter(order[place] for order in cycle).values()) == {2}
