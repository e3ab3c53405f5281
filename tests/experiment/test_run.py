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
from dbversus.experiment.rig.session import Session, Silent
from dbversus.experiment.rig.stage import Stage
from dbversus.results.records import Block, Look

from .fakes import FakeEngine, ledger_of, make_session, records


def _anew(session: Session, progress: Progress) -> Session:
    """The same in a later process, which has read how far it got."""
    stage = Stage(session.spec, session.suite, session.targets, {}, session.cpus, lambda: cast(Engine, FakeEngine()))
    return stage.session(session.records, session.folder, progress, Silent())


def _run(session: Session, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[int]]:
    """Why cells end that take no time, and the numbers of blocks after which looks are taken meanwhile."""
    monkeypatch.setattr(run, "newly_decided", lambda contest, folder: [])
    monkeypatch.setattr(local, "run_cell", _finish)
    why = run._run_cells(session, ledger_of(session))
    return why, [record["blocks"] for record in records(session, "look")]


def _finish(session: Session, cell: Cell) -> None:
    session.note(Block(cell.block, "finished"))


def test_a_look_follows_the_blocks_that_it_is_planned_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = make_session(tmp_path, looks=[2, 3])
    assert _run(session, monkeypatch) == ("looks used up", [2, 3])
    assert session.progress.blocks == {0, 1, 2}


@pytest.mark.parametrize("finished", [2, 3])
def test_a_look_that_a_kill_has_prevented_is_taken_when_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: int
) -> None:
    session = make_session(tmp_path, looks=[2, 3])
    session.progress.blocks = set(range(finished))
    if finished == 3:
        session.note(Look(2, []))
    assert _run(session, monkeypatch) == ("looks used up", [2, 3])


def test_a_base_that_is_out_for_good_is_told_in_one_sentence(tmp_path: Path) -> None:
    session = make_session(tmp_path, targets=3)
    progress = Progress(out={"t0": "state differs, block 2"}, checked={("point-query", ""): {"t0": True}})
    with pytest.raises(UsageError, match=r"The base postgres:17 is out, .*: state differs, block 2; start a new exp"):
        make_ready(_anew(session, progress))


def test_targets_that_are_all_out_for_good_are_told_with_their_reasons(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    with pytest.raises(UsageError, match=r"No target is left .* postgres:17#2: no function f"):
        make_ready(_anew(session, Progress(out={"t1": "no function f"})))


def test_a_target_that_was_lost_is_tried_again_and_the_report_says_so(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    session.progress.lost = {"t1"}
    make_ready(session)
    assert len(session.in_run) == 2
    (remark,) = records(session, "remark")
    assert remark["target"] == "t1" and "tried again" in remark["words"]


def test_a_resumed_run_starts_no_block_that_its_time_budget_is_too_short_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(tmp_path, looks=[3], time_budget_s=20)
    session.progress.blocks, session.progress.block_s = {0}, 60.0
    said: list[str] = []
    monkeypatch.setattr(session.display, "say", said.append)
    assert _run(session, monkeypatch)[0] == "time budget"
    assert session.progress.blocks == {0}
    assert said == ["The time budget of 20 s is too short for one block (about 1 min 00 s)."]


def test_an_interrupt_stays_one_though_the_journal_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise RunError("journal.jsonl cannot be written: No space left on device.")

    monkeypatch.setattr(session, "note", full)
    with pytest.raises(KeyboardInterrupt), closing(session):
        raise KeyboardInterrupt
