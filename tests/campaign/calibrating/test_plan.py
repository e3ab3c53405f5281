"""The experiment that a calibration is."""

import pytest

from dbversus.campaign.calibrating.kinds import Kind
from dbversus.campaign.calibrating.plan import BURST, SHARES, calibration_spec, shares_by_test
from dbversus.cli.verbs.measure.calibrate import _command
from dbversus.errors import UsageError


def test_three_copies_judged_once_the_last_slowed_down() -> None:
    spec = calibration_spec("postgres:17", quick=True, blocks=None, inject=Kind.CPU, more={})
    assert spec.targets == ["postgres:17"] * 3
    assert (spec.looks, spec.profile, spec.calibration) == ([8], "quick", False)
    assert spec.inject is not None and set(spec.inject) == {"2"}
    assert "point-query.pre" in spec.inject["2"]["cpu"] and "load" not in spec.inject["2"]["cpu"]


def test_io_instead_of_cpu() -> None:
    spec = calibration_spec("postgres:17", quick=True, blocks=None, inject=Kind.IO, more={})
    assert spec.inject is not None and list(spec.inject["2"]) == ["io"]


def test_the_full_form_has_all_tests_in_16_blocks() -> None:
    spec = calibration_spec("postgres:17", quick=False, blocks=None, inject=Kind.CPU, more={"table_size": 5000})
    quick = calibration_spec("postgres:17", quick=True, blocks=None, inject=Kind.CPU, more={})
    assert (spec.looks, spec.table_size) == ([16], 5000)
    assert spec.inject is not None and quick.inject is not None
    assert len(spec.inject["2"]["cpu"]) > len(quick.inject["2"]["cpu"])


def test_shares_are_a_latin_square() -> None:
    shares = shares_by_test(["a", "b", "c", "d", "e"], SHARES)
    for group in (shares.values(), zip(*shares.values(), strict=True)):
        assert all(set(each) == set(SHARES) and len(each) == len(SHARES) for each in group)


def test_bursts_of_cpu_have_a_turn_in_every_test() -> None:
    spec = calibration_spec("postgres:17", quick=True, blocks=None, inject=Kind.CPU, more={})
    assert spec.inject is not None
    lists = list(spec.inject["2"]["cpu"].values())
    assert all(isinstance(each, list) and set(each) == {*SHARES, BURST} for each in lists)
    of_io = calibration_spec("postgres:17", quick=True, blocks=None, inject=Kind.IO, more={}).inject
    assert of_io is not None and all(
        isinstance(each, list) and set(each) == set(SHARES) for each in of_io["2"]["io"].values()
    )


@pytest.mark.parametrize(("target", "inject"), [("sqlite:bundled", Kind.CPU), ("postgres:17", Kind.NONE)])
def test_two_copies_where_nothing_is_injected(target: str, inject: Kind) -> None:
    spec = calibration_spec(target, quick=True, blocks=5, inject=inject, more={})
    assert spec.targets == [target] * 2
    assert spec.inject is None


def test_other_metrics_may_be_judged() -> None:
    spec = calibration_spec("postgres:17", True, None, Kind.CPU, {"judge": ["p99", "cpu"]})
    assert spec.judge == ["cpu", "p99"]


def test_mistakes_are_named() -> None:
    with pytest.raises(UsageError, match="--blocks is 2; it takes 3 or more"):
        calibration_spec("postgres:17", quick=True, blocks=2, inject=Kind.CPU, more={})
    with pytest.raises(UsageError, match="nosuch"):
        calibration_spec("postgres:17", quick=True, blocks=None, inject=Kind.CPU, more={"tests": "nosuch"})
    with pytest.raises(UsageError, match="oracle"):
        calibration_spec("oracle:19", quick=True, blocks=None, inject=Kind.CPU, more={})


def test_waiting_for_a_quiet_host_is_part_of_the_command() -> None:
    more = {"time_budget_s": 1800.0, "wait_quiet_s": 300.0, "require_quiet": True}
    spec = calibration_spec("postgres:17", True, None, Kind.CPU, more)
    assert (spec.wait_quiet_s, spec.require_quiet) == (300, True)
    command = _command("postgres:17", True, Kind.CPU, spec, more)
    assert command.endswith("--time-budget 1800s --wait-quiet 300s --require-quiet")
