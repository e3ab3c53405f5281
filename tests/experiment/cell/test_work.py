"""Work with an end in a block: measured once and whole, or the block is begun again."""

import json
from pathlib import Path
from typing import Any

import pytest

from dbversus.experiment.cell.case import measure
from dbversus.experiment.cell.work import in_events, in_operations
from dbversus.experiment.rig.rig import Rig
from dbversus.experiment.rig.spoiled import BlockSpoiled, through_spoiled
from dbversus.suites.assembly.judged_load import load_plan, with_judged_load
from dbversus.suites.load import load_suite

from ..fakes import case_of, engine_of, gone, make_rig, records, refused, server_of

SUITE = Path(__file__).parents[2] / "data/work.toml"
STEPS = SUITE.with_name("steps.toml")


def _rig(folder: Path, **more: Any) -> Rig:
    rig = make_rig(folder, **more)
    rig.suite = rig.contest.suite = load_suite(SUITE)
    return rig


def _measure(rig: Rig, name: str, block: int = 0, *, replay: bool = False) -> None:
    with rig.only(rig.contest.turns(block)[0]):
        measure(rig, block, case_of(rig, name), replay=replay)


def _asked(rig: Rig) -> list[dict[str, Any]]:
    return engine_of(rig).asked("rows")


def test_a_step_is_one_row_of_all_its_operations(tmp_path: Path) -> None:
    rig = _rig(tmp_path)
    _measure(rig, "more")
    (asked,) = _asked(rig)  # no pilot: the work can be done once
    assert (asked["slot"], asked["settle"]) == ({"ops": 500, "slice_ms": 1000}, {"ops": 0})
    assert not engine_of(rig).asked("check")
    assert [row["row"] for row in records(rig, "row")] == [0] and (0, "more", "") in rig.progress.finished


def test_the_order_of_targets_changes_from_block_to_block(tmp_path: Path) -> None:
    rig = _rig(tmp_path, seconds=0.1)
    for block in (0, 1):
        _measure(rig, "build", block)
    first, second = (asked["orders"] for asked in _asked(rig))
    assert sorted(first[0]) == sorted(second[0]) and first != second


@pytest.mark.parametrize("replay", [False, True])
def test_a_single_statement_is_undone_after_all_its_evidence(tmp_path: Path, replay: bool) -> None:
    rig = _rig(tmp_path, seconds=0.1)
    _measure(rig, "build", replay=replay)
    undone = engine_of(rig).asked("query")
    assert [(one["target"], one["sql"]) for one in undone] == [("t0", "DROP INDEX t_id"), ("t1", "DROP INDEX t_id")]
    commands = [name for name, _ in engine_of(rig).calls]
    after_rows = commands[commands.index("rows") :]
    assert after_rows.index("query") > after_rows.index("close")


def test_a_single_statement_that_is_undone_has_as_many_samples_as_its_time_holds(tmp_path: Path) -> None:
    rig = _rig(tmp_path, seconds=0.35)  # a row of two slots lasts 0.1 s
    _measure(rig, "build")
    assert [row["row"] for row in records(rig, "row")] == [0, 1, 2]
    commands = [name for name, _ in engine_of(rig).calls if name in ("rows", "query", "drain")]
    assert commands == 3 * ["rows", "query", "query"]
    assert len(records(rig, "counters")) <= 1 and (0, "build", "") in rig.progress.finished


def test_a_single_statement_whose_block_is_begun_again_is_replayed_once(tmp_path: Path) -> None:
    rig = _rig(tmp_path, seconds=0.35)
    rig.progress.rows[0, "build", ""] = 2
    _measure(rig, "build")
    assert len(engine_of(rig).asked("rows")[0]["orders"]) == 1
    assert engine_of(rig).asked("query")[0]["sql"] == "DROP INDEX t_id"


def test_a_target_that_refuses_to_undo_is_out(tmp_path: Path) -> None:
    rig = _rig(tmp_path, targets=3)
    engine_of(rig).failures["query"] = [None, refused("t1", "there is no such index")]
    _measure(rig, "build")
    assert [target.name for target in rig.in_run] == ["t0", "t2"]
    assert records(rig, "failure")[-1]["message"] == "undo: there is no such index"


def test_work_that_is_broken_off_spoils_the_block(tmp_path: Path) -> None:
    rig = _rig(tmp_path)
    engine_of(rig).stops = [{"target": "t1", "row": 0, "kind": "lost_connection", "message": "it is gone"}]
    with pytest.raises(BlockSpoiled, match="more was broken off half-way"):
        _measure(rig, "more")
    assert server_of(rig, "t1").starts == 1 and not records(rig, "row")


def test_who_refuses_the_work_is_out_and_the_others_begin_again(tmp_path: Path) -> None:
    rig = _rig(tmp_path, targets=3)
    engine_of(rig).stops = [{"target": "t2", "row": 0, "kind": "server", "message": "no room"}]
    with pytest.raises(BlockSpoiled):
        _measure(rig, "build")
    assert [target.name for target in rig.in_run] == ["t0", "t1"] and not server_of(rig, "t2").starts


def test_the_loss_of_the_engine_spoils_the_block(tmp_path: Path) -> None:
    rig = _rig(tmp_path)
    lost = engine_of(rig)
    lost.failures["rows"] = [gone()]
    with pytest.raises(BlockSpoiled):
        _measure(rig, "more")
    assert engine_of(rig) is not lost


def test_a_spoiled_block_is_begun_again_a_few_times(tmp_path: Path) -> None:
    rig = _rig(tmp_path)
    tries = []

    def action() -> None:
        tries.append(server_of(rig, "t0").running)
        if len(tries) < 3:
            server_of(rig, "t0").running = True
            raise BlockSpoiled("more was broken off")

    through_spoiled(rig, 4, action)
    assert tries == [True, False, False]
    assert "block 5 was begun again: more was broken off" in [one["words"] for one in records(rig, "remark")]
    with pytest.raises(BlockSpoiled):
        through_spoiled(rig, 4, _always_spoiled)


def _always_spoiled() -> None:
    raise BlockSpoiled("again")


def _rig_with_roles(folder: Path) -> Rig:
    rig = make_rig(folder)
    rig.suite = rig.contest.suite = load_suite(STEPS)
    return rig


def test_a_step_with_a_rate_is_bounded_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = _rig_with_roles(tmp_path)  # 500 operations at 2000/s are 0.25 s
    for name in ("rated", "churn"):
        _measure(rig, name)
    rated, churn = (asked["slot"] for asked in _asked(rig))
    assert (rated["most_ms"], "most_ms" in churn) == (10_000, False)
    monkeypatch.setattr("dbversus.experiment.cell.work.LEAST_BOUND_S", 0.1)
    (tmp_path / "again").mkdir()
    again = _rig_with_roles(tmp_path / "again")
    _measure(again, "rated")
    assert _asked(again)[0]["slot"]["most_ms"] == 750


def test_what_was_not_done_of_a_step_is_told_and_answers_are_not_compared_after_it(tmp_path: Path) -> None:
    rig = _rig_with_roles(tmp_path)
    engine_of(rig).cut = {"t1": {"inserters": 120, "deleters": 120, "readers": 9}}
    _measure(rig, "rated")
    (remark,) = records(rig, "remark")
    assert remark["target"] == "t1"
    assert remark["words"] == (
        "rated was ended in block 1 after 0 s, where 0.25 s were planned: inserters did 120 of 500 operations, deleters did 120 "
        "of 500 operations. Later tests of the block found other data there than on a target that did all"
    )
    cut = {slot["target"]: slot.get("cut") for row in records(rig, "row") for slot in row["slots"]}
    assert cut == {"t0": None, "t1": True}
    engine_of(rig).cut.clear()
    _measure(rig, "total")
    assert not engine_of(rig).asked("check")
    assert "or a step ended early" in records(rig, "remark")[-1]["words"]


def test_an_operation_of_the_load_is_a_row_and_the_engine_counts_rounds_of_inserts(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    rig.suite = rig.contest.suite = with_judged_load(load_suite("sysbench"), rig.spec.table_size, rig.spec.tables)
    _measure(rig, "load")
    plan = load_plan(rig.suite.tests["load"], rig.spec.table_size, rig.spec.tables)
    (asked,) = _asked(rig)
    assert asked["slot"]["ops"] == plan.rounds < plan.rows_in_all
    (row,) = records(rig, "row")
    assert {slot["ops"] for slot in row["slots"]} == {plan.rows_in_all}
    (sent,) = {json.dumps(one["tests"], sort_keys=True) for one in engine_of(rig).asked("open")}
    assert set(json.loads(sent)) == {"t0", "t1"}


def test_seconds_of_the_load_have_rows_too() -> None:
    told = in_operations({"series": [{"second": 0, "ops": 3}], "done": False}, 1000)
    assert told == {"series": [{"second": 0, "ops": 3000}], "done": False}
    assert in_events({"ops": 5000, "slice_ms": 7}, 1000) == {"ops": 5, "slice_ms": 7}
