"""Cells handed out to several workers: none is lost, and none counts twice."""

import threading
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.experiment.crew.coordinator import Ledger, work_together
from dbversus.experiment.crew.worker import Order, Take, WorkerLost
from dbversus.results.records import AnyRecord, Block, Load, Look, Slots, of_type
from dbversus.results.records import Test as Measured

from ..plan.test_contest import contest


class _Worker:
    """Finishes cells at once. `lost_in`: the block in which it is lost, after its first record."""

    def __init__(self, name: str, lost_in: int | None = None, start: threading.Barrier | None = None):
        self.name, self.lost_in, self.start = name, lost_in, start
        self.blocks: list[int] = []

    def perform(self, order: Order, take: Take) -> None:
        block = order.cell.block
        self.blocks.append(block)
        if self.start and block:
            self.start.wait(600)  # both have a cell by now
            self.start = None
        if block == self.lost_in:
            raise WorkerLost(f"{self.name} was killed by signal 9.")
        for case in order.cell.cases:
            take(Measured(block, case))
        take(Slots(block, "point-query", {"ops": 1}, {"ops": 1}, 1))
        take(Block(block, "finished"))

    def close(self) -> None: ...
    def stop(self) -> None: ...


def _work(workers: list[_Worker], looks: list[int], said: list[str]) -> tuple[str, list[AnyRecord]]:
    kept: list[AnyRecord] = []
    ledger = Ledger(contest(2, looks=looks), kept.append)
    why = work_together(ledger, workers, lambda blocks: ledger.take(Look(blocks, [])), said.append)
    return why, kept


def _blocks(records: list[AnyRecord]) -> list[int]:
    return sorted(record.block for record in of_type(records, Block))


def test_two_have_their_turns_and_each_block_is_there_once() -> None:
    together = threading.Barrier(2)
    workers = [_Worker("one", start=together), _Worker("two", start=together)]
    why, records = _work(workers, [5], [])
    assert (why, _blocks(records)) == ("looks used up", [0, 1, 2, 3, 4])
    assert all(worker.blocks for worker in workers)
    assert len(of_type(records, Measured)) == 5 * 2


def test_the_cell_of_a_worker_that_was_lost_goes_to_another_as_if_nobody_had_begun_it() -> None:
    together, said = threading.Barrier(2), list[str]()
    two, one = _Worker("two", lost_in=2, start=together), _Worker("one", start=together)
    why, records = _work([two, one], [4], said)  # two has the first block, one the second, and two the third
    assert (why, _blocks(records)) == ("looks used up", [0, 1, 2, 3])
    assert said == ["two was killed by signal 9. Block 3 goes to another worker."]
    assert two.blocks == [0, 2] and sorted(one.blocks) == [1, 2, 3]


def test_when_all_are_lost_the_run_ends_and_what_was_finished_is_kept() -> None:
    said: list[str] = []
    kept: list[AnyRecord] = []
    with pytest.raises(RunError, match="No worker is left"):
        ledger = Ledger(contest(2, looks=[4]), kept.append)
        work_together(ledger, [_Worker("one", lost_in=2)], lambda blocks: None, said.append)
    assert _blocks(kept) == [0, 1]


def test_what_later_cells_have_to_know_goes_with_them(tmp_path: Path) -> None:
    orders: list[Order] = []

    class Heeding(_Worker):
        def perform(self, order: Order, take: Take) -> None:
            orders.append(order)
            super().perform(order, take)

    _work([Heeding("one")], [2], [])
    assert [[type(record) for record in order.known] for order in orders] == [[], [Slots]]


def test_the_load_of_each_table_is_kept_once() -> None:
    kept: list[AnyRecord] = []
    ledger = Ledger(contest(2), kept.append)
    for table in ("one", "two", "one"):
        ledger.take(Load("t0", table, earlier=False))
    assert [record.table for record in of_type(kept, Load)] == ["one", "two"]


def test_an_interrupt_ends_workers_in_the_midst_of_their_cells() -> None:
    stopped = threading.Event()

    class Busy(_Worker):
        def perform(self, order: Order, take: Take) -> None:
            if not order.cell.block:
                return super().perform(order, take)
            assert stopped.wait(600), "nobody would ever have told it"
            raise WorkerLost("it was stopped")

        def stop(self) -> None:
            stopped.set()

    class Interrupting(_Worker):
        def perform(self, order: Order, take: Take) -> None:
            raise KeyboardInterrupt

    ledger = Ledger(contest(2, looks=[4]), lambda record: None)
    with pytest.raises(KeyboardInterrupt):
        work_together(ledger, [Busy("one"), Interrupting("two")], lambda blocks: None, lambda words: None)
    assert stopped.is_set()
