"""A test in a block, with an engine that answers as told: whose rows are run, and what is journaled of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import RunError
from dbversus.experiment.cell.case import measure, warm_up
from dbversus.experiment.cell.opening import open_case
from dbversus.experiment.cell.rows import LEAD_IN_ROW
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.engine import EngineGone
from dbversus.experiment.rig.recovery import ENGINE_RENEWALS_AT_MOST
from dbversus.experiment.rig.rig import Rig
from dbversus.host.pinning import PlacementPlan
from dbversus.servers.base import ServerConfig
from dbversus.stats.validity.disturbance import Limits
from dbversus.suites.load import load_suite
from dbversus.suites.send.define import statements_in

from .. import fakes
from ..fakes import FakeEngine, case_of, engine_of, gone, make_rig, records, refused, server_of


def _measure(rig: Rig, name: str, block: int = 0) -> Case:
    case = case_of(rig, name)
    with rig.only(rig.contest.turns(block)[0]):
        measure(rig, block, case)
    return case


def _counted_rows(rig: Rig) -> list[dict[str, Any]]:
    return [fields for fields in engine_of(rig).asked("rows") if "pilot" not in fields["tag"]]


def test_rows_are_journaled_once_and_the_test_is_finished(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    _measure(rig, "point-query")
    assert [row["row"] for row in records(rig, "row")] == [0, 1]
    assert (0, "point-query", "") in rig.progress.finished
    _measure(rig, "update-index")
    (plan,) = [record for record in records(rig, "slots") if record["test"] == "update-index"]
    assert plan["slot"].keys() == {"ops"}


def test_every_other_block_has_its_rows_backwards(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    for block in range(4):
        _measure(rig, "point-query", block=block)
    orders = [fields["orders"] for fields in _counted_rows(rig) if len(fields["orders"]) > 1]
    assert len(orders) == 4
    for before, after in (orders[:2], orders[2:]):
        assert after == [order[::-1] for order in before]


def test_disturbed_rows_are_flagged_and_not_measured_again(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    used_ns = int(2 * rig.limits.foreign_cpu * fakes.ELAPSED_NS)
    engine_of(rig).host = {"wall_ns": fakes.ELAPSED_NS, "foreign_cpu_ns": used_ns, "steal_ns": 0}
    _measure(rig, "point-query")
    (plan,) = records(rig, "slots")
    rows = records(rig, "row")
    assert [row["row"] for row in rows] == list(range(plan["rows"]))
    assert all(row["disturbed"] and row["disturbed_why"].startswith("other processes used") for row in rows)


def test_the_limits_are_those_of_the_host_and_the_placement(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    rig.cpus = PlacementPlan("split", (0,), (1,), (1,))
    rig.limits = Limits(foreign_cpu=7.0, steal=0.25)
    engine_of(rig).host = {"wall_ns": 100, "foreign_cpu_ns": 690, "steal_ns": 26}
    _measure(rig, "point-query")
    assert {row["disturbed_why"] for row in records(rig, "row")} == {"the hypervisor stole 26% of a core (limit 25%)"}
    assert engine_of(rig).asked("open")[0]["foreground_cpus"] == [1]


def test_what_replays_have_left_is_drained_once_when_the_next_test_is_measured(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, tests="point-query,update-index,update-one")
    for target in rig.targets:
        server_of(rig, target.name).root_pid = 11
    for name in ("update-index", "update-one"):
        with rig.only(rig.contest.turns(0)[0]):
            measure(rig, 0, case_of(rig, name), replay=True)
    assert not engine_of(rig).asked("drain")
    _measure(rig, "point-query")
    _measure(rig, "point-query", block=1)
    drained = [fields["target"] for fields in engine_of(rig).asked("drain")]
    assert drained == [target.name for target in rig.targets]
    assert not records(rig, "drain")


@pytest.mark.parametrize(("test", "of_the_table"), [("scan", True), ("point-query", False)])
def test_a_plan_tells_the_rows_that_an_operation_scans(tmp_path: Path, test: str, of_the_table: bool) -> None:
    rig = make_rig(tmp_path, tests=test)
    _measure(rig, test)
    (plan,) = records(rig, "slots")
    assert plan.get("rows_scanned_per_op") == (rig.spec.table_size if of_the_table else None)


def test_a_target_that_cannot_be_frozen_is_restarted_and_the_row_begun_again(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    _measure(rig, "point-query")
    engine_of(rig).stops = [{"target": "t1", "row": 0, "kind": "io", "message": "t1 cannot be frozen"}]
    _measure(rig, "point-query", block=1)
    assert [(row["block"], row["row"]) for row in records(rig, "row")] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    (failure,) = records(rig, "failure")
    assert failure["target"] == "t1" and failure["message"].startswith("t1 cannot be frozen.") and not failure["final"]
    assert server_of(rig, "t1").starts == 1


def test_a_target_with_other_answers_is_left_out_and_the_others_are_measured(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=4)
    engine_of(rig).checksums = {"t2": "00"}
    for block in range(2):
        _measure(rig, "point-query", block)
    assert [(check["agree"], check["differs"]) for check in records(rig, "check")] == [(False, ["t2"])]
    for fields in engine_of(rig).asked("rows"):
        assert all(sorted(order) == ["t0", "t1", "t3"] for order in fields["orders"])
    assert all(record["hdr"].keys() == {"t0", "t1", "t3"} for record in records(rig, "latency"))
    assert "point-query" in rig.contest.undecided
    # later tests need what this one changes
    _measure(rig, "update-index")
    assert {name for order in _counted_rows(rig)[-1]["orders"] for name in order} == {"t0", "t1", "t2", "t3"}


def test_a_test_in_which_nobody_agrees_with_the_base_needs_no_more_blocks(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    engine_of(rig).checksums = {"t0": "00"}
    case = _measure(rig, "point-query")
    assert not engine_of(rig).asked("rows") and not records(rig, "slots")
    assert not rig.is_comparable(case) and rig.contest.undecided == ["update-index"]
    assert (0, "point-query", "") in rig.progress.finished


def test_answers_are_compared_again_when_a_target_has_come_back(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    rig.progress.checked["point-query", ""] = {"t0": True, "t1": True}
    for block in range(2):
        _measure(rig, "point-query", block)
    (check,) = records(rig, "check")
    assert check["targets"].keys() == {"t0", "t1", "t2"}


def test_a_target_that_refuses_the_statements_is_out_and_the_rest_is_measured(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    engine_of(rig).failures["check"] = [refused("t1")]
    _measure(rig, "point-query")
    assert rig.by_name("t1").out == "function f does not exist"
    assert all(sorted(row["order"]) == ["t0", "t2"] for row in records(rig, "row"))
    assert len(records(rig, "check")) == 1


CRASHED = (
    "2026-11-23 17:12:01.000 GMT [9] LOG:  server process (PID 62) was terminated by signal 9: Killed\n"
    "2026-11-23 17:12:02.000 GMT [9] LOG:  database system is ready to accept connections\n"
)


def test_after_a_crash_that_nobody_saw_answers_are_not_compared_until_data_is_restored(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    _measure(rig, "update-index")
    server_of(rig, "t1").log += CRASHED
    _measure(rig, "point-query")
    assert [check["test"] for check in records(rig, "check")] == ["update-index"]
    (failure,) = records(rig, "failure")
    assert (failure["target"], failure["stage"], failure["test"], failure["final"]) == (
        "t1",
        "idle",
        "point-query",
        False,
    )
    assert "recovered by itself: server process (PID 62) was terminated by signal 9" in failure["message"]
    assert {row["test"] for row in records(rig, "row")} == {"update-index", "point-query"}


def test_a_server_that_still_recovers_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = make_rig(tmp_path)
    _measure(rig, "update-index")
    server, refusals = server_of(rig, "t1"), [RunError("the database system is in recovery mode")]

    def warm(tables: Sequence[str]) -> None:
        if refusals:
            raise refusals.pop()

    monkeypatch.setattr(server, "warm", warm)
    starts, server.log = server.starts, CRASHED
    _measure(rig, "point-query")
    assert server.starts == starts + 1 and not refusals
    assert [failure["final"] for failure in records(rig, "failure")] == [False, False]
    assert {row["test"] for row in records(rig, "row")} == {"update-index", "point-query"}


def test_a_crash_is_noted_where_answers_were_compared_long_ago(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    for block in range(2):
        _measure(rig, "point-query", block=block)
        server_of(rig, "t0").log += CRASHED
    assert [(failure["target"], failure["block"]) for failure in records(rig, "failure")] == [("t0", 1)]


def test_after_a_refused_change_answers_are_compared_in_a_later_block_only(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    engine_of(rig).failures["check"] = [refused("t1")]
    _measure(rig, "update-index")
    assert not records(rig, "check")
    assert any("were not compared in block 1" in remark["words"] for remark in records(rig, "remark"))
    rig.diverged = False  # as when all data has been restored
    _measure(rig, "update-index", block=1)
    assert [check["agree"] for check in records(rig, "check")] == [True]


@pytest.mark.parametrize("command", ["open", "rows", "close"])
def test_a_warm_up_goes_on_with_another_engine(tmp_path: Path, command: str) -> None:
    engines = [FakeEngine(), FakeEngine()]
    rig = make_rig(tmp_path, engines=engines)
    engines[0].failures[command] = [gone()]
    with rig.only(rig.contest.turns(0)[0]):
        warm_up(rig, 0, case_of(rig, "point-query"))
    assert engine_of(rig) is engines[1]
    assert [len(engines[1].asked(name)) for name in ("open", "rows", "close")] == [1] * 3
    assert all(target.out is None for target in rig.targets)


def test_an_engine_that_is_lost_in_all_it_does_is_renewed_so_often_and_no_more(tmp_path: Path) -> None:
    engines = [FakeEngine() for _ in range(50)]
    engines[0].failures["rows"] = [None]  # the pilot's
    for engine in engines:
        engine.failures["rows"].append(gone())
    rig = make_rig(tmp_path, engines=engines)
    with pytest.raises(EngineGone, match="killed by signal 9"):
        _measure(rig, "point-query")
    # the rows are gone on with so often, and then the whole test is begun again so often
    assert sum(bool(engine.asked("rows")) for engine in engines) == (1 + ENGINE_RENEWALS_AT_MOST) ** 2
    assert not records(rig, "row")


def test_a_pilot_bounded_by_count_has_work_for_every_client(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, clients=[64])
    _measure(rig, "update-index")
    pilot = engine_of(rig).asked("rows")[0]
    assert pilot["tag"] == {"pilot": True} and pilot["slot"]["ops"] >= 5 * 64


def test_each_round_of_a_pilot_has_values_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written once more, the same values would change nothing, and cost less."""
    monkeypatch.setattr(fakes, "ELAPSED_NS", 1_000_000)
    rig = make_rig(tmp_path)
    _measure(rig, "update-index")
    pilots = [fields["first_row"] for fields in engine_of(rig).asked("rows") if "pilot" in fields["tag"]]
    assert len(pilots) > 1 and len(set(pilots)) == len(pilots)


def test_slots_after_a_lead_in_are_as_long_as_its_rates_make_them(tmp_path: Path) -> None:
    """The fake's slots last 50 ms, whatever they hold: 400 operations/s in the pilot, 800 in the lead-in planned from it."""
    rig = make_rig(tmp_path, lead_in_s=0.2, write_slot_ms=100)
    _measure(rig, "update-index")
    _measure(rig, "update-index", block=1)
    (plan,) = records(rig, "slots")
    assert plan["slot"] == {"ops": 80}
    led = [fields["slot"]["ops"] for fields in _counted_rows(rig) if fields["first_row"] >= LEAD_IN_ROW]
    assert led == [40] * 4 + [80] * 4
    assert all(fields["slot"] == {"ops": 80} for fields in _counted_rows(rig) if fields["first_row"] < LEAD_IN_ROW)


def test_a_step_that_creates_an_index_has_the_clause_of_the_targets_config(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    rig.suite = rig.contest.suite = load_suite("insert-2021")
    server_of(rig, "t1").config = ServerConfig("", {}, ddl={"index": "WITH (deduplicate_items = off)"})
    (case,) = (case for case in rig.contest.all_cases if case.name == "l.x")
    with rig.only(rig.contest.turns(0)[0]):
        open_case(rig, 0, case)
    (opened,) = engine_of(rig).asked("open")
    sent = {name: statements_in(made)[-1]["sql"] for name, made in opened["tests"].items()}
    made = "CREATE INDEX pdc_{table} ON pi{table} (price, dateandtime, customerid)"
    assert sent == {"t0": made, "t1": f"{made} WITH (deduplicate_items = off)"}
