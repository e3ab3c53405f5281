"""What changed beside the verdict, most costly first, as causes: parts of the CPU time, bytes, calls, background work, counters.

A change is ranked by its share of what an operation costs: of its server CPU, of its bytes, of its response time. System calls,
faults and switches are taken at what they usually cost a kernel, for the ranking alone. Of the server's own counters most
cannot be told a cost; they come last.
"""

import math
import re
from collections.abc import Mapping, Sequence

from dbversus.explain.cause import Cause, Kind
from dbversus.stats.metrics import (
    BACKGROUND,
    BACKGROUND_CPU,
    COUNTER,
    CPU,
    DISK_READ_BYTES,
    DISK_READS,
    DISK_WRITE_BYTES,
    DISK_WRITES,
    FOREGROUND_CPU,
    IO_BYTES,
    SYSTEM_CPU,
    USER_CPU,
    WAIT,
    metric_named,
)
from dbversus.stats.model import CHANGES, Finding

TRIFLE = 0.02
"""Less of an operation's cost than this is not named."""
LEAST_PER_OP = 0.1
"""A counter whose cost is not known has to have changed by so much per operation."""
SAME_WITHIN = 0.02
"""Two counters that agree so closely on both targets are one quantity, seen in two views."""
WHOLE = 0.9
"""A part that is so much of the whole says what the verdict on the whole says."""

_MODES = (USER_CPU, SYSTEM_CPU)
_OF_BYTES = ("read_bytes_per_op", "write_bytes_per_op", DISK_READ_BYTES, DISK_WRITE_BYTES)
_PARTS = {FOREGROUND_CPU: CPU, **dict.fromkeys(_MODES, CPU), **dict.fromkeys(_OF_BYTES, IO_BYTES)}
_US_EACH = {
    "minor_faults_per_op": 0.5,
    "major_faults_per_op": 50.0,
    "server_switches_per_op": 1.0,
    "read_calls_per_op": 0.5,
    "write_calls_per_op": 0.5,
    DISK_READS: 50.0,
    DISK_WRITES: 50.0,
}
_BYTE_COUNTER = re.compile(r"bytes$|_written$|os_log_written|data_(?:read|written)$")
# those that go over a socket are no input or output
_NETWORK = re.compile(r"bytes_(?:sent|received)")

Means = Mapping[str, float]


def cost_causes(findings: Mapping[str, Finding], base: Means, mine: Means) -> list[Cause]:
    """Most costly first, each quantity once. `base`, `mine`: metric → mean per operation, counters among them."""
    return _once(sorted(_changes(findings, base, mine), key=_rank))


def _rank(cause: Cause) -> tuple[bool, float]:
    return cause.cost is None, -(cause.cost if cause.cost is not None else abs(math.log(cause.ratio or 1)))


def _changes(findings: Mapping[str, Finding], base: Means, mine: Means) -> list[Cause]:
    found = []
    for name, finding in findings.items():
        if finding.verdict not in CHANGES or not finding.ratio or _says_nothing_new(name, findings, base, mine):
            continue
        amounts = base.get(name, 0.0), mine.get(name, 0.0)
        cost = _cost(name, abs(amounts[1] - amounts[0]), base, mine)
        least, size = (LEAST_PER_OP, abs(amounts[1] - amounts[0])) if cost is None else (TRIFLE, cost)
        if size >= least:
            unit = metric_named(name).unit
            found.append(Cause(_kind(name), finding.test, finding.target, name, *amounts, unit, finding.ratio, cost))
    return found


def _kind(metric: str) -> Kind:
    if metric.startswith(COUNTER):
        return Kind.COUNTER
    return Kind.BACKGROUND if metric.startswith((BACKGROUND, BACKGROUND_CPU)) else Kind.COST


def _says_nothing_new(name: str, findings: Mapping[str, Finding], base: Means, mine: Means) -> bool:
    """The judged metrics, response times (they are throughput), and parts of what is said already."""
    if findings[name].judged or name.startswith("latency_"):
        return True
    if name in _MODES and (FOREGROUND_CPU in base or FOREGROUND_CPU in mine):
        return True  # the same CPU time, split in another way
    if name == BACKGROUND_CPU:
        return any(item.startswith(BACKGROUND) and findings[item].verdict in CHANGES for item in findings)
    whole = _PARTS.get(name)
    if whole is None or whole not in findings or findings[whole].verdict not in CHANGES:
        return False
    return all(means.get(name, 0.0) >= WHOLE * means.get(whole, math.inf) for means in (base, mine))


def _cost(name: str, amount: float, base: Means, mine: Means) -> float | None:
    """A change by `amount` as a share of what an operation costs; None where that cannot be told."""

    def share_of(whole: str) -> float | None:
        most = max(base.get(whole, 0.0), mine.get(whole, 0.0))
        return min(amount / most, 1.0) if most > 0 else None

    if name == "errors_per_op":
        return 1.0
    if name == WAIT:
        return share_of("latency_mean_us") or share_of(CPU)
    if name in _US_EACH:
        share = share_of(CPU)
        return None if share is None else min(amount * _US_EACH[name] / max(base.get(CPU, 0), mine.get(CPU, 0)), 1.0)
    if name.startswith(COUNTER):
        is_bytes = _BYTE_COUNTER.search(name) and not _NETWORK.search(name)
        return share_of(IO_BYTES) if is_bytes else None
    return share_of(IO_BYTES if metric_named(name).unit == "bytes/op" else CPU)


def _once(ranked: Sequence[Cause]) -> list[Cause]:
    """Without counters that are in another view what was named before."""
    kept: list[Cause] = []
    for item in ranked:
        if not (item.kind is Kind.COUNTER and any(_is_as(item, other) for other in kept)):
            kept.append(item)
    return kept


def _is_as(one: Cause, other: Cause) -> bool:
    """Whether the same quantity is behind both."""
    pairs = ((one.base, other.base), (one.mine, other.mine))
    return all(
        isinstance(ours, float | int)
        and isinstance(theirs, float | int)
        and abs(ours - theirs) <= SAME_WITHIN * max(ours, theirs)
        for ours, theirs in pairs
    )
