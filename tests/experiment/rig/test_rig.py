from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dbversus.experiment.asked.groups import Group
from dbversus.experiment.rig.engine import EngineRefused
from dbversus.experiment.rig.rig import GroupOut, Rig
from dbversus.servers.base import Placement

from ..fakes import FakeEngine, engine_of, gone, make_rig, server_of


class _Engine:
    def __init__(self) -> None:
        self.told: dict[str, Any] = {}

    def call(self, _command: str, **fields: Any) -> None:
        self.told = fields


class _Server:
    dbms = "postgres"

    def engine_target(self, name: str, _placement: Placement) -> dict[str, Any]:
        return {"name": name, "freeze": {"kind": "signal"}}


@pytest.mark.parametrize(("freeze", "kind"), [(True, "signal"), (False, "none")])
def test_servers_are_frozen_between_slots_unless_the_user_says_no(freeze: bool, kind: str) -> None:
    engine = _Engine()
    rig = SimpleNamespace(spec=SimpleNamespace(freeze=freeze), engine=engine)
    target = SimpleNamespace(name="t0", server=_Server(), placement=Placement())
    Rig.introduce_as(cast(Rig, rig), "t0", cast(Any, target))
    assert engine.told["freeze"] == {"kind": kind}


def test_what_the_engine_knew_by_a_name_is_replaced(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    rig.introduce(rig.by_name("t1"))
    assert engine_of(rig).known == {"t0", "t1"}


def test_the_engine_ends_before_servers_are_stopped_and_nothing_waits_for_it(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    engine, server = engine_of(rig), server_of(rig, "t1")
    asked = len(engine.calls)
    seen: list[bool] = []
    server.stop = lambda: seen.append(engine.closed)  # type: ignore[method-assign]
    rig.close()
    assert len(engine.calls) == asked and seen == [True]


def test_an_engine_lost_while_a_server_is_restarted_is_not_the_servers_fault(tmp_path: Path) -> None:
    engines = [FakeEngine(), FakeEngine()]
    rig = make_rig(tmp_path, targets=3, engines=engines)
    engines[0].failures["target"] = [gone()]
    rig.revive(rig.by_name("t1"), "it was gone", block=0)
    assert rig.by_name("t1").out is None and server_of(rig, "t1").starts == 1
    assert engines[1].known == {"t0", "t1", "t2"}


def test_a_server_that_died_with_the_engine_is_restarted(tmp_path: Path) -> None:
    engines = [FakeEngine(), FakeEngine()]
    rig = make_rig(tmp_path, targets=3, engines=engines)
    server = server_of(rig, "t1")
    server.root_pid, server.running = 4711, False
    engines[1].failures["target"] = [None, EngineRefused("usage", "`account`: process 4711: not found", "t1")]
    rig.renew_engine("The engine was killed.", block=0)
    assert server.starts == 1 and rig.by_name("t1").out is None
    assert engines[1].known == {"t0", "t1", "t2"}


def test_a_dead_end_is_told_with_the_reasons(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    assert not rig.dead_end
    rig.by_name("t1").out, rig.by_name("t2").out = "no libfoo", "no room"
    assert rig.dead_end.endswith("postgres:17: postgres:17#2: no libfoo; postgres:17#3: no room")
    rig.base.out = "disk full"
    assert "base postgres:17 is out" in rig.dead_end and rig.dead_end.endswith(": disk full")
    (tmp_path / "alone").mkdir()
    alone = make_rig(tmp_path / "alone", targets=1)
    alone.base.out = "no room"
    assert alone.dead_end == "postgres:17, the only target, is out: no room"


def test_a_group_whose_only_target_is_out_is_over_and_the_run_goes_on(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    with rig.only(Group(("t1",), {"solo": "t1"})):
        with pytest.raises(GroupOut, match="it went away"):
            rig.failure(rig.by_name("t1"), "start", "it went away", final=True)
        assert rig.alive == []
    assert rig.alive_names == ["t0", "t2"]
