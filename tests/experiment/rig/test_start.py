"""How a block begins."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.experiment.rig import start
from dbversus.experiment.rig.start import launch_together, start_block, warm_together
from dbversus.servers.base import Placement

from ..fakes import FakeServer, engine_of, gone, make_rig, records, server_of

PATIENCE_S = 10


def _warmed_by(server: FakeServer, action: Callable[[], None], *, served: bool = True) -> None:
    def warm(tables: Sequence[str]) -> None:
        action()

    server.root_pid = 4711 if served else None
    server.warm = warm  # type: ignore[method-assign]


def _started_by(server: FakeServer, action: Callable[[], None]) -> None:
    def begin(placement: Placement) -> None:
        server.starts += 1
        action()
        server.running = True

    server.running = False
    server.start = begin  # type: ignore[method-assign]


def _meeting(parties: int) -> Callable[[], None]:
    """What fails unless so many do it at the same time."""
    together = threading.Barrier(parties)

    def meet() -> None:
        together.wait(PATIENCE_S)

    return meet


@contextmanager
def ctrl_c_after(under_way: threading.Barrier) -> Iterator[None]:
    """Presses Ctrl-C once all others are at the barrier."""

    def press() -> None:
        under_way.wait(PATIENCE_S)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    presser = threading.Thread(target=press)
    presser.start()
    try:
        yield
    finally:
        presser.join()
        signal.signal(signal.SIGINT, before)


def test_servers_are_started_at_the_same_time(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    meet = _meeting(3)
    for target in rig.targets:
        _started_by(server_of(rig, target.name), meet)
    launched = launch_together(rig)
    assert [launched[target.name].result() for target in rig.targets] == [None] * 3


def test_what_runs_already_and_what_is_embedded_is_not_started_with_the_others(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    for name in ("t1", "t2"):
        _started_by(server_of(rig, name), lambda: None)
    server_of(rig, "t2").dbms = "sqlite"
    assert set(launch_together(rig)) == {"t1"}
    assert [server_of(rig, name).starts for name in ("t0", "t1", "t2")] == [0, 1, 0]


def test_a_server_that_does_not_start_is_out_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RunError("t1 did not start: no memory")

    for step in ("restore", "limit_memory", "check_state"):
        monkeypatch.setattr(start, step, lambda *words: None)
    rig = make_rig(tmp_path, targets=3)
    for name in ("t0", "t2"):
        _started_by(server_of(rig, name), lambda: None)
    _started_by(server_of(rig, "t1"), fail)
    start_block(rig, 0, "loaded")
    assert [target.name for target in rig.alive] == ["t0", "t2"]
    assert [server_of(rig, name).starts for name in ("t0", "t1", "t2")] == [1, 1, 1]
    (failure,) = records(rig, "failure")
    assert (failure["target"], failure["stage"], failure["final"]) == ("t1", "start", True)
    assert failure["message"].startswith("t1 did not start: no memory")


def test_ctrl_c_ends_servers_that_are_being_started(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    ended, under_way = {name: threading.Event() for name in ("t0", "t1")}, threading.Barrier(3)

    for name, end in ended.items():

        def begin(end: threading.Event = end) -> None:
            under_way.wait(PATIENCE_S)
            assert end.wait(PATIENCE_S)

        _started_by(server_of(rig, name), begin)
        server_of(rig, name).kill = end.set  # type: ignore[method-assign]
    with ctrl_c_after(under_way), pytest.raises(KeyboardInterrupt):
        launch_together(rig)
    assert all(end.is_set() for end in ended.values())


def test_servers_fill_their_memory_at_the_same_time(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    meet = _meeting(3)
    for target in rig.targets:
        _warmed_by(server_of(rig, target.name), meet)
    warm_together(rig, 0)
    assert rig.alive == rig.targets


@pytest.mark.parametrize(("block", "order"), [(0, ["t0", "t1", "t2"]), (1, ["t2", "t1", "t0"])])
def test_embedded_databases_have_their_turns(tmp_path: Path, block: int, order: list[str]) -> None:
    rig = make_rig(tmp_path, targets=3)
    rig.block = block
    seen: list[str] = []
    for name in ("t0", "t1", "t2"):
        _warmed_by(server_of(rig, name), lambda name=name: seen.append(name), served=False)  # type: ignore[misc]
    warm_together(rig, block)
    assert seen == order


def test_a_server_that_cannot_be_warmed_is_out_and_the_others_go_on(tmp_path: Path) -> None:
    def fail() -> None:
        raise RunError("t1 went away")

    rig = make_rig(tmp_path, targets=3)
    for name in ("t0", "t2"):
        _warmed_by(server_of(rig, name), lambda: None)
    _warmed_by(server_of(rig, "t1"), fail)
    warm_together(rig, 0)
    assert [target.name for target in rig.alive] == ["t0", "t2"]
    failures = records(rig, "failure")
    assert {(one["target"], one["stage"]) for one in failures} == {("t1", "start")}
    assert [one["final"] for one in failures] == [False, True]
    assert failures[-1]["message"] == "t1 went away"


def test_a_server_that_is_lost_while_it_is_warmed_is_started_again(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    losses, warmed = [RunError("t1 went away")], []

    def warm() -> None:
        if losses:
            raise losses.pop()
        warmed.append("t1")

    for name in ("t0", "t2"):
        _warmed_by(server_of(rig, name), lambda: None)
    _warmed_by(server_of(rig, "t1"), warm)
    warm_together(rig, 0)
    assert rig.alive == rig.targets and warmed == ["t1"] and server_of(rig, "t1").starts == 1
    assert [(one["target"], one["final"]) for one in records(rig, "failure")] == [("t1", False)]


def test_ctrl_c_does_not_wait_for_servers_that_are_being_warmed(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    stopped, under_way = threading.Event(), threading.Barrier(3)

    def warm() -> None:
        under_way.wait(PATIENCE_S)
        assert stopped.wait(PATIENCE_S)

    for name in ("t0", "t1"):
        _warmed_by(server_of(rig, name), warm)
    with ctrl_c_after(under_way), pytest.raises(KeyboardInterrupt):
        warm_together(rig, 0)
    assert not stopped.is_set() and not records(rig, "failure")
    stopped.set()


def test_an_engine_lost_while_an_embedded_database_is_warmed_is_replaced(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    losses = [gone()]
    first = engine_of(rig)

    def warm() -> None:
        if losses:
            raise losses.pop()

    for name in ("t0", "t1"):
        _warmed_by(server_of(rig, name), warm, served=False)
    warm_together(rig, 0)
    assert first.closed and len(rig.alive) == 2
