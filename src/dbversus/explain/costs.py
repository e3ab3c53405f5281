"""What changed beside the verdict, most costly first, as causes: parts of the CPU time, bytes, calls, background work, counters.

A change is ranked by its share of what an operation costs: of its server CPU, of its bytes, of its response time. System calls,
faults and switches are taken at what they usually cost a kernel, and counters at what counters.toml says of them, for the ranking
alone. Of the server's own counters most cannot be told a cost; they come last.

What servers do by the clock, however many operations there are, is compared by the second: where one side does far fewer
operations, each of them would get more of it. So is what follows from writes at a set rate beside queries. Counters that are
broken, or count something else on the other side, are left out.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbversus.explain.cause import Cause, Fact, Kind
from dbversus.explain.known import counts_otherwise, is_broken, is_by_the_clock, is_of_engine, is_restated, meaning_of
from dbversus.results.stored import Target
from dbversus.stats.judging.not_per_op import MOST_BY_THE_CLOCK
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
    READ_CALL_BYTES,
    SYSTEM_CPU,
    THROUGHPUT,
    USER_CPU,
    WAIT,
    WRITE_BYTES,
    WRITE_CALL_BYTES,
    metric_named,
)
from dbversus.stats.model import CHANGES, Finding

TRIFLE = 0.02
"""Less of an operation's cost than this is not named."""
LEAST_PER_OP = 0.1
"""A counter whose cost is not known has to have changed by so much per operation."""
SAME_WITHIN = 0.02
"""Two counters that agree so closely on both targets are one quantity, seen in two views."""
MOST_THREADS, LEAST_OF_WHOLE = 3, 0.2
"""Threads that are named of background work, and what each makes up of it."""
THREADS = "threads"
"""Of facts: their names, in lines."""
WHOLE = 0.9
"""A part that is so much of the whole says what the verdict on the whole says."""

_MODES = (USER_CPU, SYSTEM_CPU)
_OF_BYTES = ("read_bytes_per_op", "write_bytes_per_op", DISK_READ_BYTES, DISK_WRITE_BYTES)
_PARTS = {FOREGROUND_CPU: CPU, **dict.fromkeys(_MODES, CPU), **dict.fromkeys(_OF_BYTES, IO_BYTES)}
US_EACH = {
    "minor_faults_per_op": 0.5,
    "major_faults_per_op": 50.0,
    "server_switches_per_op": 1.0,
    "read_calls_per_op": 0.5,
    "write_calls_per_op": 0.5,
    DISK_READS: 50.0,
    DISK_WRITES: 50.0,
}
_BYTE_COUNTER = re.compile(r"bytes(?:_written)?$|os_log_written|data_(?:read|written)$")
# those that go over a socket are no input or output
_NETWORK = re.compile(r"bytes_(?:sent|received)")

# of servers that are only read: housekeeping, in lumps
_BY_THE_CLOCK = frozenset(
    {WRITE_BYTES, WRITE_CALL_BYTES, READ_CALL_BYTES, DISK_WRITES, DISK_WRITE_BYTES, "read_calls_per_op", "write_calls_per_op",
     "server_switches_per_op"}
)  # fmt: skip
OTHER_RATE = 1.5
"""So many times the operations per second make figures per operation of what is done by the clock others."""
SAME_PACE = 1.1
"""So many times as much a second is the same of what follows from writes at a set rate."""
LITTLE_PER_S = 1000.0
"""Of what is no bytes: done so seldom, it is no cost of the operations of a second."""
ALIKE = 2.0
"""Waiting in the run queue that grows by no more than this beside the CPU time is that of a busy host."""

Means = Mapping[str, float]


@dataclass(frozen=True)
class Place:
    """What has to be known of the base and a target to compare their counters: the target's DBMS, whether the base is another
    one, or of another version, whether the test changes data, and whether it does so at a set rate, whatever else is done."""

    dbms: str = ""
    is_other: bool = False
    versions_differ: bool = False
    writes: bool = True
    paced: bool = False

    @classmethod
    def of(cls, base: Target, target: Target, *, writes: bool, paced: bool) -> "Place":
        return cls(target.dbms, base.dbms != target.dbms, base.version != target.version, writes, paced)


def cost_causes(findings: Mapping[str, Finding], base: Means, mine: Means, place: Place = Place()) -> list[Cause]:
    """Most costly first, each quantity once. `base`, `mine`: metric → mean per operation, counters among them."""
    return _once(sorted(_changes(findings, base, mine, place), key=_rank))


def _rank(cause: Cause) -> tuple[bool, float]:
    return cause.cost is None, -(cause.cost if cause.cost is not None else abs(math.log(cause.ratio or 1)))


def _changes(findings: Mapping[str, Finding], base: Means, mine: Means, place: Place) -> list[Cause]:
    found = []
    for name, finding in findings.items():
        if finding.verdict not in CHANGES or not finding.ratio or _says_nothing_new(name, findings, base, mine):
            continue
        if _is_no_cost(name, base, mine, place):
            continue
        amounts = base.get(name, 0.0), mine.get(name, 0.0)
        cost = _cost(name, abs(amounts[1] - amounts[0]), base, mine)
        least, size = (LEAST_PER_OP, abs(amounts[1] - amounts[0])) if cost is None else (TRIFLE, cost)
        if size >= least:
            unit, facts = metric_named(name).unit, _facts(name, base, mine)
            found.append(
                Cause(_kind(name), finding.test, finding.target, name, *amounts, unit, finding.ratio, cost, facts=facts)
            )
    return found


def _facts(name: str, base: Means, mine: Means) -> dict[str, Fact]:
    """Of background work as a whole: the threads that do most of it where there is more of it."""
    if name != BACKGROUND_CPU:
        return {}
    more = max(base, mine, key=lambda side: side.get(name, 0.0))
    threads = {one.removeprefix(BACKGROUND): value for one, value in more.items() if one.startswith(BACKGROUND)}
    most = [
        one for one in sorted(threads, key=lambda one: -threads[one]) if threads[one] >= LEAST_OF_WHOLE * more[name]
    ]
    return {THREADS: "\n".join(most[:MOST_THREADS])} if len(threads) > 1 and most else {}


def _is_no_cost(name: str, base: Means, mine: Means, place: Place) -> bool:
    """Whether it does not tell what an operation costs: done by the clock, broken, or counted otherwise on the other side."""
    counter = name.removeprefix(COUNTER)
    writes = place.writes and not place.paced
    if name.startswith(COUNTER):
        if is_restated(counter) or (place.versions_differ and counts_otherwise(counter, place.dbms)):
            return True
        if place.is_other and is_of_engine(counter) and not (base.get(name) and mine.get(name)) and not _tells(counter):
            return True
        sides = [{one.removeprefix(COUNTER): value for one, value in side.items()} for side in (base, mine)]
        if is_broken(counter, sides):
            return True
        by_the_clock = is_by_the_clock(counter, writes)
    else:
        by_the_clock = _kind(name) is Kind.BACKGROUND or (name in _BY_THE_CLOCK and not writes)
    if name == WAIT:
        return _is_of_a_busy_host(base, mine)
    return by_the_clock and _is_the_same_by_the_second(name, base, mine, place.paced)


def _tells(counter: str) -> bool:
    known = meaning_of(counter)
    return known is not None and known.telling


def _is_of_a_busy_host(base: Means, mine: Means) -> bool:
    waits = [side.get(WAIT, 0.0) / side[CPU] if side.get(CPU) else 0.0 for side in (base, mine)]
    return min(waits) > 0 and max(waits) / min(waits) < ALIKE


def _is_the_same_by_the_second(name: str, base: Means, mine: Means, paced: bool) -> bool:
    """Where the two do far more or far fewer operations than each other; else their operations compare them, unless it follows
    from what comes at a set rate."""
    rates = base.get(THROUGHPUT, 0.0), mine.get(THROUGHPUT, 0.0)
    if min(rates) <= 0:
        return False
    theirs, ours = (side.get(name, 0.0) * rate for side, rate in zip((base, mine), rates, strict=True))
    grew = mine.get(name, 0.0) > base.get(name, 0.0)
    more, less = (ours, theirs) if grew else (theirs, ours)
    if paced:
        return more < SAME_PACE * less
    if max(rates) / min(rates) < OTHER_RATE:
        return False
    return max(theirs, ours) < _little_per_s(name) or more < OTHER_RATE * less


def _little_per_s(name: str) -> float:
    if metric_named(name).unit == "bytes/op" or _BYTE_COUNTER.search(name):
        return MOST_BY_THE_CLOCK
    return 0.0 if metric_named(name).unit == "µs/op" else LITTLE_PER_S


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
    if name.startswith(BACKGROUND):
        return _is_named_otherwise(name, base, mine)
    if name == BACKGROUND_CPU:
        parts = [one for one in findings if one.startswith(BACKGROUND) and findings[one].verdict in CHANGES]
        return any(not _is_named_otherwise(one, base, mine) for one in parts)
    whole = _PARTS.get(name)
    if whole is None or whole not in findings or findings[whole].verdict not in CHANGES:
        return False
    return all(means.get(name, 0.0) >= WHOLE * means.get(whole, math.inf) for means in (base, mine))


def _is_named_otherwise(name: str, base: Means, mine: Means) -> bool:
    """Whether only one of the two has background work of this name, and the other has work of names of its own: threads that are
    called otherwise (MySQL 5.6 calls all of them mysqld). The two can only be compared as a whole."""
    of_base, of_mine = ({one for one in side if one.startswith(BACKGROUND) and side[one]} for side in (base, mine))
    if min(len(of_base), len(of_mine)) == 1 < max(len(of_base), len(of_mine)):
        return True  # one of the two has one name for all
    theirs, ours = of_base - of_mine, of_mine - of_base
    least = TRIFLE * max(base.get(CPU, 0.0), mine.get(CPU, 0.0))
    return name in theirs | ours and all(
        sum(side[one] for one in own) >= least for side, own in ((base, theirs), (mine, ours))
    )


def _cost(name: str, amount: float, base: Means, mine: Means) -> float | None:
    """A change by `amount` as a share of what an operation costs; None where that cannot be told."""

    def share_of(whole: str, each: float = 1.0) -> float | None:
        most = max(base.get(whole, 0.0), mine.get(whole, 0.0))
        return min(amount * each / most, 1.0) if most > 0 else None

    if name == "errors_per_op":
        return 1.0
    if name == WAIT:
        return share_of("latency_mean_us") or share_of(CPU)
    if name in US_EACH:
        share = share_of(CPU)
        return None if share is None else min(amount * US_EACH[name] / max(base.get(CPU, 0), mine.get(CPU, 0)), 1.0)
    if name.startswith(COUNTER):
        of_io = share_of(IO_BYTES, each) if (each := bytes_each(name)) else None
        known = meaning_of(name.removeprefix(COUNTER))
        most = max(base.get(CPU, 0.0), mine.get(CPU, 0.0))
        if known is None or most <= 0:
            return of_io
        least = TRIFLE if known.telling else 0.0
        return min(max(amount * known.us_each / most, least, of_io or 0.0), 1.0)
    return share_of(IO_BYTES if metric_named(name).unit == "bytes/op" else CPU)


def bytes_each(metric: str) -> float:
    """Of a counter of bytes that are read or written 1, of pages their size; 0 of all others."""
    if not metric.startswith(COUNTER) or _NETWORK.search(metric):
        return 0.0
    known = meaning_of(metric.removeprefix(COUNTER))
    return known.bytes_each if known and known.bytes_each else float(bool(_BYTE_COUNTER.search(metric)))


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
