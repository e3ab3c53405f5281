"""Verdicts that a longer run could turn round, since servers leave writes for later.

A short test ends before the pages that it changed are written back. A server that leaves most of its writes until after the
test looks faster than it is under sustained writes: MariaDB 10.11 against MySQL 5.6, +10 % in seconds and -4 % in minutes. CPU
that was put off is charged to the test; the time that it would have taken is not known, so a change of throughput says so.

Bytes written depend on it even more. PostgreSQL 17 wrote 3.2 times the bytes of MySQL 5.6 in the first second, since the first
change of each page after a checkpoint puts the whole page into the log, and a fifth after minutes. So a change of IO, or of
bytes written, has to stand with and without what was put off. (docs/evidence/aged-data.md)
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dbversus.stats.judging.whole_work import with_note
from dbversus.stats.metrics import IO_BYTES, OF_WRITES, THROUGHPUT, Columns
from dbversus.stats.model import CHANGES, DIFFERS, UNSETTLED, Finding, Verdict
from dbversus.stats.values.put_off import Place, Writes, writes_by_place
from dbversus.units import show_change

MOST_PUT_OFF = 0.5
"""Of its bytes written, from which on a server has left most of them for later."""


def withhold_unpaid(
    findings: Sequence[Finding],
    columns: Columns,
    base: str,
    drains: Iterable[Mapping[str, Any]],
    objects: Iterable[Mapping[str, Any]] = (),
) -> list[Finding]:
    """The findings; changes of IO, and of bytes written, that what was put off could undo are undecided; gains in throughput
    have it in a note.

    `columns`: slots as in results/schema.py; `drains`, `objects`: rows of the tables `drains` and `objects`.
    """
    writes = writes_by_place(columns, drains, objects)
    return [_judged_with(finding, base, writes) for finding in findings]


def _judged_with(finding: Finding, base: str, writes: Mapping[Place, Writes]) -> Finding:
    if finding.verdict not in DIFFERS or not finding.ratio:
        return finding
    mine, of_base = (writes.get((finding.test, label)) for label in (finding.target, base))
    if mine is None or of_base is None:
        return finding
    if finding.metric == THROUGHPUT:
        return with_note(finding, _gained_by(finding.ratio, mine, of_base))
    if finding.metric not in OF_WRITES or finding.verdict not in CHANGES:
        return finding
    if finding.metric != IO_BYTES:
        mine, of_base = replace(mine, read=0.0), replace(of_base, read=0.0)
    note = _undone(finding, mine, of_base)
    return finding if note is None else replace(finding, verdict=Verdict.UNDECIDED, note=note, whole_work=None)


def _gained_by(ratio: float, mine: Writes, of_base: Writes) -> str:
    """What the faster one put off, where that is most of its writes, and twice what the slower one did; else empty."""
    faster, slower, who = (mine, of_base, "it") if ratio > 1 else (of_base, mine, "the base")
    if faster.share_drained < MOST_PUT_OFF or 2 * slower.drained > faster.drained:
        return ""
    return f"{who} put off most of its writes ({100 * faster.share_drained:.0f} % came after the test): {UNSETTLED}"


def _undone(finding: Finding, mine: Writes, of_base: Writes) -> str | None:
    """Why a change of IO could be none, or the opposite; None when it stands by its margin whatever is counted."""
    least = math.log1p(finding.margin)
    for what, of_target, theirs in _counted_otherwise(mine, of_base):
        ratio = math.log(of_target / theirs) if min(of_target, theirs) > 0 else 0.0
        if ratio * math.copysign(1, math.log(finding.ratio or 1)) < least:
            return f"{UNSETTLED}: it is {show_change(math.exp(ratio))} {what}"
    return None


def _counted_otherwise(mine: Writes, of_base: Writes) -> Iterator[tuple[str, float, float]]:
    """Bytes per operation of the two, with and without what a longer run pays at another rate."""
    both = mine.read + mine.written, of_base.read + of_base.written
    drained = both[0] + mine.drained, both[1] + of_base.drained
    yield "with what was written right after the test", *drained
    yield "with all that was left unwritten", drained[0] + mine.unwritten, drained[1] + of_base.unwritten
    if mine.images is not None and of_base.images is not None:
        yield "without whole pages in the log", max(1.0, both[0] - mine.images), max(1.0, both[1] - of_base.images)
