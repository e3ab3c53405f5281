import pytest

from dbversus.experiment.slots import ROWS_AT_LEAST, SlotRules, plan_slots

RULES = SlotRules(slot_ms=50, settle_ms=5, rows=60, seconds=6, write_slot_ms=100)


def test_a_fast_read_gets_the_asked_slots_and_rows() -> None:
    plan = plan_slots(RULES, [30_000, 33_000], by_count=False, orders=2)
    assert plan.slot == {"ms": 50, "min_ops": 1}
    assert plan.settle == {"ms": 5, "min_ops": 1}
    assert 40 <= plan.rows <= 60 and plan.rows % 2 == 0


def test_slots_stretch_until_the_slowest_target_does_twenty_operations() -> None:
    assert plan_slots(RULES, [1000, 100], by_count=False, orders=2).slot["ms"] == 200


def test_a_single_slow_operation_still_fits_into_its_slot() -> None:
    plan = plan_slots(RULES, [0.5, 1], by_count=False, orders=2)
    assert plan.slot["ms"] == 2000
    assert plan.rows == ROWS_AT_LEAST


def test_writes_are_bounded_by_count_so_that_all_targets_do_the_same_work() -> None:
    plan = plan_slots(RULES, [10_000, 20_000], by_count=True, orders=2)
    assert plan.slot == {"ops": 1000}
    assert plan.settle == {"ops": 50}


@pytest.mark.parametrize("orders", [2, 6])
def test_rows_are_whole_cycles_of_the_balanced_orders(orders: int) -> None:
    plan = plan_slots(RULES, [3000.0] * 3, by_count=False, orders=orders)
    assert plan.rows % orders == 0 and plan.rows >= ROWS_AT_LEAST
