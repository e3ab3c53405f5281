"""Hands cells out, takes records in, judges when a look is due, until the agenda ends."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from dbversus.errors import RunError
from dbversus.experiment.crew.worker import Order, Worker, WorkerLost
from dbversus.experiment.plan.agenda import Cell, End, Look, next_step
from dbversus.experiment.plan.contest import Contest
from dbversus.experiment.plan.progress import fold
from dbversus.results.records import AnyRecord, Check, Failure, Load, Slots, State

_KNOWN = (Slots, Check, State, Failure, Load)
"""Types of records that those who measure later cells have to know."""


@dataclass
class Ledger:
    """The records of a run: each is kept by `keep`, and counts for what comes next."""

    contest: Contest
    keep: Callable[[AnyRecord], None]
    known: list[AnyRecord] = field(default_factory=list)
    loads: set[tuple[str, str | None]] = field(default_factory=set)

    def take(self, record: AnyRecord) -> None:
        if isinstance(record, Load):
            load = record.target, record.table
            if load in self.loads:
                return  # another worker's, of the same data
            self.loads.add(load)
        self.keep(record)
        fold(self.contest.progress, record)
        if isinstance(record, _KNOWN):
            self.known.append(record)


def work_alone(ledger: Ledger, worker: Worker, look: Callable[[int], None], may_begin: Callable[[Cell], bool]) -> str:
    """One worker measures everything, here and now; its records count as they come. Why the agenda ended.

    `may_begin`: whether there is time left for a cell.
    """
    while True:
        match next_step(ledger.contest):
            case Look(blocks):
                look(blocks)
            case Cell() as cell:
                if not may_begin(cell):
                    return "time budget"
                worker.perform(Order(cell), ledger.take)
            case End(reason):
                return reason


def work_together(
    ledger: Ledger, workers: Sequence[Worker], look: Callable[[int], None], say: Callable[[str], None]
) -> str:
    """Cells are handed out in turn. Why the agenda ended; RunError when no worker is left.

    A cell's records count once it is finished: one whose worker was lost goes to another, as if nobody had begun it.
    """
    pool = ThreadPoolExecutor(max(1, len(workers)))
    try:
        return _hand_out(ledger, workers, pool, look, say)
    except BaseException:
        for worker in workers:  # those who wait for them in the pool would never end
            worker.stop()
        raise
    finally:
        pool.shutdown()


def _hand_out(
    ledger: Ledger, workers: Sequence[Worker], pool: Executor, look: Callable[[int], None], say: Callable[[str], None]
) -> str:
    idle, out = list(workers), dict[Future[list[AnyRecord]], tuple[Worker, Cell]]()
    while True:
        step = next_step(ledger.contest, [cell.block for _, cell in out.values()])
        if isinstance(step, End):
            return step.reason
        if isinstance(step, Look) and not out:
            look(step.blocks)
        elif isinstance(step, Cell) and idle:
            worker = idle.pop(0)
            out[pool.submit(_perform, worker, Order(step, list(ledger.known)))] = worker, step
        elif out:
            idle += _take_in(ledger, out, say)
        else:
            raise RunError("No worker is left to measure; `resume` goes on from here.")


def _perform(worker: Worker, order: Order) -> list[AnyRecord]:
    records: list[AnyRecord] = []
    worker.perform(order, records.append)
    return records


def _take_in(
    ledger: Ledger, out: dict[Future[list[AnyRecord]], tuple[Worker, Cell]], say: Callable[[str], None]
) -> list[Worker]:
    """The workers that have come back with a finished cell."""
    back = []
    for future in wait(out, return_when=FIRST_COMPLETED).done:
        worker, cell = out.pop(future)
        try:
            records = future.result()
        except WorkerLost as error:
            say(f"{error} Block {cell.block + 1} goes to another worker.")
            continue
        for record in records:
            ledger.take(record)
        back.append(worker)
    return back
