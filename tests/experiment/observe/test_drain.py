"""Draining and its journal lines, with an engine that answers as told."""

import time
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from dbversus.experiment.observe.drain import drain, drain_replays, start_clocks_together
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.engine import EngineGone
from dbversus.experiment.rig.rig import Rig
from dbversus.results.records import AnyRecord


class _Rig:
    """As much of a rig as draining needs: `targets` maps names to whether they are processes."""

    def __init__(
        self,
        targets: dict[str, bool],
        *,
        gone: bool = False,
        undrained: bool = False,
        deferred_work_s: float = 0.0,
        **spec: Any,
    ):
        self.spec = SimpleNamespace(**{"drain_s": 2.0, "drain_idle_s": 0.2, "freeze": True} | spec)
        self.tag = {"group": "g1"}
        self.alive = [
            SimpleNamespace(name=name, server=_server(process, deferred_work_s)) for name, process in targets.items()
        ]
        self.engine = self
        self.gone, self.undrained = gone, undrained
        self.called: list[dict[str, Any]] = []
        self.noted: list[dict[str, Any]] = []
        self.renewed = 0

    def call(self, command: str, **fields: Any) -> dict[str, Any]:
        if self.gone:
            raise EngineGone("it was killed")
        self.called.append({"cmd": command, **fields})
        return {"id": 7, "done": True, "idle": True, "elapsed_ns": 1, "server_cpu_ns": 5, "background": {"purge": 3}}

    def freeze(self) -> None:
        self.called.append({"cmd": "freeze"})

    def thaw(self) -> None:
        self.called.append({"cmd": "thaw"})

    def renew_engine(self, message: str, **where: Any) -> None:
        self.renewed += 1

    def note(self, record: AnyRecord) -> None:
        self.noted.append(msgspec.to_builtins(record))


def _server(process: bool, deferred_work_s: float) -> Any:
    return SimpleNamespace(root_pid=11 if process else None, deferred_work_s=deferred_work_s, is_running=lambda: True)


def _case(changes_data: bool = True) -> Case:
    return cast(Case, SimpleNamespace(name="insert", test=SimpleNamespace(changes_data=changes_data)))


def _drain(rig: _Rig, case: Case | None = None) -> None:
    drain(_scene(rig, case))


def _scene(rig: _Rig, case: Case | None = None, replay: bool = False) -> Scene:
    return Scene(cast(Rig, rig), 3, case or _case(), replay, driven=Counter(t0=100, t1=200))


def _figures(ops: int, strikes: int = 1) -> dict[str, Any]:
    """What is noted of a server that answers as `_Rig.call` does."""
    sums = {"elapsed_ns": strikes, "server_cpu_ns": 5 * strikes, "background": {"purge": 3 * strikes}}
    return {"ops": ops, "idle": True, **sums}


def test_every_server_is_drained_and_charged_to_what_it_was_driven() -> None:
    rig = _Rig({"t0": True, "t1": True})
    _drain(rig)
    assert [call["target"] for call in rig.called] == ["t0", "t1"]
    assert {(call["idle_ms"], call["limit_ms"]) for call in rig.called} == {(200, 2000)}
    (noted,) = rig.noted
    assert (noted["type"], noted["block"], noted["test"], noted["group"]) == ("drain", 3, "insert", "g1")
    assert noted["targets"]["t1"] == _figures(ops=200)


def test_replays_are_drained_once_before_what_is_measured_and_not_journaled() -> None:
    rig = _Rig({"t0": True, "t1": True}, undrained=True)
    for _ in range(2):
        drain_replays(cast(Rig, rig))
    assert [call["cmd"] for call in rig.called] == ["freeze", "drain", "drain"] and not rig.noted


@pytest.mark.parametrize(
    ("rig", "case"),
    [
        (_Rig({"t0": True, "t1": True}, drain_s=0), _case()),
        (_Rig({"t0": True, "t1": True}), _case(changes_data=False)),
        (_Rig({"t0": True, "t1": True}, freeze=False), _case()),
        (_Rig({"t0": False, "t1": False}), _case()),
    ],
    ids=["switched off", "nothing changed", "not frozen", "embedded"],
)
def test_there_may_be_nothing_to_drain(rig: _Rig, case: Case) -> None:
    _drain(rig, case)
    assert not rig.called and not rig.noted


def test_a_target_alone_needs_no_freezing_and_limits_may_be_short() -> None:
    rig = _Rig({"t0": True}, freeze=False, drain_s=0.05)
    _drain(rig)
    assert [(call["idle_ms"], call["limit_ms"]) for call in rig.called] == [(50, 50)]


class _Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.now_s = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def test_clocks_of_frozen_servers_strike_twice_and_both_times_count(monkeypatch: pytest.MonkeyPatch) -> None:
    rig, clock = _Rig({"t0": True, "t1": True}, deferred_work_s=1.1), _Clock(monkeypatch)
    answer = rig.call
    let_go: list[tuple[str, float]] = []

    def takes_its_time(command: str, **fields: Any) -> dict[str, Any]:
        let_go.append((fields["target"], round(clock.now_s, 3)))
        clock.sleep(0.4)
        return answer(command, **fields)

    monkeypatch.setattr(rig, "call", takes_its_time)
    _drain(rig)
    # each has been frozen for 1.1 s then, both times
    assert let_go == [("t0", 1.1), ("t1", 1.5), ("t0", 2.6), ("t1", 3.0)]
    assert {call["idle_ms"] for call in rig.called} == {200}
    (noted,) = rig.noted
    assert noted["targets"]["t0"] == _figures(ops=100, strikes=2)


def test_of_a_server_that_is_gone_by_the_second_strike_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = _Rig({"t0": True, "t1": True}, deferred_work_s=1.1)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    rig.alive[1].server.is_running = lambda: len(rig.called) < 3
    _drain(rig)
    (noted,) = rig.noted
    assert noted["targets"] == {"t0": _figures(ops=100, strikes=2)}


def test_a_running_server_with_a_clock_has_to_be_idle_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it works meanwhile, unseen"))
    rig = _Rig({"t0": True}, freeze=False, deferred_work_s=1.1)
    _drain(rig)
    assert [call["idle_ms"] for call in rig.called] == [1100]


def test_clocks_strike_in_all_servers_at_once_before_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = _Rig({"t0": True, "t1": True, "embedded": False}, deferred_work_s=1.1)
    happened: list[Any] = rig.called
    monkeypatch.setattr(time, "sleep", happened.append)
    start_clocks_together(_scene(rig))
    assert happened[:3] == [{"cmd": "freeze"}, 1.1, {"cmd": "thaw"}]
    assert [(call["cmd"], call["target"]) for call in happened[3:]] == [("drain", "t0"), ("drain", "t1")]
    assert not rig.noted


@pytest.mark.parametrize(
    ("rig", "case", "replay"),
    [
        (_Rig({"t0": True, "t1": True}), _case(), False),
        (_Rig({"t0": True, "t1": True}, deferred_work_s=1.1), _case(changes_data=False), False),
        (_Rig({"t0": True, "t1": True}, deferred_work_s=1.1, freeze=False), _case(), False),
        (_Rig({"t0": True, "t1": True}, deferred_work_s=1.1), _case(), True),
    ],
    ids=["no clocks", "nothing to purge", "not frozen", "nothing to measure"],
)
def test_nobody_waits_for_clocks_that_make_no_difference(rig: _Rig, case: Case, replay: bool) -> None:
    start_clocks_together(_scene(rig, case, replay))
    assert not rig.called


def test_an_engine_that_is_gone_is_replaced_and_nothing_is_made_up() -> None:
    rig = _Rig({"t0": True, "t1": True}, gone=True)
    _drain(rig)
    assert rig.renewed == 1 and not rig.noted
