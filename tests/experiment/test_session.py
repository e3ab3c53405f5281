from types import SimpleNamespace
from typing import Any, cast

import pytest

from dbversus.experiment.session import Session
from dbversus.servers.base import Placement


class _Engine:
    def __init__(self) -> None:
        self.told: dict[str, Any] = {}

    def call(self, _command: str, **fields: Any) -> None:
        self.told = fields


class _Server:
    def engine_target(self, name: str, _placement: Placement) -> dict[str, Any]:
        return {"name": name, "freeze": {"kind": "signal"}}


@pytest.mark.parametrize(("freeze", "kind"), [(True, "signal"), (False, "none")])
def test_servers_are_frozen_between_slots_unless_the_user_says_no(freeze: bool, kind: str) -> None:
    engine = _Engine()
    session = SimpleNamespace(spec=SimpleNamespace(freeze=freeze), engine=engine)
    target = SimpleNamespace(name="t0", server=_Server(), placement=Placement())
    Session.introduce(cast(Session, session), cast(Any, target))
    assert engine.told["freeze"] == {"kind": kind}
