"""Cold and mixed caches, and servers and data that are kept from block to block: what can be asked for, and what is planned."""

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.plan.estimate import estimate
from dbversus.experiment.plan.slots import plan_cold_slots
from dbversus.suites.load import load_suite

TARGETS = {"targets": ["postgres:13", "postgres:17", "postgres:17@comp1"]}


@pytest.mark.parametrize(
    ("choices", "named"),
    [
        ({"cache": "lukewarm"}, "'cache' is 'lukewarm'.*'warm', 'cold' or 'mixed'"),
        ({"restart": "sometimes"}, "'restart' is 'sometimes'.*'block' or 'never'"),
        ({"restart": "never"}, "cannot be restored under servers that stay up; .* restore = 'never'"),
        ({"restart": "never", "restore": "never", "cache": "cold"}, "cache 'cold' needs servers that are restarted"),
        ({"restore": "never", "at_once": 2}, "only where all targets are up at once"),
        ({"restore": "never", "order": "sequential"}, "only where all targets are up at once"),
    ],
)
def test_what_cannot_be_had_together_is_refused_in_one_sentence(choices: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=named) as error:
        make_spec(TARGETS | choices)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "choices", [{"restore": "never"}, {"restore": "never", "restart": "never"}, {"cache": "mixed"}]
)
def test_what_can(choices: dict[str, object]) -> None:
    spec = make_spec(TARGETS | choices)
    assert all(getattr(spec, name) == value for name, value in choices.items())


def test_cold_slots_are_one_per_restart_with_the_same_work_for_all() -> None:
    plan = plan_cold_slots(2000, [400.0, 1000.0], 1, once=False)
    assert (plan.slot, plan.settle, plan.rows) == ({"ops": 800}, {"ops": 0}, 1)
    assert plan_cold_slots(2000, [0.1, 9.0], 1, once=False).slot == {"ops": 1}


def test_a_test_that_reads_all_in_one_operation_does_one() -> None:
    assert plan_cold_slots(2000, [30.0, 40.0], 1, once=True).slot == {"ops": 1}


def test_with_cold_caches_every_client_does_one_at_least() -> None:
    assert plan_cold_slots(2000, [30.0, 40.0], 8, once=True).slot == {"ops": 8}
    assert plan_cold_slots(2000, [1.0, 9.0], 8, once=False).slot == {"ops": 8}


def test_restarts_are_in_the_estimate() -> None:
    suite = load_suite("sysbench").select("point-query,scan")
    few, more = (
        estimate(
            make_spec({"targets": ["sqlite:bundled"] * count, "cache": "cold", "cold_slot_ms": 500}), suite
        ).block_s
        for count in (2, 4)
    )
    assert 2 * 2 * 0.5 < few < more
