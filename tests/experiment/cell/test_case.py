"""A test in a block, with an engine that answers as told: whose rows are run, and what is journaled of them."""

from pathlib import Path
from typing import Any

import pytest

from dbversus.experiment.cell.case import measure, warm_up
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.session import Session
from dbversus.host.pinning import PlacementPlan
from dbversus.stats.disturbance import Limits

from .. import fakes
from ..fakes import FakeEngine, case_of, engine_of, gone, make_session, records, refused, server_of


def _measure(session: Session, name: str, block: int = 0) -> Case:
    case = case_of(session, name)
    with session.only(session.contest.turns(block)[0]):
        measure(session, block, case)
    return case


def _counted_rows(session: Session) -> list[dict[str, Any]]:
    return [fields for fields in engine_of(session).asked("rows") if "pilot" not in fields["tag"]]


def test_rows_are_journaled_once_and_the_test_is_finished(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    _measure(session, "point-query")
    assert [row["row"] for row in records(session, "row")] == [0, 1]
    assert (0, "point-query", "") in session.progress.finished
    _measure(session, "update-index")
    (plan,) = [record for record in records(session, "slots") if record["test"] == "update-index"]
    assert plan["slot"].keys() == {"ops"}


def test_disturbed_rows_are_flagged_and_not_measured_again(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    used_ns = int(2 * session.limits.foreign_cpu * fakes.ELAPSED_NS)
    engine_of(session).host = {"wall_ns": fakes.ELAPSED_NS, "foreign_cpu_ns": used_ns, "steal_ns": 0}
    _measure(session, "point-query")
    (plan,) = records(session, "slots")
    rows = records(session, "row")
    assert [row["row"] for row in rows] == list(range(plan["rows"]))
    assert all(row["disturbed"] and row["disturbed_why"].startswith("other processes used") for row in rows)


def test_the_limits_are_those_of_the_host_and_the_placement(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    session.cpus = PlacementPlan("split", (0,), (1,), (1,))
    session.limits = Limits(foreign_cpu=7.0, steal=0.25)
    engine_of(session).host = {"wall_ns": 100, "foreign_cpu_ns": 690, "steal_ns": 26}
    _measure(session, "point-query")
    assert {row["disturbed_why"] for row in records(session, "row")} == {
        "the hypervisor stole 26% of a core (limit 25%)"
    }
    assert engine_of(session).asked("open")[0]["foreground_cpus"] == [1]


@pytest.mark.parametrize(("test", "of_the_table"), [("scan", True), ("point-query", False)])
def test_a_plan_tells_the_rows_that_an_operation_scans(tmp_path: Path, test: str, of_the_table: bool) -> None:
    session = make_session(tmp_path, tests=test)
    _measure(session, test)
    (plan,) = records(session, "slots")
    assert plan.get("rows_scanned_per_op") == (session.spec.table_size if of_the_table else None)


def test_a_target_that_cannot_be_frozen_is_restarted_and_the_row_begun_again(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    _measure(session, "point-query")
    engine_of(session).stops = [{"target": "t1", "row": 0, "kind": "io", "message": "t1 cannot be frozen"}]
    _measure(session, "point-query", block=1)
    assert [(row["block"], row["row"]) for row in records(session, "row")] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    (failure,) = records(session, "failure")
    assert failure["target"] == "t1" and failure["message"].startswith("t1 cannot be frozen.") and not failure["final"]
    assert server_of(session, "t1").starts == 1


def test_a_target_with_other_answers_is_left_out_and_the_others_are_measured(tmp_path: Path) -> None:
    session = make_session(tmp_path, targets=4)
    engine_of(session).checksums = {"t2": "00"}
    for block in range(2):
        _measure(session, "point-query", block)
    assert [(check["agree"], check["differs"]) for check in records(session, "check")] == [(False, ["t2"])]
    for fields in engine_of(session).asked("rows"):
        assert all(sorted(order) == ["t0", "t1", "t3"] for order in fields["orders"])
    assert all(record["hdr"].keys() == {"t0", "t1", "t3"} for record in records(session, "latency"))
    assert "point-query" in session.contest.undecided
    # later tests need what this one changes
    _measure(session, "update-index")
    assert {name for order in _counted_rows(session)[-1]["orders"] for name in order} == {"t0", "t1", "t2", "t3"}


def test_a_test_in_which_nobody_agrees_with_the_base_needs_no_more_blocks(tmp_path: Path) -> None:
    session = make_session(tmp_path, targets=3)
    engine_of(session).checksums = {"t0": "00"}
    case = _measure(session, "point-query")
    assert not engine_of(session).asked("rows") and not records(session, "slots")
    assert not session.is_comparable(case) and session.contest.undecided == ["update-index"]
    assert (0, "point-query", "") in session.progress.finished


def test_answers_are_compared_again_when_a_target_has_come_back(tmp_path: Path) -> None:
    session = make_session(tmp_path, targets=3)
    session.progress.checked["point-query", ""] = {"t0": True, "t1": True}
    for block in range(2):
        _measure(session, "point-query", block)
    (check,) = records(session, "check")
    assert check["targets"].keys() == {"t0", "t1", "t2"}


def test_a_target_that_refuses_the_statements_is_out_and_the_rest_is_measured(tmp_path: Path) -> None:
    session = make_session(tmp_path, targets=3)
    engine_of(session).failures["check"] = [refused("t1")]
    _measure(session, "point-query")
    assert session.by_name("t1").out == "function f does not exist"
    assert all(sorted(row["order"]) == ["t0", "t2"] for row in records(session, "row"))
    assert len(records(session, "check")) == 1


def test_after_a_refused_change_answers_are_compared_in_a_later_block_only(tmp_path: Path) -> None:
    session = make_session(tmp_path, targets=3)
    engine_of(session).failures["check"] = [refused("t1")]
    _measure(session, "update-index")
    assert not records(session, "check")
    assert any("were not compared in block 1" in remark["words"] for remark in records(session, "remark"))
    session.diverged = False  # as when all data has been restored
    _measure(session, "update-index", block=1)
    assert [check["agree"] for check in records(session, "check")] == [True]


@pytest.mark.parametrize("command", ["open", "rows", "close"])
def test_a_warm_up_goes_on_with_another_engine(tmp_path: Path, command: str) -> None:
    engines = [FakeEngine(), FakeEngine()]
    session = make_session(tmp_path, engines=engines)
    engines[0].failures[command] = [gone()]
    with session.only(session.contest.turns(0)[0]):
        warm_up(session, 0, case_of(session, "point-query"))
    assert engine_of(session) is engines[1]
    assert [len(engines[1].asked(name)) for name in ("open", "rows", "close")] == [1] * 3
    assert all(target.out is None for target in session.targets)


def test_a_pilot_bounded_by_count_has_work_for_every_client(tmp_path: Path) -> None:
    session = make_session(tmp_path, clients=[64])
    _measure(session, "update-index")
    pilot = engine_of(session).asked("rows")[0]
    assert pilot["tag"] == {"pilot": True} and pilot["slot"]["ops"] >= 5 * 64


def test_each_round_of_a_pilot_has_values_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written once more, the same values would change nothing, and cost less."""
    monkeypatch.setattr(fakes, "ELAPSED_NS", 1_000_000)
    session = make_session(tmp_path)
    _measure(session, "update-index")
    pilots = [fields["first_row"] for fields in engine_of(session).asked("rows") if "pilot" in fields["tag"]]
    assert len(pilots) > 1 and len(set(pilots)) == len(pilots)
