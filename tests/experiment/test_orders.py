from collections import Counter
from itertools import combinations, pairwise

import numpy as np
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


@pytest.mark.parametrize("count", [2, 3, 4])
def test_rows_are_whole_squares_in_drawn_order_and_one_target_is_alone(count: int) -> None:
    names = [f"t{number}" for number in range(count)]
    square = sorted([names[item] for item in row] for row in williams_square(count))
    orders = balanced_orders(names, 10 * len(square), seed=5)
    cycles = [orders[start : start + len(square)] for start in range(0, len(orders), len(square))]
    assert all(sorted(cycle) == square for cycle in cycles)
    assert any(cycle != cycles[0] for cycle in cycles)
    assert balanced_orders(names, 9, seed=5) != balanced_orders(names, 9, seed=6)
    assert balanced_orders(["a"], 2, seed=1) == [["a"], ["a"]]
    single = [balanced_orders(names, 1, 5, block)[0] for block in range(2 * len(square))]
    assert sorted(single) == sorted([*square, *(row[::-1] for row in square)])


@pytest.mark.parametrize("off", [1.0, 1.0125, 0.95])
def test_what_happens_at_the_pace_of_two_rows_does_not_beat(off: float) -> None:
    """Simulated: four slots of 25 ms, and interference of 8 % in a quarter of every 100 ms, or a period that is a little off."""

    def block_values(alternating: bool) -> list[float]:
        return [_beaten(balanced_orders(["a", "b"], 36, 1, block), off * 100, phase, alternating=alternating)
                for block, phase in enumerate(np.random.default_rng(1).uniform(0, 100, 400))]  # fmt: skip

    drawn, alternating = (float(np.std(block_values(way))) for way in (False, True))
    assert drawn < 0.012
    if off == 1:
        assert alternating > 0.025


def _beaten(orders: list[list[str]], period_ms: float, phase_ms: float, *, alternating: bool) -> float:
    """Mean over rows of ln(b ÷ a), where only the interference differs."""
    values, now_ms = [], phase_ms
    for row, drawn in enumerate(orders):
        cost = {}
        for target in ("ab" if row % 2 == 0 else "ba") if alternating else drawn:
            hit = max(0.0, 1 - abs(now_ms % period_ms - 12.5) / 25)  # its share of the slot
            cost[target] = 1 + 0.08 * hit
            now_ms += 25
        values.append(np.log(cost["b"] / cost["a"]))
    return float(np.mean(values))


def test_orders_go_on_where_an_interrupted_run_stopped() -> None:
    names = ["a", "b", "c"]
    assert balanced_orders(names, 6, seed=3)[4:] == balanced_orders(names, 2, seed=3, first_row=4)


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
