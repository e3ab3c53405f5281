"""The host's CPUs: which we may use, which are threads of one core, which serve device interrupts."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

SYSTEM = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Core:
    """A physical core: those of its hardware threads that we may use; `interrupts` served since boot by any of them."""

    cpus: tuple[int, ...]
    interrupts: int = 0


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """`0-2,5` → (0, 1, 2, 5), as the kernel writes lists of CPUs."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return tuple(found)


def allowed_cores() -> list[Core]:
    """Cores of our own affinity mask, lowest CPU first."""
    allowed = os.sched_getaffinity(0)
    served = device_interrupts(Path("/proc/interrupts").read_text(encoding="utf-8"))
    groups = {tuple(cpu for cpu in siblings(cpu) if cpu in allowed) or (cpu,) for cpu in allowed}
    return [Core(cpus, sum(served.get(cpu, 0) for cpu in cpus)) for cpus in sorted(groups)]


def siblings(cpu: int) -> tuple[int, ...]:
    """Hardware threads of the core of `cpu`, itself included."""
    try:
        return parse_cpu_list((SYSTEM / f"cpu{cpu}/topology/thread_siblings_list").read_text(encoding="utf-8"))
    except OSError:
        return (cpu,)


def device_interrupts(text: str) -> dict[int, int]:
    """Interrupts of devices by CPU, from the text of /proc/interrupts; timers and calls between CPUs do not count."""
    lines = text.splitlines()
    cpus = [int(name) for name in re.findall(r"CPU(\d+)", lines[0])]
    totals = dict.fromkeys(cpus, 0)
    for line in lines[1:]:
        name, _, rest = line.partition(":")
        if name.strip().isdigit():
            for cpu, count in zip(cpus, rest.split(), strict=False):
                totals[cpu] += int(count)
    return totals
