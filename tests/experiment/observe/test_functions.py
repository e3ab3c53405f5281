"""Samples are put to targets and slots; what is between slots, or of a target that should be frozen, is left out."""

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from dbversus.experiment.observe import functions
from dbversus.experiment.observe.functions import Functions, Sampled, Slots, in_slots
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.rig import Rig
from dbversus.profiling.perf import Perf, Stacks
from dbversus.profiling.script import Sample

PIECES = {"t0": [(100, 50), (300, 50)], "t1": [(200, 50)]}
OWNER = {10: "t0", 20: "t1"}


def _is_of(pid: int, name: str) -> bool:
    return OWNER.get(pid, name) == name


@pytest.mark.parametrize(
    ("pid", "at_ns", "target"),
    [
        (10, 100, "t0"),
        (10, 149, "t0"),
        (10, 150, None),  # its slot is over
        (10, 99, None),  # its warm-up
        (10, 210, None),  # the other's slot
        (20, 210, "t1"),
        (77, 210, "t1"),  # the engine with a library in it, or a process that was started since
        (77, 260, None),
        (10, 349, "t0"),
    ],
)
def test_a_sample_is_of_the_target_whose_slot_it_is_in(pid: int, at_ns: int, target: str | None) -> None:
    assert [name for name, _ in in_slots([Sample(pid, at_ns, 1, ("main",))], Slots(PIECES), _is_of)] == [target]


def test_what_the_engine_does_in_a_slot_of_a_server_is_not_the_servers() -> None:
    """A library beside a server: the engine with the one in it drives the other, too."""
    servers = {"t0": None, "t1": 20}
    build = SimpleNamespace(prefix="/x/libsqlite3.so")
    alive = [
        SimpleNamespace(name=name, server=SimpleNamespace(root_pid=pid, build=build)) for name, pid in servers.items()
    ]
    observer = Functions(Scene(cast(Rig, SimpleNamespace(alive=alive)), 0, cast(Case, SimpleNamespace(name="scan"))))
    observer._owner, observer._engine_tasks = {20: "t1"}, {7}
    samples = [Sample(7, 110, 1, ("step",)), Sample(7, 210, 1, ("send",)), Sample(20, 211, 1, ("run",))]
    found = in_slots(samples, Slots(PIECES), observer._is_of)
    assert [name for name, _ in found] == ["t0", None, "t1"]


def test_without_slots_every_sample_is_left_out() -> None:
    sampled = Sampled()
    sampled.take(in_slots([Sample(10, 5, 1, ("main",))], Slots({}), _is_of))
    assert (sampled.left_out, sampled.folded) == (1, {})


def test_the_library_of_an_embedded_target_is_its_server() -> None:
    sampled = Sampled({"t1": "b"})
    stack = ("main", "step [b]")
    sampled.take([("t0", Sample(1, 5, 1, stack)), ("t1", Sample(1, 9, 2, stack))])
    assert sampled.folded == {"t0": {stack: 1}, "t1": {("main", "step"): 2}}


class _Recording:
    """A perf that has recorded two samples of each target, and one in a warm-up."""

    def __init__(self, *asked: Any):
        self.asked = asked

    def end(self) -> None: ...
    def remove(self) -> None: ...

    def samples(self) -> list[Sample]:
        moments = ((10, 110), (10, 310), (20, 220), (20, 221), (10, 90))
        return [Sample(pid, at_ns, 1_000_000, ("main", "run")) for pid, at_ns in moments]


@pytest.mark.parametrize(
    ("event", "user_ns", "folded"),
    [
        ("cpu-clock", 5_000_000, "main;run 2000000\n"),
        ("cpu-clock:u", 5_000_000, "[kernel] 1600000\nmain;run 2000000\n"),
        ("cpu-clock:u", None, "main;run 2000000\n"),
    ],
)
def test_a_profile_is_journaled_with_its_files_and_with_the_part_of_the_kernel_where_that_may_not_be_seen(
    event: str, user_ns: int | None, folded: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(functions, "_perf_here", lambda: Perf("perf", event, unwinds=True))
    monkeypatch.setattr(functions, "Recording", _Recording)
    monkeypatch.setattr(functions, "descendants", lambda _: [])
    monkeypatch.setattr(functions, "program_of", lambda _: "/nowhere")
    noted: list[dict[str, Any]] = []
    alive = [SimpleNamespace(name=name, server=SimpleNamespace(root_pid=pid)) for pid, name in OWNER.items()]
    rig = SimpleNamespace(alive=alive, folder=tmp_path, tag={}, note=lambda one: noted.append(msgspec.to_builtins(one)))
    observer = Functions(Scene(cast(Rig, rig), 2, cast(Case, SimpleNamespace(name="scan"))))
    observer.begin()
    observer.rows_begin()
    slots = [{"target": name, "ops": 4, "server_cpu_ns": 9_000_000, "server_user_ns": user_ns} for name in PIECES]
    observer.row({"slots": slots})
    observer.rows_told({"series": [{"target": name, "pieces": pieces} for name, pieces in PIECES.items()]})
    observer.rows_end()
    observer.end()
    files = {name: tmp_path / f"profiles/scan@{name}.2.folded" for name in PIECES}
    assert all(file.read_text() == folded for file in files.values())
    (record,) = noted
    assert (record["event"], record["stacks"], record["block"]) == (event, str(Stacks.UNWIND_TABLES), 2)
    assert record["targets"]["t0"] == {
        "file": "profiles/scan@t0.2.folded",
        "sha256": hashlib.sha256(files["t0"].read_bytes()).hexdigest(),
        "samples": 2,
        "left_out": 1,
        "ops": 4,
        "cpu_ns": 9_000_000,
    }
