"""A block that was begun before `resume`."""

from pathlib import Path

import pytest

from dbversus.experiment.cell.block import run_cell
from dbversus.experiment.plan.agenda import Cell
from dbversus.experiment.rig.rig import Rig
from dbversus.results.records import Block
from dbversus.results.records import Test as Finished
from dbversus.suites.load import load_suite

from ..fakes import make_rig, records

SUITE = Path(__file__).parents[2] / "data/work.toml"


def _interrupted(folder: Path, *finished: str) -> Rig:
    """A rig whose block 1 was interrupted when these tests were finished."""
    rig = make_rig(folder)
    rig.suite = rig.contest.suite = load_suite(SUITE)
    rig.note(Block(1, "started"))
    for name in finished:
        rig.note(Finished(1, name))
    rig.progress.go_on()
    return rig


def _said(rig: Rig, block: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr("dbversus.experiment.cell.block._run_group", lambda *_: None)
    run_cell(rig, Cell(block, tuple(case.name for case in rig.contest.all_cases)))
    return [record["words"] for record in records(rig, "remark")]


def test_a_pass_that_is_begun_again_is_told_with_what_counts_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = _interrupted(tmp_path, "more")
    assert _said(rig, 0, monkeypatch) == []
    (words,) = _said(rig, 1, monkeypatch)
    assert words.startswith(
        "the pass of block 2 was begun again on restored data, since it had been interrupted after more;"
    )
    assert "of more counts and was done again, uncounted" in words


def test_of_a_pass_without_a_finished_test_nothing_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (words,) = _said(_interrupted(tmp_path), 1, monkeypatch)
    assert words.endswith("since it had been interrupted before any of its tests was finished")


def test_slots_go_on_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = _interrupted(tmp_path)
    rig.suite = rig.contest.suite = load_suite("sysbench").select("point-query,update-index")
    assert _said(rig, 1, monkeypatch) == []


def test_every_other_block_deals_with_the_targets_the_other_way_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, seen = make_rig(tmp_path, targets=3), []
    monkeypatch.setattr("dbversus.experiment.cell.block._run_group", lambda rig, _: seen.append(rig.alive_names))
    for block in range(2):
        run_cell(rig, Cell(block, tuple(case.name for case in rig.contest.all_cases)))
    assert seen == [["t0", "t1", "t2"], ["t2", "t1", "t0"]]


def test_what_servers_hold_is_noted_once_they_have_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig, seen = make_rig(tmp_path, tests="point-query,update-index"), []
    place = "dbversus.experiment.cell.block."
    for name in ("settle_all", "note_phase"):
        monkeypatch.setattr(f"{place}{name}", lambda _, block, phase, name=name: seen.append((name, block, phase)))
    monkeypatch.setattr(f"{place}measure", lambda *_, **__: None)
    for name in ("start_block", "change_data", "check_on_data", "store_server_facts"):
        monkeypatch.setattr(f"{place}{name}", lambda *_: None)
    run_cell(rig, Cell(1, tuple(case.name for case in rig.contest.all_cases)))
    writes, reads = "write-heavy", "read-only after write-heavy"
    assert seen == [("note_phase", 1, writes), ("settle_all", 1, reads), ("note_phase", 1, reads)]
