"""Counters and parts of the cost that moved with a change, of those that mean something for it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dbversus.dbms.known import family_name
from dbversus.explain.cause import Cause, Kind
from dbversus.explain.change import AS_MUCH, Change, size
from dbversus.explain.costs import LEAST_PER_OP, TRIFLE, Place, bytes_each, cost_causes
from dbversus.explain.known import CounterMeaning, meaning_of
from dbversus.explain.shares import LEAST_SHARE
from dbversus.stats.metrics import (
    COUNTER,
    CPU,
    DISK_READS,
    IO_BYTES,
    READ_BYTES,
    THROUGHPUT,
    WAIT,
    WRITE_BYTES,
)

OF_THROUGHPUT = (WAIT, "server_switches_per_op", DISK_READS, "major_faults_per_op")
OF_ANY = ("errors_per_op", "major_faults_per_op")
LEAST_COST = 0.01
"""Of the change, by what a count usually costs: with less, it moved with the change and does not make it."""


@dataclass(frozen=True)
class CostLeads(Change):
    """Counters and parts of the cost, for one test."""

    def leads(self) -> Iterator[Cause]:
        """Counters that mean something for the change, and parts of its cost, in the same direction as it."""
        base, target = self.pair.base, self.pair.target
        place = Place.of(base, target, writes=self.seen.writes, paced=self.seen.paced)
        if family_name(base.dbms) == family_name(target.dbms):
            yield from self._of_one_version()
        for cause in cost_causes(self.seen.findings, self.seen.base, self.seen.mine, place):
            rose = (cause.ratio or 1) > 1
            if cause.kind is Kind.COUNTER:
                yield from self._counter(cause, rose)
            elif rose == self.is_worse:
                yield from self._part(cause)

    def _of_one_version(self) -> Iterator[Cause]:
        """Counters that tell by themselves and that only one of two versions has, as one has a cache that the other has not."""
        for name in sorted(self.seen.base.keys() ^ self.seen.mine.keys()):
            known = meaning_of(name.removeprefix(COUNTER)) if name.startswith(COUNTER) else None
            base, mine = self.amounts(name)
            if known and known.telling and max(base, mine) >= LEAST_PER_OP:
                cost = max(base, mine) * known.us_each
                lead = self.new(Kind.COUNTER, name, base=base, mine=mine, unit="1/op", cost=cost)
                yield from self._counter(lead, rose=mine > base)

    def _counter(self, cause: Cause, rose: bool) -> Iterator[Cause]:
        known = meaning_of(cause.what.removeprefix(COUNTER))
        if not known or self._is_of_other_bytes(known) or rose != (self.is_worse != known.good):
            return
        if known.bytes_each and self.most.metric != IO_BYTES:
            cause = replace(cause, cost=self._cost_of_cpu(cause, known))
        if not self._is_trifle(cause, known):
            command = self.trial(known.trial) if self.is_worse else ""
            yield replace(cause, means=known.means, source=known.source, command=command, share=self._share(cause))

    def _cost_of_cpu(self, cause: Cause, known: CounterMeaning) -> float:
        """What pages that are read or written take of the CPU time of an operation; of its bytes they may take all."""
        return abs(float(cause.mine or 0.0) - float(cause.base or 0.0)) * known.us_each / max(*self.amounts(CPU), 1e-9)

    def _is_of_other_bytes(self, known: CounterMeaning) -> bool:
        """Whether it counts reads where it is mostly bytes written that changed, or writes where it is bytes read."""
        read, written = (abs(mine - base) for base, mine in map(self.amounts, (READ_BYTES, WRITE_BYTES)))
        return self.most.metric == IO_BYTES and (known.rows if written > read else known.writes and read > written)

    def _is_trifle(self, cause: Cause, known: CounterMeaning) -> bool:
        """Whether what moved makes next to nothing of the change; or little of it, and moved by far less. Costs are rough; and
        that there is any of a telling one tells more than what it costs."""
        base, mine = (float(side or 0.0) for side in (cause.base, cause.mine))
        if cause.cost is not None and cause.cost < TRIFLE:
            return True
        share = self._rough_share(cause, abs(mine - base) * known.us_each)
        if base and mine and abs(math.log(mine / base)) < AS_MUCH * size(self.most):
            return share is not None and share < LEAST_SHARE
        return share is not None and share < LEAST_COST and not known.telling

    def _rough_share(self, cause: Cause, cost_us: float) -> float | None:
        """Of the change, at what a counter usually costs; of bytes, by bytes; None where that is not known."""
        if self.most.metric == IO_BYTES:
            return self._share(cause)
        base, mine = self.amounts(self.most.metric)
        if self.most.metric == THROUGHPUT and base and mine:
            base, mine = 1e6 / base, 1e6 / mine
        return cost_us / abs(mine - base) if mine != base else None

    def _part(self, cause: Cause) -> Iterator[Cause]:
        wanted = OF_THROUGHPUT if self.most.metric == THROUGHPUT else ()
        share = self._share(cause)
        if cause.what == WAIT and (self.seen.busy or self._is_little_of_the_time(cause)):
            return
        if cause.kind is Kind.BACKGROUND:
            if self.most.metric == CPU and share is not None and share >= LEAST_SHARE:
                yield replace(cause, share=share)
        elif cause.what in (*wanted, *OF_ANY) and (share is None or share >= LEAST_SHARE):
            yield replace(cause, share=share)

    def _is_little_of_the_time(self, cause: Cause) -> bool:
        """Whether operations take longer, and all that they wait longer for a CPU is little of that; of several clients, who wait
        side by side, it may be a smaller part still."""
        base, mine = self.amounts(THROUGHPUT)
        if self.most.metric != THROUGHPUT or not base or not mine:
            return False
        waits_us = float(cause.mine or 0.0) - float(cause.base or 0.0)
        return abs(waits_us) < LEAST_SHARE * abs(1e6 / mine - 1e6 / base)

    def _share(self, cause: Cause) -> float | None:
        """Of the change, where the cause is a part of what changed, in its unit."""
        base, mine = self.amounts(self.most.metric)
        of_cpu = self.most.metric == CPU and cause.unit == "µs/op" and cause.what != WAIT
        each = 1.0 if of_cpu else bytes_each(cause.what) if self.most.metric == IO_BYTES else 0.0
        if not each or mine == base:
            return None
        part = each * (float(cause.mine or 0.0) - float(cause.base or 0.0))
        return min(max(part / (mine - base), 0.0), 1.0)


def told_once(costs: Sequence[Cause], with_rows: bool) -> Iterator[Cause]:
    """One counter of each meaning; none that counts rows where another plan is told with them."""
    said: set[str] = set()
    for cause in costs:
        known = meaning_of(cause.what.removeprefix(COUNTER)) if cause.kind is Kind.COUNTER else None
        if known is None or (known.means not in said and (with_rows or not known.rows)):
            yield cause
        said |= {known.means} if known else set()
