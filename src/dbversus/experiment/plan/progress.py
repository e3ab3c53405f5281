"""How far an experiment got, read from its journal: what `resume` needs to know."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from dbversus.experiment.plan.slots import SlotPlan
from dbversus.results.records import (
    AnyRecord,
    Block,
    Check,
    DataState,
    Failure,
    Finished,
    Load,
    Look,
    Resumed,
    Row,
    Slots,
    State,
    Test,
)

Part = tuple[int, str, str]
"""Block, case, and the group of targets that was up ("" where all run together)."""

Shared = tuple[str, str]
"""Case, and the group where groups take turns with the base ("" otherwise): one plan and one check for all blocks."""

PASSING = ("start", "load", "settle", "slot")
"""Stages in which a target may be lost for want of something that the host has again later, such as room on the disk."""


@dataclass
class Progress:
    """What is done.

    `loaded`: targets that have their data, with several sizes `t0@10m`. `rows` counts journaled rows by part; `finished`
    holds parts that are done. `checked`: whether the answers of a target, by name, were those of the base. `states`: by target
    and kind of data, the first block of which the state was journaled, and that state. `begun`, `blocks`: numbers of blocks whose
    servers were started, and of those that are finished. `block_s`: what the last block took that
    was measured without interruption, from the start of its servers on.
    `refused`: targets whose config their server did not take. `out`: why targets have left the run; `lost`: those that the last
    start lost in a passing stage, to be tried again.
    """

    loaded: set[str] = field(default_factory=set)
    rows: Counter[Part] = field(default_factory=Counter)
    finished: set[Part] = field(default_factory=set)
    checked: dict[Shared, dict[str, bool]] = field(default_factory=dict)
    plans: dict[Shared, SlotPlan] = field(default_factory=dict)
    states: dict[tuple[str, str], tuple[int, DataState]] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)
    blocks: set[int] = field(default_factory=set)
    began_ns: dict[int, int] = field(default_factory=dict)
    block_s: float | None = None
    looks: dict[int, list[str]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    out: dict[str, str] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    ended: str | None = None

    def is_out(self, target: str) -> bool:
        return target in self.out or target in self.lost

    def go_on(self) -> None:
        """After an interruption: a block that was under way then tells no length."""
        self.ended = None
        self.began_ns.clear()

    @property
    def retired(self) -> set[str]:
        """Tests decided at any look so far."""
        return {test for tests in self.looks.values() for test in tests}

    @property
    def whole_block_s(self) -> float | None:
        """Seconds that the next block is expected to take; None when a part of it is done, or when no block has told."""
        block = self.next_block()
        return None if any(part[0] == block for part in self.finished) else self.block_s

    def next_block(self) -> int:
        """The first block that is not finished."""
        return next(block for block in range(len(self.blocks) + 1) if block not in self.blocks)


def read_progress(records: Iterable[AnyRecord]) -> Progress:
    """Folds the journal's records, in order."""
    progress = Progress()
    for record in records:
        fold(progress, record)
    return progress


def fold(progress: Progress, record: AnyRecord) -> None:
    """Takes in one more record."""
    match record:
        case Load():
            _, at, size = (record.table or "").partition("@")
            progress.loaded.add(f"{record.target}{at}{size}")
        case Row():
            progress.rows[record.block, record.test, record.tag] += 1
        case Test():
            progress.finished.add((record.block, record.test, record.tag))
        case Check():
            known = progress.checked.setdefault((record.test, record.group or ""), {})
            known.update({name: name not in record.differs for name in record.targets})
        case Slots():
            plan = SlotPlan(record.slot, record.settle, record.rows, record.settle_again)
            progress.plans[record.test, record.group or ""] = plan
        case State():
            for target, state in record.targets.items():
                progress.states.setdefault((target, record.data), (record.block, state))
        case Block():
            _fold_block(progress, record)
        case Look():
            progress.looks[record.blocks] = record.retired
        case Failure(target=str(target), final=True):
            if record.stage in PASSING:
                progress.lost.add(target)
            else:
                progress.out[target] = record.message
                if record.stage == "check":
                    progress.refused.add(target)
        case Resumed():
            progress.go_on()
            progress.lost.clear()
        case Finished():
            progress.ended = record.reason


def _fold_block(progress: Progress, record: Block) -> None:
    block, at_ns = record.block, record.at_unix_ns
    if record.event == "started":
        progress.begun.add(block)
        progress.began_ns.setdefault(block, at_ns)
    if record.event == "finished":
        progress.blocks.add(block)
        if block in progress.began_ns:
            progress.block_s = (at_ns - progress.began_ns[block]) / 1e9
