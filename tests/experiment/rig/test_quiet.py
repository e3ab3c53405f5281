"""Waiting for a quiet host before a block: how long, what is said and journaled, and what ends a run."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import RunError
from dbversus.experiment import run
from dbversus.experiment.crew import local
from dbversus.experiment.rig import quiet
from dbversus.experiment.rig.quiet import NotQuiet, wait_for_quiet
from dbversus.experiment.rig.rig import Rig
from dbversus.host.others import OtherWork
from dbversus.results.records import Block
from dbversus.stats.validity.disturbance import Limits

from ...silent import Silent
from ..fakes import ledger_of, make_rig, records


class Host:
    """What others do in one window after the other (the last goes on); time passes when somebody looks."""

    def __init__(self, *windows: tuple[float, float]):
        self.windows = list(windows)
        self.looks = 0
        self.now_s = 0.0

    def look(self, seconds: float, _cpus: Sequence[int]) -> OtherWork:
        foreign, stolen = self.windows[min(self.looks, len(self.windows) - 1)]
        self.looks += 1
        self.now_s += seconds
        return OtherWork(foreign, stolen, seconds)


BUSY, STOLEN, IDLE = (1.3, 0.0), (0.1, 0.4), (0.1, 0.0)


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Host, list[str], list[str]]]:
    """The host, what is said, and what the progress display shows."""
    host = Host(IDLE)
    monkeypatch.setattr(quiet, "look", host.look)
    monkeypatch.setattr("time.monotonic", lambda: host.now_s)
    yield host, [], []


def _rig(folder: Path, said: list[str], shown: list[str], **choices: Any) -> Rig:
    rig = make_rig(folder, **choices)
    rig.limits = Limits()
    rig.display = _Told(said, shown)
    return rig


class _Told(Silent):
    """Keeps what it is told to say, and what it is to show."""

    def __init__(self, said: list[str], shown: list[str]):
        self._said, self._shown = said, shown

    def say(self, text: str) -> None:
        self._said.append(text)

    def doing(self, text: str) -> None:
        self._shown.append(text)


Waiting = tuple[Host, list[str], list[str]]


def test_nobody_looks_unless_asked_to(tmp_path: Path, waiting: Waiting) -> None:
    host, said, shown = waiting
    host.windows = [BUSY]
    wait_for_quiet(_rig(tmp_path, said, shown), 0)
    assert (host.looks, said, shown) == (0, [], [])


def test_on_a_quiet_host_one_look_is_all(tmp_path: Path, waiting: Waiting) -> None:
    host, said, shown = waiting
    rig = _rig(tmp_path, said, shown, wait_quiet_s="5m")
    wait_for_quiet(rig, 0)
    assert (host.looks, said, shown, records(rig, "wait")) == (1, [], [], [])


def test_other_work_is_waited_for_until_it_has_ended_for_good(tmp_path: Path, waiting: Waiting) -> None:
    host, said, shown = waiting
    host.windows = [BUSY, BUSY, IDLE, STOLEN, IDLE, IDLE]
    rig = _rig(tmp_path, said, shown, wait_quiet_s="5m", require_quiet=True)
    wait_for_quiet(rig, 2)
    assert (host.looks, said) == (6, [])
    assert shown[0] == "waiting for a quiet host: other processes use 1.3 cores, 4 min 59 s left"
    assert shown[-1] == "waiting for a quiet host: the hypervisor takes 0.40 of a core, 4 min 55 s left"
    (record,) = records(rig, "wait")
    assert (record["block"], record["seconds"], record["quiet"]) == (2, 6.0, True)


def test_a_host_that_stays_busy_is_told_and_measured_all_the_same(tmp_path: Path, waiting: Waiting) -> None:
    host, said, shown = waiting
    host.windows = [BUSY]
    rig = _rig(tmp_path, said, shown, wait_quiet_s="90s")
    wait_for_quiet(rig, 2)
    assert said == ["block 3 begins though the host is not quiet after 1 min 30 s: other processes use 1.3 cores"]
    (record,) = records(rig, "wait")
    assert (record["seconds"], record["quiet"], record["foreign_cores"]) == (90.0, False, 1.3)


def test_where_a_quiet_host_is_required_a_busy_one_ends_the_run(tmp_path: Path, waiting: Waiting) -> None:
    host, said, shown = waiting
    host.windows = [STOLEN]
    rig = _rig(tmp_path, said, shown, require_quiet=True)
    with pytest.raises(NotQuiet) as ended:
        wait_for_quiet(rig, 0)
    assert str(ended.value) == (
        "Block 1 was not begun, since the host is not quiet: the hypervisor takes 0.40 of a core."
    )
    assert isinstance(ended.value, RunError) and (host.looks, said, shown) == (1, [], [])


def test_every_block_waits_and_the_time_budget_counts_that(
    tmp_path: Path, waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, said, shown = waiting
    host.windows = [BUSY]
    rig = _rig(tmp_path, said, shown, wait_quiet_s=30, time_budget_s=70, looks=[9])
    monkeypatch.setattr(local, "run_cell", lambda rig, cell: rig.note(Block(cell.block, "finished")))
    assert run._run_cells(rig, ledger_of(rig)) == "time budget"
    assert rig.progress.blocks == {0, 1}
    assert [record["block"] for record in records(rig, "wait")] == [0, 1, 2]


def test_ctrl_c_ends_the_wait(tmp_path: Path, waiting: Waiting, monkeypatch: pytest.MonkeyPatch) -> None:
    host, said, shown = waiting
    host.windows = [BUSY]
    rig = _rig(tmp_path, said, shown, wait_quiet_s="5m")

    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(rig.display, "doing", interrupted)
    with pytest.raises(KeyboardInterrupt):
        wait_for_quiet(rig, 0)
    assert host.looks == 1 and not records(rig, "wait")
