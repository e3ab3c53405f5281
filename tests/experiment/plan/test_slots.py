from dataclasses import replace

import pytest

from dbversus.experiment.plan.slots import OPS_OF_CLIENT, ROWS_AT_LEAST, SlotRules, plan_slots, wanted_ops

RULES = SlotRules(slot_ms=50, warm_up_ms=5, rows=60, seconds=6, write_slot_ms=100)


def test_a_fast_read_gets_the_asked_slots_and_rows() -> None:
    plan = plan_slots(RULES, [30_000, 33_000], by_count=False, orders=2, clients=1)
    assert plan.slot == {"ms": 50, "min_ops": 1}
    assert plan.settle == {"ms": 5, "min_ops": 1}
    assert 40 <= plan.rows <= 60 and plan.rows % 2 == 0


def test_slots_of_several_clients_stretch_until_the_slowest_target_does_some_of_each() -> None:
    assert plan_slots(RULES, [1000, 100], by_count=False, orders=2, clients=1).slot["ms"] == 50
    assert plan_slots(RULES, [1000, 100], by_count=False, orders=2, clients=2).slot["ms"] == 100


def test_a_single_slow_operation_still_fits_into_its_slot() -> None:
    plan = plan_slots(RULES, [0.5, 1], by_count=False, orders=2, clients=1)
    assert plan.slot["ms"] == 2000
    assert plan.rows == ROWS_AT_LEAST


def test_an_operation_far_longer_than_the_settle_part_has_none() -> None:
    assert plan_slots(RULES, [1, 100], by_count=False, orders=2, clients=1).settle == {"ops": 0}
    assert plan_slots(RULES, [1, 100], by_count=True, orders=2, clients=1).settle == {"ops": 0}
    assert plan_slots(RULES, [100, 100], by_count=True, orders=2, clients=1).settle == {"ops": 1}


def test_no_settle_part_is_none_at_all() -> None:
    assert plan_slots(replace(RULES, warm_up_ms=0), [30_000], by_count=False, orders=2, clients=1).settle == {"ops": 0}


def test_who_had_the_last_turn_settles_for_less_where_both_targets_have_it_equally_often() -> None:
    pair = [30_000.0, 33_000.0]
    assert plan_slots(RULES, pair, by_count=False, orders=2, clients=1).settle_again == {"ms": 1, "min_ops": 1}
    three = plan_slots(RULES, [*pair, 31_000], by_count=False, orders=6, clients=1)
    same_work = plan_slots(RULES, pair, by_count=True, orders=2, clients=1)
    short = plan_slots(replace(RULES, warm_up_ms=0.4), pair, by_count=False, orders=2, clients=1)
    long_operations = plan_slots(RULES, [1, 100], by_count=False, orders=2, clients=1)
    assert [plan.settle_again for plan in (three, same_work, short, long_operations)] == [None] * 4


def test_writes_are_bounded_by_count_so_that_all_targets_do_the_same_work() -> None:
    plan = plan_slots(RULES, [10_000, 20_000], by_count=True, orders=2, clients=1)
    assert plan.slot == {"ops": 1000}
    assert plan.settle == {"ops": 50}


@pytest.mark.parametrize("orders", [2, 6])
def test_rows_are_whole_cycles_of_the_balanced_orders(orders: int) -> None:
    plan = plan_slots(RULES, [3000.0] * 3, by_count=False, orders=orders, clients=1)
    assert plan.rows % orders == 0 and plan.rows >= ROWS_AT_LEAST


def test_slots_bounded_by_count_have_some_operations_for_every_client() -> None:
    assert (wanted_ops(1), wanted_ops(64)) == (1, 64 * OPS_OF_CLIENT)
    assert plan_slots(RULES, [1000, 2000], by_count=True, orders=2, clients=64).slot == {"ops": 64 * OPS_OF_CLIENT}


def test_on_a_slow_disk_every_client_still_has_one() -> None:
    assert plan_slots(RULES, [50, 60], by_count=True, orders=2, clients=64).slot == {"ops": 64}
    assert plan_slots(RULES, [50, 60], by_count=False, orders=2, clients=64).slot["ms"] == 400


def test_longer_slots_of_writes_are_as_long_as_was_asked_for() -> None:
    rules = replace(RULES, write_slot_ms=1000)
    assert plan_slots(rules, [100, 100], by_count=True, orders=2, clients=1).slot == {"ops": 100}
    assert plan_slots(rules, [100, 100], by_count=False, orders=2, clients=1).slot["ms"] == 50
