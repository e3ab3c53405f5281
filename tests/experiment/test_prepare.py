"""Loading through losses, into a home of the test's own."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from dbversus.experiment.prepare import load_all
from dbversus.experiment.session import Session

from .fakes import FakeEngine, gone, make_session, records, server_of


def _session(folder: Path, monkeypatch: pytest.MonkeyPatch, engines: Sequence[FakeEngine]) -> Session:
    monkeypatch.setenv("DBVERSUS_HOME", str(folder / "home"))
    session = make_session(folder, targets=3, engines=engines, tables=2)
    for target in session.targets:
        session.remove(target)
    return session


def test_a_load_that_lost_the_engine_is_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engines = [FakeEngine(), FakeEngine()]
    session = _session(tmp_path, monkeypatch, engines)
    engines[0].failures["load"] = [None, None, None, gone()]  # the second table of t1
    load_all(session)
    assert [server_of(session, name).created for name in ("t0", "t1", "t2")] == [1, 2, 1]
    loads = [(load["target"], load["table"]) for load in records(session, "load")]
    assert loads == [(name, table) for name in ("t0", "t1", "t2") for table in ("sbtest1", "sbtest2")]
    assert all(target.out is None and target.snapshot for target in session.targets)


def test_who_loses_the_engine_again_is_out_and_the_next_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = [FakeEngine(), FakeEngine()]
    session = _session(tmp_path, monkeypatch, engines)
    engines[0].failures["load"] = [None, None, gone()]
    engines[1].failures["load"] = [gone()]
    load_all(session)
    assert [target.name for target in session.in_run] == ["t0", "t2"]
    assert {load["target"] for load in records(session, "load")} == {"t0", "t2"}
    (failure,) = [failure for failure in records(session, "failure") if failure["target"]]
    assert (failure["target"], failure["stage"], failure["final"]) == ("t1", "load", True)
