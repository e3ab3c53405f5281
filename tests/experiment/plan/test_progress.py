from typing import Literal

import pytest

from dbversus.experiment.plan.progress import read_progress
from dbversus.experiment.plan.slots import SlotPlan
from dbversus.results.records import Answers, Block, Check, Failure, Finished, Look, Resumed, Row, Slots
from dbversus.results.records import Test as FinishedTest


def _row(block: int, case: str, **who: str) -> Row:
    return Row(block, case, row=0, disturbed=False, slots=[], **who)  # type: ignore[arg-type]


def test_an_interrupted_block_keeps_its_finished_tests_and_rows() -> None:
    progress = read_progress(
        [
            Slots(0, "scan", {"ms": 50}, {"ms": 5}, 60, settle_again={"ms": 1}),
            _row(0, "scan"),
            FinishedTest(0, "scan"),
            Block(0, "finished"),
            Block(1, "started"),
            _row(1, "scan"),
            _row(1, "scan"),
            Block(1, "interrupted"),
        ]
    )
    assert progress.next_block() == 1
    assert progress.rows[1, "scan", ""] == 2
    assert (0, "scan", "") in progress.finished and (1, "scan", "") not in progress.finished
    assert progress.plans["scan", ""] == SlotPlan({"ms": 50}, {"ms": 5}, 60, {"ms": 1})


def test_groups_and_targets_alone_are_told_apart() -> None:
    progress = read_progress(
        [
            Slots(0, "scan", {"ms": 50}, {"ms": 5}, 60, group="g1"),
            Slots(0, "scan", {"ms": 50}, {"ms": 5}, 20, solo="t1"),
            Check("scan", {"t0": Answers(), "t1": Answers()}, agree=False, differs=["t1"], group="g1"),
            Check("scan", {"t0": Answers(), "t2": Answers()}, agree=False, differs=[], group="g1"),
            _row(0, "scan", group="g0"),
            _row(0, "scan", group="g1"),
            _row(0, "scan", group="g1"),
            _row(0, "scan", solo="t1"),
            FinishedTest(0, "scan", group="g0"),
        ]
    )
    assert [progress.rows[0, "scan", name] for name in ("", "g0", "g1", "t1")] == [0, 1, 2, 1]
    assert progress.finished == {(0, "scan", "g0")}
    assert progress.checked == {("scan", "g1"): {"t0": True, "t1": False, "t2": True}}
    assert {key: plan.rows for key, plan in progress.plans.items()} == {("scan", "g1"): 60, ("scan", ""): 20}


def test_retired_tests_and_targets_that_are_out_are_remembered() -> None:
    progress = read_progress(
        [
            Look(4, ["scan"]),
            Failure("t1", "slot", "gone", final=False),
            Failure("t2", "open", "no libfoo", final=True),
            Look(6, ["insert@2"]),
        ]
    )
    assert progress.retired == {"scan", "insert@2"}
    assert progress.out == {"t2": "no libfoo"}


def test_a_run_that_was_resumed_has_not_ended() -> None:
    assert read_progress([Finished("time budget")]).ended == "time budget"
    assert read_progress([Finished("time budget"), Resumed("")]).ended is None


def _failure(target: str, stage: str, final: bool = True) -> Failure:
    return Failure(target, stage, f"{stage} failed", final)


@pytest.mark.parametrize("stage", ["start", "load", "settle", "slot"])
def test_what_the_last_start_lost_in_passing_is_tried_again(stage: str) -> None:
    progress = read_progress([_failure("t0", stage), _failure("t1", stage), _failure("t2", stage, final=False)])
    assert progress.lost == {"t0", "t1"} and not progress.out
    assert not read_progress([_failure("t0", stage), Resumed("")]).lost


@pytest.mark.parametrize("stage", ["check", "open", "state"])
def test_what_was_refused_stays_out(stage: str) -> None:
    progress = read_progress([_failure("t1", "start"), Resumed(""), _failure("t1", stage), Resumed("")])
    assert progress.out == {"t1": f"{stage} failed"} and not progress.lost


def test_what_a_block_takes_is_told_by_the_last_one_without_interruption() -> None:
    def block(number: int, event: Literal["started", "finished"], at_s: int) -> Block:
        return Block(number, event, at_unix_ns=at_s * 10**9)

    whole = [block(0, "started", 100), block(0, "started", 130), block(0, "finished", 160)]  # of two groups
    resumed = Resumed("")
    assert read_progress([*whole, block(1, "started", 161)]).whole_block_s == 60
    assert read_progress([*whole, block(1, "started", 161), resumed, block(1, "finished", 9010)]).block_s == 60
    a_test = FinishedTest(1, "scan")
    assert read_progress([*whole, block(1, "started", 161), a_test]).whole_block_s is None
