"""How steady this host is right now: the same loop, again and again, in short slots."""

import math
import os
import statistics
import time
from dataclasses import dataclass

_LOOP = 2000


@dataclass(frozen=True)
class Noise:
    """Of `slots` slots of `slot_ms` ms of a spinning loop.

    `pair_sd`: standard deviation of ln(work in a slot / work in the next), what an interleaved comparison has to live
    with. `slot_sd`: of ln(work) over all slots, what a comparison one after another has to live with. `cpu_share`: CPU
    time of the loop / wall time, the rest was taken by others.
    """

    slots: int
    slot_ms: float
    pair_sd: float
    slot_sd: float
    cpu_share: float


def probe_noise(seconds: float = 5.0, slot_ms: float = 50.0, cpu: int | None = None) -> Noise:
    """Spins for `seconds` s, on `cpu` if given (the affinity of this thread is put back afterwards)."""
    before = os.sched_getaffinity(0)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    try:
        began, cpu_began = time.perf_counter(), time.thread_time()
        rates = [_slot(slot_ms / 1000) for _ in range(max(4, round(seconds * 1000 / slot_ms)))]
        wall, used = time.perf_counter() - began, time.thread_time() - cpu_began
    finally:
        os.sched_setaffinity(0, before)
    logs = [math.log(rate) for rate in rates]
    pairs = [later - earlier for earlier, later in zip(logs[::2], logs[1::2], strict=False)]
    return Noise(len(rates), slot_ms, statistics.stdev(pairs), statistics.stdev(logs), min(1.0, used / wall))


def _slot(seconds: float) -> float:
    """Loops per second, for at least `seconds`."""
    began = time.perf_counter()
    end, loops = began + seconds, 0
    while (now := time.perf_counter()) < end:
        total = 0
        for number in range(_LOOP):
            total += number
        loops += 1
    return loops / (now - began)
