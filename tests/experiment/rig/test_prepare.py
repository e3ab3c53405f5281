"""Loading through losses, into a home of the test's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

from dbversus.experiment.rig.prepare import load_all, snapshot_key
from dbversus.experiment.rig.session import Session, Target
from dbversus.servers.base import ServerConfig

from ..fakes import FakeEngine, FakeServer, gone, make_session, records, server_of


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
    assert all(target.out is None and target.snapshots["loaded"] for target in session.targets)


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


def _of_one_build(session: Session, *settings: Mapping[str, str]) -> None:
    for target, wanted in zip(session.targets, settings, strict=True):
        server = cast(FakeServer, target.server)
        server.build = target.build = session.base.build
        server.config = ServerConfig("", dict(wanted))


def _again(folder: Path, session: Session, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A second experiment with the same targets, in the same home."""
    (folder / "later").mkdir()
    later = _session(folder / "later", monkeypatch, [FakeEngine()])
    monkeypatch.setenv("DBVERSUS_HOME", str(folder / "home"))
    for old, new in zip(session.targets, later.targets, strict=True):
        new.build = old.build
        new.server.config = old.server.config
        cast(FakeServer, new.server).build = old.build
    return later


def test_what_acts_at_run_time_alone_shares_data_and_anything_else_loads_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = _session(tmp_path, monkeypatch, [FakeEngine()])
    _of_one_build(session, {"work_mem": "4MB"}, {"work_mem": "8MB"}, {"default_toast_compression": "lz4"})
    load_all(session)
    assert [server_of(session, target.name).created for target in session.targets] == [1, 0, 1]
    base, shared, own = session.targets
    assert base.snapshots == shared.snapshots != own.snapshots
    assert snapshot_key(session, own)["config"]["settings"] == {"default_toast_compression": "lz4"}


def _told(session: Session, target: Target) -> list[tuple[bool, str | None, bool]]:
    loads = [load for load in records(session, "load") if load["target"] == target.name and load["loaded_at"]]
    return [(load["earlier"], load.get("shares"), "figures" in load) for load in loads]


def test_a_load_is_the_figure_of_the_target_that_made_it_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = _session(tmp_path, monkeypatch, [FakeEngine()])
    _of_one_build(session, {"work_mem": "4MB"}, {"work_mem": "8MB"}, {"default_toast_compression": "lz4"})
    load_all(session)
    base, shared, own = session.targets
    assert _told(session, base) == _told(session, own) == [(False, None, True)] * 2
    assert _told(session, shared) == [(True, base.label, False)] * 2
    later = _again(tmp_path, session, monkeypatch)
    load_all(later)
    assert all(server_of(later, target.name).created == 0 for target in later.targets)
    assert _told(later, later.base) == [(True, None, True)] * 2
    assert _told(later, later.targets[1]) == [(True, base.label, False)] * 2
    made, found = (records(of, "load")[0]["loaded_at"] for of in (session, later))
    assert made == found


def test_a_load_with_other_run_time_settings_is_no_figure_of_the_target_by_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = _session(tmp_path, monkeypatch, [FakeEngine()])
    _of_one_build(session, {"shared_buffers": "4GB"}, {}, {})
    load_all(session)
    later = _again(tmp_path, session, monkeypatch)
    later.base.server.config = ServerConfig("", {"shared_buffers": "2GB"})
    load_all(later)
    assert _told(later, later.base) == [(True, session.base.label, False)] * 2
