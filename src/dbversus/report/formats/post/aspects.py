"""What a post tells of a test, in the reference's order: throughput, CPU, context switches, reads and writes per operation."""

from collections.abc import Iterable
from dataclasses import dataclass

from dbversus.report.model import Assessment
from dbversus.report.parts.experiment.efficiency import SWITCHES
from dbversus.stats.metrics import (
    CPU,
    DISK_READ_BYTES,
    DISK_READS,
    DISK_WRITE_BYTES,
    READ_BYTES,
    THROUGHPUT,
    WRITE_BYTES,
)
from dbversus.stats.values.imported import MACHINE_CPU, MACHINE_CPU_SHARE, MACHINE_SWITCHES, WRITTEN_PER_ROW


@dataclass(frozen=True)
class Aspect:
    """`said`: in a sentence; `title`: over a list; `short`: as the reference calls it. `always`: told of every group, not only
    where it changes."""

    metric: str
    said: str
    title: str
    short: str
    always: bool = False


_CPU, _OF_MACHINE = "CPU per operation", "CPU of machine and client per operation"
_SWITCHES = "context switches per operation"
# one of each line is told: the first that has a ratio
_KNOWN = (
    (Aspect(THROUGHPUT, "throughput", "Throughput", "qps", True),),
    (
        Aspect(CPU, _CPU, "Server CPU per operation", "cpu/o", True),
        Aspect(MACHINE_CPU_SHARE.name, _CPU, _OF_MACHINE, "cpu/o", True),
        Aspect(MACHINE_CPU.name, _CPU, _OF_MACHINE, "cpu/o", True),
    ),
    (
        Aspect(SWITCHES, _SWITCHES, "Context switches of the server per operation", "cs/o"),
        Aspect(MACHINE_SWITCHES.name, _SWITCHES, "Context switches of the machine per operation", "cs/o"),
    ),
    (Aspect(DISK_READS, "disk reads per operation", "Disk reads per operation", "r/o"),),
    (
        Aspect(DISK_READ_BYTES, "bytes read per operation", "Bytes read from the disk per operation", "rKB/o"),
        Aspect(READ_BYTES, "bytes read per operation", "Bytes read by the server per operation", "rKB/o"),
    ),
    (
        Aspect(DISK_WRITE_BYTES, "bytes written per operation", "Bytes written to the disk per operation", "wKB/o"),
        Aspect(WRITE_BYTES, "bytes written per operation", "Bytes written by the server per operation", "wKB/o"),
        Aspect(WRITTEN_PER_ROW.name, "bytes written per inserted row", "Bytes written per inserted row", "wKB/i"),
    ),
)


def aspects(assessment: Assessment) -> tuple[Aspect, ...]:
    known = {one.metric for one in assessment.findings if one.ratio is not None}
    return tuple(first for kind in _KNOWN if (first := _first(kind, known)))


def _first(kind: Iterable[Aspect], known: set[str]) -> Aspect | None:
    return next((aspect for aspect in kind if aspect.metric in known), None)
