import pytest

from dbversus.experiment.plan.progress import read_progress
from dbversus.experiment.plan.slots import SlotPlan


def _row(block: int, case: str) -> dict[str, object]:
    return {"type": "row", "tag": {"block": block, "test": case}}


def test_an_interrupted_block_keeps_its_finished_tests_and_rows() -> None:
    progress = read_progress(
        [
            {"type": "plan", "test": "scan", "slot": {"ms": 50}, "settle": {"ms": 5}, "rows": 60},
            _row(0, "scan"),
            {"type": "test", "block": 0, "test": "scan", "state": "finished"},
            {"type": "block", "block": 0, "state": "finished"},
            {"type": "block", "block": 1, "state": "started"},
            _row(1, "scan"),
            _row(1, "scan"),
            {"type": "block", "block": 1, "state": "interrupted"},
        ]
    )
    assert progress.next_block() == 1
    assert progress.rows[1, "scan", ""] == 2
    assert (0, "scan", "") in progress.finished and (1, "scan", "") not in progress.finished
    assert progress.plans["scan", ""] == SlotPlan({"ms": 50}, {"ms": 5}, 60)


def test_groups_and_targets_alone_are_told_apart() -> None:
    def row(**who: str) -> dict[str, object]:
        return {"type": "row", "tag": {"block": 0, "test": "scan", **who}}

    progress = read_progress(
        [
            {"type": "plan", "test": "scan", "slot": {"ms": 50}, "settle": {"ms": 5}, "rows": 60, "group": "g1"},
            {"type": "plan", "test": "scan", "slot": {"ms": 50}, "settle": {"ms": 5}, "rows": 20, "solo": "t1"},
            {"type": "check", "test": "scan", "targets": {"t0": {}, "t1": {}}, "differs": ["t1"], "group": "g1"},
            {"type": "check", "test": "scan", "targets": {"t0": {}, "t2": {}}, "differs": [], "group": "g1"},
            row(group="g0"),
            row(group="g1"),
            row(group="g1"),
            row(solo="t1"),
            {"type": "test", "block": 0, "test": "scan", "state": "finished", "group": "g0"},
        ]
    )
    assert [progress.rows[0, "scan", name] for name in ("", "g0", "g1", "t1")] == [0, 1, 2, 1]
    assert progress.finished == {(0, "scan", "g0")}
    assert progress.checked == {("scan", "g1"): {"t0": True, "t1": False, "t2": True}}
    assert {key: plan.rows for key, plan in progress.plans.items()} == {("scan", "g1"): 60, ("scan", ""): 20}


def test_retired_tests_and_targets_that_are_out_are_remembered() -> None:
    progress = read_progress(
        [
            {"type": "look", "blocks": 4, "retired": ["scan"]},
            {"type": "failure", "target": "t1", "stage": "slot", "message": "gone", "final": False},
            {"type": "failure", "target": "t2", "stage": "open", "message": "no libfoo", "final": True},
            {"type": "look", "blocks": 6, "retired": ["insert@2"]},
        ]
    )
    assert progress.retired == {"scan", "insert@2"}
    assert progress.out == {"t2": "no libfoo"}


def test_a_run_that_was_resumed_has_not_ended() -> None:
    assert read_progress([{"type": "finished", "reason": "time budget"}]).ended == "time budget"
    assert read_progress([{"type": "finished", "reason": "time budget"}, {"type": "resumed"}]).ended is None


def _failure(target: str, stage: str, final: bool = True) -> dict[str, object]:
    return {"type": "failure", "target": target, "stage": stage, "message": f"{stage} failed", "final": final}


@pytest.mark.parametrize("stage", ["start", "load", "settle", "slot"])
def test_what_the_last_start_lost_in_passing_is_tried_again(stage: str) -> None:
    progress = read_progress([_failure("t0", stage), _failure("t1", stage), _failure("t2", stage, final=False)])
    assert progress.lost == {"t0", "t1"} and not progress.out
    assert not read_progress([_failure("t0", stage), {"type": "resumed"}]).lost


@pytest.mark.parametrize("stage", ["check", "open", "state"])
def test_what_was_refused_stays_out(stage: str) -> None:
    progress = read_progress([_failure("t1", "start"), {"type": "resumed"}, _failure("t1", stage), {"type": "resumed"}])
    assert progress.out == {"t1": f"{stage} failed"} and not progress.lost


def test_what_a_block_takes_is_told_by_the_last_one_without_interruption() -> None:
    def block(number: int, state: str, at_s: int) -> dict[str, object]:
        return {"type": "block", "block": number, "state": state, "at_unix_ns": at_s * 10**9}

    whole = [block(0, "started", 100), block(0, "started", 130), block(0, "finished", 160)]  # of two groups
    resumed: dict[str, object] = {"type": "resumed"}
    assert read_progress([*whole, block(1, "started", 161)]).whole_block_s == 60
    assert read_progress([*whole, block(1, "started", 161), resumed, block(1, "finished", 9010)]).block_s == 60
    a_test: dict[str, object] = {"type": "test", "block": 1, "test": "scan", "state": "finished"}
    assert read_progress([*whole, block(1, "started", 161), a_test]).whole_block_s is None
