"""How long a slot is and how many rows a test gets in a block: from pilot rates to a plan that is the same in all blocks."""

from dataclasses import dataclass
from typing import Any

OPS_OF_CLIENT = 5
SLOWEST_SLOT_MS = 400
ROWS_AT_LEAST = 4
COLD_ROWS = 1
EDGE_MS = 2.0
WARMS_UP_ITSELF = 10
"""An operation that lasts so many times the settle part needs none: it is warm for most of its own time."""
SETTLE_AGAIN_MS = 1
"""Who had the last turn is warm, and has only to be awake again."""


@dataclass(frozen=True)
class SlotRules:
    """What the profile asks for: slot and settle length (ms), rows at most, seconds per test and block, write slot length."""

    slot_ms: float
    warm_up_ms: float
    rows: int
    seconds: float
    write_slot_ms: float


@dataclass(frozen=True)
class SlotPlan:
    """What the engine is told for one test: `slot`, `settle` and `settle_again` as in its protocol, and the number of rows."""

    slot: dict[str, Any]
    settle: dict[str, Any]
    rows: int
    settle_again: dict[str, Any] | None = None


def wanted_ops(clients: int) -> int:
    """Operations that a slot should have.

    Of several clients those that are done first wait for the last, and one without any would not be there; with one client a
    single operation will do: two slots that follow each other differ the less the shorter they are.
    """
    return OPS_OF_CLIENT * clients if clients > 1 else 1


def plan_slots(rules: SlotRules, rates: list[float], by_count: bool, orders: int, clients: int) -> SlotPlan:
    """The plan for a test whose targets did `rates` operations/s in the pilot.

    A slot is stretched until the slowest target does `wanted_ops` in it, but never past SLOWEST_SLOT_MS unless more was asked
    for, or a single operation (bounded by count: one of each client) takes longer: for slow operations more rows are worth
    more than more operations in each. A test is bounded `by_count` when every target has to do the same work. `orders` is the
    length of the balanced cycle.
    """
    slowest = min(rates)
    asked_ms = rules.write_slot_ms if by_count else rules.slot_ms
    wanted_ms = max(asked_ms, wanted_ops(clients) / slowest * 1000)
    least_ops = clients if by_count else 1
    slot_ms = max(min(wanted_ms, SLOWEST_SLOT_MS), asked_ms, least_ops / slowest * 1000)
    row_s = sum(_slot_s(rate, slowest, slot_ms, by_count) + (rules.warm_up_ms + EDGE_MS) / 1000 for rate in rates)
    rows = max(int(min(rules.rows, rules.seconds / row_s)) // orders * orders, least_rows(rules.rows, orders))
    settle = _plan_warm_up(rules.warm_up_ms, slowest, by_count)
    if by_count:
        return SlotPlan({"ops": round(slowest * slot_ms / 1000)}, settle, rows)
    return SlotPlan({"ms": round(slot_ms), "min_ops": 1}, settle, rows, _plan_warm_up_again(settle, len(rates)))


def _plan_warm_up(warm_up_ms: float, slowest: float, by_count: bool) -> dict[str, Any]:
    if 1000 / slowest >= WARMS_UP_ITSELF * warm_up_ms:
        return {"ops": 0}
    if by_count:
        return {"ops": max(1, round(slowest * warm_up_ms / 1000))}
    return {"ms": round(warm_up_ms), "min_ops": 1}


def _plan_warm_up_again(settle: dict[str, Any], targets: int) -> dict[str, Any] | None:
    """Of two targets each has the last turn of a row and the first of the next one equally often; of more, some never have."""
    if targets != 2 or settle.get("ms", 0) <= SETTLE_AGAIN_MS:
        return None
    return {**settle, "ms": SETTLE_AGAIN_MS}


def plan_cold_slots(slot_ms: float, rates: list[float], clients: int, *, once: bool) -> SlotPlan:
    """The plan of a test with cold caches: one slot per restart, the same work for every target, nothing driven before it.

    `rates` are those of a pilot with cold caches; `slot_ms` is how long the slot of the slowest target would be at its
    rate. Caches fill meanwhile, so slots get shorter than that. `once`: one operation alone reads all there is to read, so that
    each client does one.
    """
    ops = clients if once else max(clients, round(min(rates) * slot_ms / 1000))
    return SlotPlan({"ops": ops}, {"ops": 0}, COLD_ROWS)


def _slot_s(rate: float, slowest: float, slot_ms: float, by_count: bool) -> float:
    return slot_ms / 1000 * (slowest / rate if by_count else 1)


def least_rows(rows: int, orders: int) -> int:
    """Rows of a test even where they take longer than its time: whole cycles of the balanced order. `rows`: those asked for."""
    return -(-min(rows, ROWS_AT_LEAST) // orders) * orders
