"""The story's turns: which looks are taken, who is taken over by `resume`, and when nothing can be done."""

from pathlib import Path
from typing import cast

import pytest

from dbversus.errors import RunError, UsageError
from dbversus.experiment import run
from dbversus.experiment.crew import local
from dbversus.experiment.plan.agenda import Cell
from dbversus.experiment.plan.progress import Progress
from dbversus.experiment.rig.engine import Engine
from dbversus.experiment.rig.ready import closing, make_ready
from dbversus.experiment.rig.rig import Rig
from dbversus.experiment.rig.stage import Stage
from dbversus.results.records import Block, Look

from ..silent import Silent
from .fakes import FakeEngine, ledger_of, make_rig, records


def _anew(rig: Rig, progress: Progress) -> Rig:
    """The same in a later process, which has read how far it got."""
    stage = Stage(rig.spec, rig.suite, rig.targets, {}, rig.cpus, lambda: cast(Engine, FakeEngine()))
    return stage.rig(rig.records, rig.folder, progress, Silent())


def _run(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[int]]:
    """Why cells end that take no time, and the numbers of blocks after which looks are taken meanwhile."""
    monkeypatch.setattr(run, "newly_decided", lambda contest, folder: [])
    monkeypatch.setattr(local, "run_cell", _finish)
    why = run._run_cells(rig, ledger_of(rig))
    return why, [record["blocks"] for record in records(rig, "look")]


def _finish(rig: Rig, cell: Cell) -> None:
    rig.note(Block(cell.block, "finished"))


def test_a_look_follows_the_blocks_that_it_is_planned_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = make_rig(tmp_path, looks=[2, 3])
    assert _run(rig, monkeypatch) == ("looks used up", [2, 3])
    assert rig.progress.blocks == {0, 1, 2}


@pytest.mark.parametrize("finished", [2, 3])
def test_a_look_that_a_kill_has_prevented_is_taken_when_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: int
) -> None:
    rig = make_rig(tmp_path, looks=[2, 3])
    rig.progress.blocks = set(range(finished))
    if finished == 3:
        rig.note(Look(2, []))
    assert _run(rig, monkeypatch) == ("looks used up", [2, 3])


def test_a_base_that_is_out_for_good_is_told_in_one_sentence(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    progress = Progress(out={"t0": "state differs, block 2"}, checked={("point-query", ""): {"t0": True}})
    with pytest.raises(UsageError, match=r"The base postgres:17 is out, .*: state differs, block 2; start a new exp"):
        make_ready(_anew(rig, progress))


def test_targets_that_are_all_out_for_good_are_told_with_their_reasons(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    with pytest.raises(UsageError, match=r"No target is left .* postgres:17#2: no function f"):
        make_ready(_anew(rig, Progress(out={"t1": "no function f"})))


def test_a_target_that_was_lost_is_tried_again_and_the_report_says_so(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    rig.progress.lost = {"t1"}
    make_ready(rig)
    assert len(rig.in_run) == 2
    (remark,) = records(rig, "remark")
    assert remark["target"] == "t1" and "tried again" in remark["words"]


def test_a_resumed_run_starts_no_block_that_its_time_budget_is_too_short_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = make_rig(tmp_path, looks=[3], time_budget_s=20)
    rig.progress.blocks, rig.progress.block_s = {0}, 60.0
    said: list[str] = []
    monkeypatch.setattr(rig.display, "say", said.append)
    assert _run(rig, monkeypatch)[0] == "time budget"
    assert rig.progress.blocks == {0}
    (words,) = said
    assert words.startswith(
        "A time budget of 20 s gives no verdict: the first look needs 3 blocks, and one took 1 min 00 s; "
    )


def test_an_interrupt_stays_one_though_the_journal_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = make_rig(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise RunError("journal.jsonl cannot be written: No space left on device.")

    monkeypatch.setattr(rig, "note", full)
    with pytest.raises(KeyboardInterrupt), closing(rig):
        raise KeyboardInterrupt
