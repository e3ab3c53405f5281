"""Figures of objects over a test, at its end and when a phase begins, from servers that answer as they are told to."""

from collections.abc import Callable
from pathlib import Path

from dbversus.errors import RunError
from dbversus.experiment.cell.case import measure
from dbversus.experiment.observe.objects import note_phase
from dbversus.experiment.rig.rig import Rig
from dbversus.servers.objects import Moment, ObjectFigure, ObjectFigures

from ..fakes import case_of, engine_of, make_rig, records

ENTRIES = ObjectFigure("index", "t.k", "read_rows")
SIZE = ObjectFigure("index", "t.k", "size_bytes")
CACHED = ObjectFigure("index", "t.k", "cached_bytes")
ASKING = 3


def _measured(rig: Rig, block: int = 0, test: str = "point-query") -> None:
    with rig.only(rig.contest.turns(block)[0]):
        measure(rig, block, case_of(rig, test))


def _driven(rig: Rig, name: str) -> int:
    engine = engine_of(rig)
    checked: int = sum(fields["events"] for fields in engine.asked("check"))
    slots: int = sum(
        order.count(name) * (1 + fields["slot"].get("ops", 100))
        for fields in engine.asked("rows")
        for order in fields["orders"]
    )
    return checked + slots


def _objects(rig: Rig, name: str) -> Callable[[Moment], ObjectFigures]:
    """An index of which each operation reads two rows, and asking some more."""
    asked = 0

    def objects(moment: Moment) -> ObjectFigures:
        nonlocal asked
        if moment == "end":
            return ObjectFigures({SIZE: 8192.0})
        if moment == "first":
            return ObjectFigures({CACHED: 4096.0}, {"pool": "it is large"})
        asked += 1
        return ObjectFigures({ENTRIES: 2.0 * _driven(rig, name) + ASKING * asked}, {"buffers": "there are none"})

    return objects


def _rig(folder: Path, tests: str = "point-query") -> Rig:
    rig = make_rig(folder, tests=tests)
    for target in rig.targets:
        target.server.objects = _objects(rig, target.name)  # type: ignore[assignment,method-assign]
    return rig


def test_what_rises_is_of_the_operations_alone(tmp_path: Path) -> None:
    rig = _rig(tmp_path)
    for block in range(2):
        _measured(rig, block)
    rises = [record for record in records(rig, "objects") if "rise" in record]
    assert [record["block"] for record in rises] == [0, 1]
    for record in rises:
        for name in ("t0", "t1"):
            assert record["rise"][name] == {"index": {"t.k": {"read_rows": 2.0 * record["spanned_ops"][name]}}}
        assert record["lacking"]["t0"] == {"buffers": "there are none"}


def test_the_state_after_changes_has_the_debt_with_it(tmp_path: Path) -> None:
    rig = _rig(tmp_path, "update-index,point-query")
    rig.by_name("t1").server.debt = lambda: {"dead_rows": 4, "dirty_buffers": 0}  # type: ignore[method-assign]
    _measured(rig, test="update-index")
    _measured(rig)
    changed, read = [record["at_end"] for record in records(rig, "objects") if "at_end" in record]
    assert changed["t0"] == {"index": {"t.k": {"size_bytes": 8192.0, "cached_bytes": 4096.0}}}
    assert changed["t1"] == {**changed["t0"], "server": {"debt": {"dead_rows": 4.0}}}
    assert read == {"t0": changed["t0"], "t1": changed["t0"]}


def test_what_takes_long_to_ask_is_asked_in_the_first_block(tmp_path: Path) -> None:
    rig = _rig(tmp_path)
    for block in range(2):
        _measured(rig, block)
    first, second = [record for record in records(rig, "objects") if "at_end" in record]
    assert first["at_end"]["t0"] == {"index": {"t.k": {"size_bytes": 8192.0, "cached_bytes": 4096.0}}}
    assert first["lacking"]["t0"] == {"pool": "it is large"}
    assert second["at_end"]["t0"] == {"index": {"t.k": {"size_bytes": 8192.0}}} and "lacking" not in second


def test_a_server_that_gives_nothing_at_the_end_leaves_the_others(tmp_path: Path) -> None:
    rig = _rig(tmp_path, "update-index")

    def refuse() -> dict[str, int]:
        raise RunError("it does not say")

    rig.by_name("t1").server.debt = refuse  # type: ignore[method-assign]
    _measured(rig, test="update-index")
    (held,) = [record["at_end"] for record in records(rig, "objects") if "at_end" in record]
    assert held.keys() == {"t0"}


def test_an_object_that_was_made_anew_counts_from_then_on(tmp_path: Path) -> None:
    rig = _rig(tmp_path)
    readings = iter([900.0, 900.0, 900.0, 40.0])
    rig.by_name("t0").server.objects = (  # type: ignore[method-assign]
        lambda moment: ObjectFigures({ENTRIES: next(readings)} if moment == "rise" else {})
    )
    _measured(rig)
    (record,) = [record for record in records(rig, "objects") if "rise" in record]
    assert record["rise"]["t0"] == {"index": {"t.k": {"read_rows": 40.0}}}


def test_a_phase_begins_with_levels_and_debt_of_those_that_tell(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    first, second, third = (rig.by_name(name).server for name in ("t0", "t1", "t2"))
    level = ObjectFigure("level", "default.L0", "files")
    first.objects = lambda moment: ObjectFigures({level: 3.0} if moment == "phase" else {})  # type: ignore[method-assign]
    first.debt = lambda: {"l0_files": 3, "memtable_bytes": 0}  # type: ignore[method-assign]

    def refuse() -> dict[str, int]:
        raise RunError("it does not say")

    third.debt = refuse  # type: ignore[method-assign]
    with rig.only(rig.contest.turns(1)[0]):
        note_phase(rig, 1, "reads")
    (record,) = records(rig, "phase")
    held = {"level": {"default.L0": {"files": 3.0}}, "server": {"debt": {"l0_files": 3.0}}}
    assert (record["block"], record["phase"]) == (1, "reads")
    assert record["targets"] == {"t0": held, "t1": {}} and not second.debt()
