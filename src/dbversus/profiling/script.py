"""What `perf script` says, as samples: when, in which process, how much CPU time, and in which functions."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dbversus.profiling.symbols import Frame, named

FIELDS = "comm,pid,tid,time,period,ip,sym,dso"
"""Of `perf script -F`."""
FIELDS_OF_STARTS = "comm,pid,tid,time"
"""Of a script that is read for starts of processes alone."""

Stack = tuple[str, ...]
"""Functions, the outermost first: the last one is where the time went."""

_HEAD = re.compile(r"^\s*\S.*?\s(\d+)/(\d+)\s+(\d+)\.(\d+):\s+(\d+)\b:?(.*)$")
_FORK = re.compile(r"PERF_RECORD_FORK\((\d+):\d+\):\((\d+):\d+\)")
_FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \(((?:[^()]|\([^()]*\))*)\)\s*$")


@dataclass(frozen=True)
class Sample:
    """`at_ns`: by the clock of the recording. `weight`: in units of the event: ns of CPU time, cycles, or so many events."""

    pid: int
    at_ns: int
    weight: int
    stack: Stack
    thread: int = 0


def samples_of(lines: Iterable[str]) -> Iterator[Sample]:
    """Those of a script's lines; lines that are none of a sample are passed over."""
    head: tuple[int, int, int, int] | None = None
    frames: list[Frame] = []
    for line in lines:
        if found := _HEAD.match(line):
            yield from _sample(head, frames)
            pid, thread, seconds, fraction, weight, rest = found.groups()
            head = int(pid), moment_ns(seconds, fraction), int(weight), int(thread)
            # with no callers recorded, the one frame stands on the same line
            frames = [frame] if (frame := _frame(f" {rest.strip()}")) else []
        elif head and (frame := _frame(line)):
            frames.append(frame)
    yield from _sample(head, frames)


def moment_ns(seconds: str, fraction: str) -> int:
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9])


def _sample(head: tuple[int, int, int, int] | None, frames: list[Frame]) -> Iterator[Sample]:
    """None where there is no name at all."""
    if head and (stack := named(frames)):
        pid, at_ns, weight, thread = head
        yield Sample(pid, at_ns, weight, stack, thread)


def _frame(line: str) -> Frame | None:
    found = _FRAME.match(line)
    return Frame(int(found[1], 16), found[2], found[3]) if found else None


def family_of(pids: Iterable[int], lines: Iterable[str]) -> set[int]:
    """The processes, and those that they started and that these started, by the lines of a script that tells of starts."""
    family = set(pids)
    for line in lines:
        if (found := _FORK.search(line)) and int(found[2]) in family:
            family.add(int(found[1]))
    return family
