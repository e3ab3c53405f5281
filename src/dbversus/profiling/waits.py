"""What threads wait for: from the moment a thread leaves the CPU, with the call it is in then, until it is back on one."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dbversus.profiling.script import Sample, Stack, moment_ns, samples_of
from dbversus.profiling.symbols import KERNEL, is_of_library

ON_CPU = "on a CPU"
"""What is left of the time of an operation."""
RUN_QUEUE = "run queue"
"""It could run, and another had the CPU."""

_SWITCH = re.compile(r"^\s*\S.*?\s\d+/(\d+)\s+(\d+)\.(\d+):\s+PERF_RECORD_SWITCH\S*\s+(IN|OUT)( preempt)?")
_WAITS = re.compile(r"wait|lock|latch|sema|cond|mutex|futex|event|poll|sleep|fsync|fdatasync", re.IGNORECASE)
"""Functions that others wait by: which of these is called tells nothing of what for."""


@dataclass(frozen=True)
class Wait:
    """Of one thread, by the clock of the recording. `preempted`: it could have run. `stack`: where it waits; empty: unknown."""

    thread: int
    began_ns: int
    ended_ns: int
    preempted: bool
    stack: Stack = ()


def waits_of(lines: Iterable[str]) -> Iterator[Wait]:
    """From a script with samples of the scheduler's switches and lines of who is on a CPU; what does not end is left out."""
    sampled: dict[int, Sample] = {}
    left: dict[int, tuple[int, bool]] = {}  # a sample is taken before, and copying its stack takes a while
    since: list[str] = []
    for line in lines:
        found = _SWITCH.match(line)
        if not found:
            since.append(line)
            continue
        if since:
            sampled.update((sample.thread, sample) for sample in samples_of(since))
            since.clear()
        thread, at_ns = int(found[1]), moment_ns(found[2], found[3])
        if found[4] == "OUT":
            left[thread] = at_ns, bool(found[5])
        elif thread in left:
            sample = sampled.pop(thread, None)
            yield Wait(thread, left[thread][0], at_ns, left[thread][1], sample.stack if sample else ())
            del left[thread]


def waiting(stack: Stack, *, preempted: bool) -> Stack:
    """The functions of the stack, and last what it waits for: `fdatasync in XLogWrite`, `run queue`."""
    own = [name for name in stack if not name.startswith(KERNEL)]
    if preempted:
        return (*own, RUN_QUEUE)
    called = " ".join(name.removeprefix(KERNEL).strip() for name in stack if name.startswith(KERNEL)) or "kernel"
    of_server = [name for name in own if not is_of_library(name)]
    place = (
        next((name for name in reversed(of_server) if not _WAITS.search(name)), None) or (of_server or own or [""])[-1]
    )
    return (*own, f"{called} in {place}" if place else called)
