"""What the servers' counters are divided by, with servers that count all that a made-up engine asks of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.experiment.cell.case import measure
from dbversus.experiment.rig.rig import Rig

from ..fakes import FakeEngine, case_of, engine_of, gone, make_rig, records, server_of

PREPARED = 3
READING = 11


def _counting(rig: Rig, name: str) -> Callable[[], dict[str, float]]:
    """Counters of a server that counts statements, prepared ones, and what reading the counters takes."""
    readings = 0

    def read() -> dict[str, float]:
        nonlocal readings
        readings += 1
        engine = engine_of(rig)
        statements = sum(fields["events"] for fields in engine.asked("check"))
        for fields in engine.asked("rows"):
            slots = sum(order.count(name) for order in fields["orders"])
            statements += slots * (1 + fields["slot"].get("ops", 100))
        prepared = PREPARED * len(engine.asked("open"))
        return {"statements": statements, "prepared": prepared, "questions": statements + prepared + READING * readings}

    return read


def _rig(folder: Path, tests: str = "point-query,update-index", **choices: object) -> Rig:
    rig = make_rig(folder, tests=tests, **choices)  # type: ignore[arg-type]
    for target in rig.targets:
        target.server.counters = _counting(rig, target.name)  # type: ignore[method-assign]
    return rig


def _measure(rig: Rig, name: str, block: int = 0) -> None:
    with rig.only(rig.contest.turns(block)[0]):
        measure(rig, block, case_of(rig, name))


@pytest.mark.parametrize("test", ["point-query", "update-index"])
def test_counters_are_those_of_the_operations_that_they_span_and_of_nothing_else(tmp_path: Path, test: str) -> None:
    rig = _rig(tmp_path)
    for block in range(2):
        _measure(rig, test, block)
    noted = records(rig, "counters")
    assert [record["block"] for record in noted] == [0, 1]
    for record in noted:
        assert record["delta"].keys() == {"t0", "t1"}
        for name, delta in record["delta"].items():
            ops = record["spanned_ops"][name]
            # what preparing and reading add is taken off
            assert delta == {"statements": ops, "questions": ops}
    first, second = (record["spanned_ops"]["t0"] for record in noted)
    assert first > second  # the first has the pilot and the check of answers besides


def test_a_test_without_operations_is_looked_at_once_per_run(tmp_path: Path) -> None:
    rig = _rig(tmp_path, tests="point-query")
    for block in range(3):
        _measure(rig, "point-query", block)
    assert len(engine_of(rig).asked("open")) == 3 + 2


def test_a_test_that_was_done_in_part_before_counts_what_it_repeats(tmp_path: Path) -> None:
    rig = _rig(tmp_path, tests="update-index")
    _measure(rig, "update-index")
    rig.progress.rows[1, "update-index", ""] = 1
    _measure(rig, "update-index", block=1)
    repeated = records(rig, "counters")[1]
    assert repeated["delta"]["t0"]["statements"] == repeated["spanned_ops"]["t0"]


def test_of_a_test_in_which_a_server_was_lost_there_are_no_counters(tmp_path: Path) -> None:
    rig = _rig(tmp_path, tests="point-query")
    _measure(rig, "point-query")
    engine_of(rig).stops = [{"target": "t1", "row": 0, "kind": "io", "message": "t1 cannot be frozen"}]
    _measure(rig, "point-query", block=1)
    assert [record["block"] for record in records(rig, "counters")] == [0]


def test_of_a_test_in_which_the_engine_was_lost_there_are_no_counters(tmp_path: Path) -> None:
    rig = _rig(tmp_path, tests="point-query", engines=[FakeEngine(), FakeEngine()])
    _measure(rig, "point-query")
    engine_of(rig).failures["rows"] = [gone()]
    _measure(rig, "point-query", block=1)
    assert [record["block"] for record in records(rig, "counters")] == [0]


def test_counters_of_a_server_that_was_restarted_are_left_out(tmp_path: Path) -> None:
    rig = _rig(tmp_path, tests="point-query")

    def restart() -> None:
        if rig.by_name("t1").restarts == 0:
            rig.revive(rig.by_name("t1"), "it was gone")

    engine_of(rig).during["rows"] = restart
    _measure(rig, "point-query")
    (noted,) = records(rig, "counters")
    assert noted["delta"].keys() == {"t0"}
    assert server_of(rig, "t1").starts == 1


def test_what_servers_report_late_is_waited_for_once_per_reading(tmp_path: Path) -> None:
    """Before the test, in each of two rounds without operations, and after the clients have left: not for each question."""
    rig = _rig(tmp_path, tests="point-query")
    server = rig.by_name("t0").server
    count, waits = server.counters, []
    reported: list[dict[str, float]] = [{}]

    def wait() -> None:
        waits.append(len(engine_of(rig).asked("close")))
        reported.append(count())

    server.await_counts = wait  # type: ignore[method-assign]
    server.counters = lambda: reported[-1]  # type: ignore[method-assign]
    _measure(rig, "point-query")
    (noted,) = records(rig, "counters")
    assert noted["delta"]["t0"]["statements"] == noted["spanned_ops"]["t0"]
    assert waits == [0, 1, 2, 3]


def test_a_server_that_is_gone_is_restarted_when_its_counters_are_read(tmp_path: Path) -> None:
    rig = _rig(tmp_path, tests="point-query")
    server = server_of(rig, "t1")

    def ask() -> dict[str, float]:
        if server.starts == 0:
            server.running = False
            raise RunError("it does not answer")
        return {"statements": 0.0}

    server.await_counts = server.counters = ask  # type: ignore[assignment,method-assign]
    _measure(rig, "point-query")
    (failure,) = records(rig, "failure")
    assert (failure["target"], server.starts) == ("t1", 1) and "it does not answer" in failure["message"]


def test_work_by_the_clock_is_not_taken_for_our_own(tmp_path: Path) -> None:
    """It falls into one of the rounds without operations; what is our own falls into each."""
    rig = _rig(tmp_path, tests="point-query")
    pages = iter([0, 500, 500, 530])
    rig.by_name("t0").server.counters = lambda: {"pages": float(next(pages))}  # type: ignore[method-assign]
    _measure(rig, "point-query")
    (noted,) = records(rig, "counters")
    assert noted["delta"]["t0"] == {"pages": 30.0}
