"""What others do on this host now: processes that are not ours, and the hypervisor.

Ours are this process and all below it: the engine, servers, programs that they call. Kernel threads work for whoever needs them,
and are nobody's.
"""

import os
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from dbversus.host.processes import PROC, Stat, all_stats, below

_BUSY_FIELDS = (0, 1, 2, 5, 6)
_STEAL_FIELD = 7


@dataclass(frozen=True)
class OtherWork:
    """Cores that other processes used, and that the hypervisor took from the CPUs looked at, on average over `seconds`."""

    foreign_cores: float
    stolen_cores: float
    seconds: float


@dataclass(frozen=True)
class _Reading:
    """Clock ticks since boot: of all CPUs, of our processes, and of each kernel thread."""

    at_s: float
    busy: int
    stolen: int
    ours: int
    of_kernel: Mapping[int, int]


def look(seconds: float, cpus: Collection[int] = ()) -> OtherWork:
    """Watches the host for so long. `cpus`: those whose stolen time counts; empty: all."""
    before = _read(cpus)
    time.sleep(seconds)
    return _between(before, _read(cpus), os.sysconf("SC_CLK_TCK"))


def _read(cpus: Collection[int]) -> _Reading:
    stats = all_stats()
    busy, stolen = busy_and_stolen((PROC / "stat").read_text(encoding="utf-8"), cpus)
    return _Reading(time.monotonic(), busy, stolen, _ours(stats), _of_kernel(stats))


def _ours(stats: Mapping[int, Stat]) -> int:
    own = os.getpid()
    return sum(stats[pid].cpu_ticks for pid in (own, *below(own, stats)) if pid in stats)


def _of_kernel(stats: Mapping[int, Stat]) -> dict[int, int]:
    return {pid: stat.cpu_ticks for pid, stat in stats.items() if stat.is_kernel_thread}


def _between(before: _Reading, after: _Reading, ticks_per_s: int) -> OtherWork:
    """What a kernel thread did that is only in one of them is not known, and counts as nothing."""
    seconds = after.at_s - before.at_s
    both = before.of_kernel.keys() & after.of_kernel.keys()
    of_kernel = sum(after.of_kernel[pid] - before.of_kernel[pid] for pid in both)
    foreign = after.busy - before.busy - (after.ours - before.ours) - of_kernel
    stolen = after.stolen - before.stolen
    return OtherWork(max(0, foreign) / ticks_per_s / seconds, max(0, stolen) / ticks_per_s / seconds, seconds)


def busy_and_stolen(text: str, cpus: Collection[int] = ()) -> tuple[int, int]:
    """From the text of /proc/stat, in clock ticks since boot: all CPUs at work; stolen from `cpus`, or from all."""
    lines = {name: list(map(int, rest.split())) for name, rest in re.findall(r"^(cpu\d*)\s+(.+)$", text, re.M)}
    busy = sum(lines["cpu"][field] for field in _BUSY_FIELDS)
    names = [f"cpu{cpu}" for cpu in cpus] or ["cpu"]
    return busy, sum(lines[name][_STEAL_FIELD] for name in names if name in lines)
