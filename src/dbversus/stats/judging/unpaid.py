"""Throughput that a server owes to writes which it left for later.

A short test ends before the pages that it changed are written back. A server that leaves most of its writes until after the test
looks faster than it is under sustained writes: MariaDB 10.11 against MySQL 5.6, +10 % in seconds and -4 % in minutes
(docs/evidence/aged-data.md). CPU that was put off is charged to the test; the time that it would have taken is not known. So a
small gain of such a server is no verdict.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dbversus.stats.metrics import DRAIN_WRITES, THROUGHPUT, Columns
from dbversus.stats.model import CHANGES, UNPAID, Finding, Verdict

MOST_PUT_OFF = 0.5
"""Of its bytes written, from which on a server has left most of them for later."""
SMALL_GAIN = 0.25
"""Chosen, not measured, as the two shares are: a gain of a setting that writes less is often larger."""
FAR_LESS = 0.5
"""Of what the faster one put off, at most this much is put off by the slower one. Two copies of a server put off the same."""

Place = tuple[str, str]
"""Test and target."""


@dataclass(frozen=True)
class Written:
    """Bytes per operation, in the test and left until after it."""

    during: float
    left: float

    @property
    def share_left(self) -> float:
        both = self.during + self.left
        return self.left / both if both > 0 else 0.0


def withhold_unpaid(
    findings: Sequence[Finding], columns: Columns, base: str, drains: Iterable[Mapping[str, Any]]
) -> list[Finding]:
    """The findings; small changes of throughput in favour of a target that put off most of its writes are undecided.

    `columns`: slots as in results/schema.py; `drains`: rows of its DRAIN_COLUMNS.
    """
    written = written_by(columns, drains)
    return [_withheld(finding, base, written) for finding in findings]


def _withheld(finding: Finding, base: str, written: Mapping[Place, Written]) -> Finding:
    if finding.metric != THROUGHPUT or finding.verdict not in CHANGES or not finding.ratio:
        return finding
    if abs(math.log(finding.ratio)) > math.log1p(SMALL_GAIN):
        return finding
    places = (finding.test, finding.target), (finding.test, base)
    mine, of_base = (written.get(place, Written(0, 0)) for place in places)
    faster, slower, who = (mine, of_base, "it") if finding.ratio > 1 else (of_base, mine, "the base")
    if faster.share_left < MOST_PUT_OFF or slower.left > FAR_LESS * faster.left:
        return finding
    note = f"{who} {UNPAID}: {100 * faster.share_left:.0f} % of its bytes written came after the test"
    return replace(finding, verdict=Verdict.UNDECIDED, note=note, whole_work=None)


def written_by(columns: Columns, drains: Iterable[Mapping[str, Any]]) -> dict[Place, Written]:
    """Of each test and target whose drains are known: means over its blocks."""
    left: dict[Place, list[float]] = {}
    for row in drains:
        if row[DRAIN_WRITES] is not None:
            left.setdefault((row["test"], row["target"]), []).append(float(row[DRAIN_WRITES]))
    found = {}
    for (test, target), bytes_left in left.items():
        own = (columns["test"] == test) & (columns["target"] == target)
        ops, written = (np.ma.sum(columns[name][own]) for name in ("ops", "server_write_bytes"))
        if ops and written is not np.ma.masked:
            found[test, target] = Written(float(written) / float(ops), float(np.mean(bytes_left)))
    return found
