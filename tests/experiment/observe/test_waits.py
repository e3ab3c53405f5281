"""Waits are put to slots by their parts, of the threads that serve a target's clients; the rest of the time is that on a CPU."""

import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from dbversus.errors import RunError
from dbversus.experiment.observe import functions, waits
from dbversus.experiment.observe.functions import Slots
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.observe.waits import Lengths, Waits
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.rig import Rig
from dbversus.profiling.perf import SWITCHES, Perf
from dbversus.profiling.symbols import UNKNOWN
from dbversus.profiling.waits import Wait

PIECES = {"t0": [(100, 50), (300, 50)], "t1": [(200, 50)]}
STACK = ("XLogWrite", "[kernel] fdatasync")


@pytest.mark.parametrize(
    ("began", "ended", "parts"),
    [
        (110, 120, [("t0", 10)]),
        (90, 110, [("t0", 10)]),
        (140, 310, [("t0", 10), ("t1", 50), ("t0", 10)]),
        (150, 199, []),
        (0, 90, []),
        (340, 900, [("t0", 10)]),
    ],
)
def test_a_span_has_its_part_of_each_slot(began: int, ended: int, parts: list[tuple[str, int]]) -> None:
    assert [one for one in Slots(PIECES).during(began, ended) if one[1]] == parts
    assert list(Slots({}).during(began, ended)) == []


class _Recording:
    """Waits of a thread that serves t0, over its two slots, and of t1's."""

    asked: tuple[Any, ...] = ()

    def __init__(self, *asked: Any):
        _Recording.asked = asked

    def end(self) -> None: ...
    def remove(self) -> None: ...

    def waits(self) -> list[Wait]:
        return [
            Wait(11, 140, 310, preempted=False, stack=STACK),
            Wait(11, 330, 350, preempted=False),  # not sampled
            Wait(21, 200, 205, preempted=True, stack=STACK),
        ]


def test_waits_that_were_not_sampled_are_told_as_those_of_about_their_length() -> None:
    lengths = Lengths()
    for length_ns, stack in ((1000, ("short", "[kernel] poll")), (10**6, ("long", "[kernel] fdatasync"))):
        lengths.add(Wait(1, 0, 0, preempted=False, stack=stack), length_ns, None)
    for length_ns in (900, 900, 10**6, 10**9):
        lengths.add(Wait(1, 0, 0, preempted=False), length_ns, None)
    assert lengths.sampled == 2
    assert lengths.by_stack() == {
        ("short", "poll in short"): 2800,
        ("long", "fdatasync in long"): 2 * 10**6 + 10**9,
    }
    alone = Lengths()
    alone.add(Wait(1, 0, 0, preempted=False), 7, None)
    assert alone.by_stack() == {(UNKNOWN,): 7}


@pytest.fixture
def serving() -> dict[str, list[int]]:
    return {"t0": [11], "t1": [21]}


@pytest.fixture
def remarks() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def noted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, serving: dict[str, list[int]], remarks: list[tuple[str, str]]
) -> list[dict[str, Any]]:
    """What is journaled of one row on two servers, each with a thread of its own for the client."""
    monkeypatch.setattr(waits, "_switches_here", lambda: Perf("perf", SWITCHES, unwinds=True))
    monkeypatch.setattr(functions, "Recording", _Recording)
    monkeypatch.setattr(functions, "program_of", lambda _: "/nowhere")
    found: list[dict[str, Any]] = []
    alive = [SimpleNamespace(name=name, server=SimpleNamespace(root_pid=pid)) for name, pid in (("t0", 10), ("t1", 20))]
    rig = SimpleNamespace(
        alive=alive,
        folder=tmp_path,
        tag={},
        serving=serving,
        remark=lambda words, target=None: remarks.append((words, target.name if target else "")),
        spec=SimpleNamespace(tables=1),
        note=lambda one: found.append(msgspec.to_builtins(one)),
    )
    case = SimpleNamespace(name="update", connections=lambda _: 1)
    observer = Waits(Scene(cast(Rig, rig), 0, cast(Case, case)))
    observer.begin()
    observer.rows_begin()
    observer.row(
        {"slots": [{"target": "t0", "ops": 4, "elapsed_ns": 100}, {"target": "t1", "ops": 2, "elapsed_ns": 50}]}
    )
    observer.rows_told({"series": [{"target": name, "pieces": pieces} for name, pieces in PIECES.items()]})
    observer.rows_end()
    observer.end()
    return found


def test_the_time_of_operations_is_what_they_wait_for_and_what_is_left(
    noted: list[dict[str, Any]], tmp_path: Path
) -> None:
    (record,) = noted
    assert (record["event"], _Recording.asked[1]) == (SWITCHES, [11, 21])
    files = {name: (tmp_path / one["file"]).read_text() for name, one in record["targets"].items()}
    assert files["t0"] == "XLogWrite;fdatasync in XLogWrite 40\non a CPU 60\n"
    assert files["t1"] == "XLogWrite;run queue 5\non a CPU 45\n"
    assert {name: one["cpu_ns"] for name, one in record["targets"].items()} == {"t0": 100, "t1": 50}


@pytest.mark.parametrize("serving", [{"t0": [11], "t1": []}])
def test_of_a_server_whose_threads_serve_anybody_nothing_is_recorded_and_it_is_said(
    noted: list[dict[str, Any]], remarks: list[tuple[str, str]]
) -> None:
    assert set(noted[0]["targets"]) == {"t0"} and _Recording.asked[1] == [11]
    assert remarks == [("which of its threads serve clients is unknown, so no waits are recorded", "t1")]


class _Refused(_Recording):
    def waits(self) -> list[Wait]:
        raise RunError("The kernel does not tell.")


def test_a_kernel_that_tells_nothing_ends_no_experiment(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, remarks: list[tuple[str, str]]
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "_Recording", _Refused)
    assert request.getfixturevalue("noted") == [] and remarks == [("The kernel does not tell.", "")]


def test_the_client_threads_of_an_engine_are_found_by_name() -> None:
    named, done = threading.Event(), threading.Event()

    def run() -> None:
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text("client")
        named.set()
        done.wait()

    thread = threading.Thread(target=run)
    thread.start()
    named.wait()
    try:
        assert list(waits._client_threads(os.getpid())) == [thread.native_id]
    finally:
        done.set()
        thread.join()
