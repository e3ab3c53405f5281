"""Results of a calibration with a known truth, made in memory: two equal targets, and a third that may be slowed down."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dbversus.results.columns import Columns, column
from dbversus.results.schema import DRIVEN_COLUMNS, SLOT_COLUMNS
from dbversus.results.stored import Results, Target
from dbversus.stats.orders import starting_order, williams_square

from ..journals import header as header_of
from ..journals import records_of

OPS = 1000
SHARES = (0.01, 0.02, 0.03, 0.05, 0.08)


@dataclass(frozen=True)
class Truth:
    """Standard deviations and shifts of ln CPU per op. `start_sd`: of a target in a block; `slot_sd`: of one slot.

    `order_bias`: per place in the row; `start_bias`: of the server that is started first. `recovered`: part of
    an injected ln ratio that the target really shows. Each `io_every`-th test writes. `targets`: with three, the last is slowed
    down by SHARES in turn, in CPU per operation, or in bytes written with `io_injected`. With `bursts` each turn ends with
    every tenth row twice as dear.
    """

    tests: int = 6
    blocks: int = 16
    rows: int = 24
    start_sd: float = 0.01
    slot_sd: float = 0.03
    order_bias: float = 0.0
    start_bias: float = 0.0
    recovered: float = 1.0
    io_every: int = 3
    targets: int = 3
    io_injected: bool = False
    bursts: bool = False

    @property
    def names(self) -> list[str]:
        return [f"t{number}" for number in range(self.targets)]

    def share(self, test: int, block: int) -> float:
        return 0.0 if self.in_bursts(test, block) else SHARES[(test + block) % self._turns % len(SHARES)]

    def in_bursts(self, test: int, block: int) -> bool:
        return (test + block) % self._turns == len(SHARES)

    @property
    def _turns(self) -> int:
        return len(SHARES) + self.bursts


def twin_results(truth: Truth, seed: int = 1, **header: Any) -> Results:
    """Results as `open_results` would give them."""
    rng = np.random.default_rng(seed)
    tests = [f"test{number}" for number in range(truth.tests)]
    targets = tuple(
        Target(name, "postgres:17" + (f"#{number + 1}" if number else ""), "postgres", "17.11", "base")
        for number, name in enumerate(truth.names)
    )
    slots: list[dict[str, Any]] = []
    records: list[dict[str, Any]] = []
    for block in range(truth.blocks):
        for number, test in enumerate(tests):
            added = _add_test(rng, truth, (test, number), block, targets, slots)
            if truth.targets == 3:
                records.append({"type": "injected", "block": block, "test": test, "targets": added})
        records.append({"type": "block", "block": block, "event": "finished"})
    described = [{"name": one.name, "label": one.label, "dbms": one.dbms, "version": one.version} for one in targets]
    first = header_of(targets=described, tests=["load", *tests], at_unix_ns=10**18, **header)
    return Results(
        Path("results"), first, targets, ("load", *tests), (first, *records_of(*records)), {}, _columns(slots)
    )


def _add_test(
    rng: np.random.Generator,
    truth: Truth,
    test: tuple[str, int],
    block: int,
    targets: tuple[Target, ...],
    slots: list[dict[str, Any]],
) -> dict[str, dict[str, float]]:
    """Adds the slots of one test in one block; returns what the library would have counted."""
    name, number = test
    share = truth.share(number, block)
    start = {one.name: rng.normal(0, truth.start_sd) for one in targets}
    start[starting_order(targets, block)[0].name] += truth.start_bias
    grown = truth.recovered * np.log1p(share) if truth.targets == 3 else 0.0
    if grown and not truth.io_injected:
        start["t2"] += grown
    cpu, written, burned = dict.fromkeys(truth.names, 0), dict.fromkeys(truth.names, 0), 0
    square = williams_square(len(truth.names))
    for row in range(truth.rows):
        order = [truth.names[item] for item in square[row % len(square)]]
        common = rng.normal(0, 0.05)
        for position, target in enumerate(order):
            own = start[target] + truth.order_bias * position + rng.normal(0, truth.slot_sd)
            slot = _slot(name, block, row, position, common + own, truth, number)
            slot["target"] = next(one.label for one in targets if one.name == target)
            if target == "t2" and truth.io_injected:
                slot["server_write_bytes"] = round(slot["server_write_bytes"] * np.exp(grown))
            if target == "t2" and truth.in_bursts(number, block) and row % 10 == block % 10:
                burned += slot["server_cpu_ns"]
                slot["server_cpu_ns"] *= 2
            slots.append(slot)
            cpu[target] += slot["server_cpu_ns"]
            written[target] += slot["server_write_bytes"]
    added = {target: share / (1 + share) if target == "t2" else 0.0 for target in truth.names}
    kind = "io_share" if truth.io_injected else "cpu_share"
    figures = {
        target: {
            "cpu_share": 0.0,
            "io_share": 0.0,
            kind: share if target == "t2" else 0.0,
            "ops": truth.rows * OPS,
            "burned_ns": 0 if truth.io_injected else round(cpu[target] * added[target]),
            "io_bytes_added": round(written[target] * added[target]) if truth.io_injected else 0,
        }
        for target in truth.names
    }
    if burned:
        figures["t2"] |= {"cpu_share": 1.0, "cpu_ms": 50.0, "cpu_every_ms": 500.0, "burned_ns": burned}
    return figures


def _slot(test: str, block: int, row: int, position: int, log: float, truth: Truth, number: int) -> dict[str, Any]:
    return {
        "test": test,
        "block": block,
        "row": row,
        "position": position,
        "clients": 1,
        "started_unix_ns": block * 10**12 + row * 10**8,
        "disturbed": False,
        "ops": OPS,
        "elapsed_ns": round(50e6 * np.exp(0.8 * log)),
        "server_cpu_ns": round(30e6 * np.exp(log)),
        "server_read_bytes": 0,
        "server_write_bytes": 0 if number % truth.io_every else round(5_000_000 * np.exp(log)),
    }


def _columns(slots: list[dict[str, Any]]) -> Columns:
    alone = {name: DRIVEN_COLUMNS.get(name, name) for name in SLOT_COLUMNS}
    return {name: column([slot.get(alone[name]) for slot in slots], kind) for name, kind in SLOT_COLUMNS.items()}
