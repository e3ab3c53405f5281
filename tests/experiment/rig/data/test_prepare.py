"""Loading through losses, into a home of the test's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

from dbversus.experiment.rig.data.prepare import load_all, make_empty, snapshot_key
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.servers.base import ServerConfig
from dbversus.suites.assembly.judged_load import with_judged_load

from ...fakes import FakeEngine, FakeServer, engine_of, gone, make_rig, records, server_of


def _rig(folder: Path, monkeypatch: pytest.MonkeyPatch, engines: Sequence[FakeEngine]) -> Rig:
    monkeypatch.setenv("DBVERSUS_HOME", str(folder / "home"))
    rig = make_rig(folder, targets=3, engines=engines, tables=2)
    for target in rig.targets:
        rig.remove(target)
    return rig


def test_a_load_that_lost_the_engine_is_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engines = [FakeEngine(), FakeEngine()]
    rig = _rig(tmp_path, monkeypatch, engines)
    engines[0].failures["load"] = [None, None, None, gone()]  # the second table of t1
    load_all(rig)
    assert [server_of(rig, name).created for name in ("t0", "t1", "t2")] == [1, 2, 1]
    loads = [(load["target"], load["table"]) for load in records(rig, "load")]
    assert loads == [(name, table) for name in ("t0", "t1", "t2") for table in ("sbtest1", "sbtest2")]
    assert all(target.out is None and target.snapshots["loaded"] for target in rig.targets)


def test_who_loses_the_engine_again_is_out_and_the_next_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = [FakeEngine(), FakeEngine()]
    rig = _rig(tmp_path, monkeypatch, engines)
    engines[0].failures["load"] = [None, None, gone()]
    engines[1].failures["load"] = [gone()]
    load_all(rig)
    assert [target.name for target in rig.in_run] == ["t0", "t2"]
    assert {load["target"] for load in records(rig, "load")} == {"t0", "t2"}
    (failure,) = [failure for failure in records(rig, "failure") if failure["target"]]
    assert (failure["target"], failure["stage"], failure["final"]) == ("t1", "load", True)


def _of_one_build(rig: Rig, *settings: Mapping[str, str]) -> None:
    for target, wanted in zip(rig.targets, settings, strict=True):
        server = cast(FakeServer, target.server)
        server.build = target.build = rig.base.build
        server.config = ServerConfig("", dict(wanted))


def _again(folder: Path, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Rig:
    """A second experiment with the same targets, in the same home."""
    (folder / "later").mkdir()
    later = _rig(folder / "later", monkeypatch, [FakeEngine()])
    monkeypatch.setenv("DBVERSUS_HOME", str(folder / "home"))
    for old, new in zip(rig.targets, later.targets, strict=True):
        new.build = old.build
        new.server.config = old.server.config
        cast(FakeServer, new.server).build = old.build
    return later


def test_what_acts_at_run_time_alone_shares_data_and_anything_else_loads_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = _rig(tmp_path, monkeypatch, [FakeEngine()])
    _of_one_build(rig, {"work_mem": "4MB"}, {"work_mem": "8MB"}, {"default_toast_compression": "lz4"})
    load_all(rig)
    assert [server_of(rig, target.name).created for target in rig.targets] == [1, 0, 1]
    base, shared, own = rig.targets
    assert base.snapshots == shared.snapshots != own.snapshots
    assert snapshot_key(rig, own)["config"]["settings"] == {"default_toast_compression": "lz4"}


def _told(rig: Rig, target: Target) -> list[tuple[bool, str | None, bool]]:
    loads = [load for load in records(rig, "load") if load["target"] == target.name and load["loaded_at"]]
    return [(load["earlier"], load.get("shares"), "figures" in load) for load in loads]


def test_a_load_is_the_figure_of_the_target_that_made_it_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = _rig(tmp_path, monkeypatch, [FakeEngine()])
    _of_one_build(rig, {"work_mem": "4MB"}, {"work_mem": "8MB"}, {"default_toast_compression": "lz4"})
    load_all(rig)
    base, shared, own = rig.targets
    assert _told(rig, base) == _told(rig, own) == [(False, None, True)] * 2
    assert _told(rig, shared) == [(True, base.label, False)] * 2
    later = _again(tmp_path, rig, monkeypatch)
    load_all(later)
    assert all(server_of(later, target.name).created == 0 for target in later.targets)
    assert _told(later, later.base) == [(True, None, True)] * 2
    assert _told(later, later.targets[1]) == [(True, base.label, False)] * 2
    made, found = (records(of, "load")[0]["loaded_at"] for of in (rig, later))
    assert made == found


def test_a_load_with_other_run_time_settings_is_no_figure_of_the_target_by_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = _rig(tmp_path, monkeypatch, [FakeEngine()])
    _of_one_build(rig, {"shared_buffers": "4GB"}, {}, {})
    load_all(rig)
    later = _again(tmp_path, rig, monkeypatch)
    later.base.server.config = ServerConfig("", {"shared_buffers": "2GB"})
    load_all(later)
    assert _told(later, later.base) == [(True, rig.base.label, False)] * 2


def test_tables_without_rows_are_kept_once_for_all_sizes_where_the_load_is_a_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = _rig(tmp_path, monkeypatch, [FakeEngine()])
    make_empty(rig)
    assert not any("empty" in target.snapshots for target in rig.targets)
    rig.suite = rig.contest.suite = with_judged_load(rig.suite, 1000, 2)
    kept = []
    for size in (1000, 2000):
        with rig.sized(size):
            make_empty(rig)
            kept.append([target.snapshots["empty"] for target in rig.targets])
    assert kept[0] == kept[1] and [server_of(rig, name).created for name in ("t0", "t1", "t2")] == [1, 1, 1]
    tables = [asked["table"] for asked in engine_of(rig).asked("load")]
    assert {(table["rows"], tuple(table["after"])) for table in tables} == {(0, ())} and not records(rig, "load")
