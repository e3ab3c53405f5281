"""Aged data: made once from what was loaded, the same on every target, and put in place where the suite asks for it."""

from pathlib import Path

import pytest

from dbversus.experiment.cell.block import run_cell
from dbversus.experiment.plan.agenda import Cell
from dbversus.experiment.rig.data.aging import age_all
from dbversus.experiment.rig.data.prepare import load_all
from dbversus.experiment.rig.rig import Rig

from ...fakes import FakeEngine, engine_of, gone, make_rig, records, server_of

BOTH = "point-query.pre,update-index"


def _loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tests: str = BOTH, engines: tuple[FakeEngine, ...] = ()
) -> Rig:
    monkeypatch.setenv("DBVERSUS_HOME", str(folder / "home"))
    rig = make_rig(folder, tests=tests, engines=engines)
    for target in rig.targets:
        rig.remove(target)
    load_all(rig)
    return rig


def test_every_target_is_aged_by_the_same_operations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = _loaded(tmp_path, monkeypatch)
    age_all(rig)
    asked = engine_of(rig).asked("rows")
    assert [(rows["orders"], rows["first_row"], rows["slot"]) for rows in asked] == [
        ([[name]], number, {"ops": 5}) for name in ("t0", "t1") for number in range(4)
    ]
    assert all(target.snapshots["aged"] != target.snapshots["loaded"] for target in rig.targets)
    # rows leave their target frozen, and a frozen server cannot settle
    after = [name for name, _ in engine_of(rig).calls[engine_of(rig).calls.index(("rows", asked[0])) + 1 :]]
    assert after[0] == "thaw"


def test_what_was_aged_once_is_not_aged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    age_all(_loaded(tmp_path, monkeypatch))
    again = _loaded(tmp_path, monkeypatch)
    age_all(again)
    assert engine_of(again).asked("rows") == [] and "aged" in again.base.snapshots


def test_a_suite_without_aged_phases_ages_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = _loaded(tmp_path, monkeypatch, "point-query.pre")
    age_all(rig)
    assert "aged" not in rig.base.snapshots


def test_an_aging_that_lost_the_engine_is_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engines = FakeEngine(), FakeEngine()
    rig = _loaded(tmp_path, monkeypatch, engines=engines)
    engines[0].failures["rows"] = [None, gone()]
    age_all(rig)
    assert [rows["first_row"] for rows in engines[1].asked("rows")] == [0, 1, 2, 3] * 2
    assert all(target.out is None for target in rig.targets)


def test_a_target_whose_aging_is_refused_is_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = _loaded(tmp_path, monkeypatch, tests=BOTH)
    engine_of(rig).stops = [{"row": 0, "target": "t0", "kind": "server", "message": "k is no column"}]
    with pytest.raises(Exception, match="its data could not be aged: k is no column"):
        age_all(rig)


def test_servers_start_anew_on_aged_data_in_the_midst_of_a_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = _loaded(tmp_path, monkeypatch)
    age_all(rig)
    starts = server_of(rig, "t1").starts
    run_cell(rig, Cell(1, tuple(rig.contest.undecided)))
    assert server_of(rig, "t1").starts == starts + 2
    assert [state["data"] for state in records(rig, "state")] == ["loaded", "aged"]


def test_a_block_without_reads_before_begins_on_aged_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = _loaded(tmp_path, monkeypatch)
    age_all(rig)
    rig.progress.looks[1] = ["point-query.pre"]
    run_cell(rig, Cell(1, tuple(rig.contest.undecided)))
    assert [state["data"] for state in records(rig, "state")] == ["aged"]
