"""Bytes that are no cost of an operation: files that a server makes ready ahead, and work that it does by the clock.

PostgreSQL fills a segment of its log with zeros before the first record goes into it. Data is restored, so a test whose records
just reach the next segment writes one more than its base in every block alike, and no number of blocks tells that from a cost. So
a change of IO has to stand when one such file is left out. Version 18 counts what it fills: that is left out there, and no more.

What a server writes by the clock is spread over the operations of that time. Where one of the two does far more of these, bytes
per operation differ for that alone.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from dbversus.stats.metrics import IO_BYTES, OF_WRITES, THROUGHPUT, Columns
from dbversus.stats.model import BY_THE_CLOCK, CHANGES, UNSETTLED, Finding, Verdict
from dbversus.units import show_bytes

FAR = 4.0
"""So many times as many operations per second are far more, of tests that only read; of others, FAR_OF_WRITES."""
FAR_OF_WRITES = 20.0
MOST_BY_THE_CLOCK = 10e6
"""Bytes per second; a server that reads or writes more does so for its operations."""

_OF_LOG = re.compile(r"io\..+\.wal\.")
_FILLED = ".wal.init.write_bytes"

Place = tuple[str, str]
"""Test and target."""


@dataclass(frozen=True)
class Ahead:
    """`unit_bytes`: label → size of a file that is made ready ahead; `filled_per_op`: what the server says it filled."""

    unit_bytes: Mapping[str, float]
    filled_per_op: Mapping[Place, float]


def ahead_of(unit_bytes: Mapping[str, float], counters: Iterable[Mapping[str, Any]]) -> Ahead:
    """`counters`: rows of the table `counters`."""
    blocks: dict[Place, dict[int, float]] = {}
    for row in counters:
        if _OF_LOG.match(row["counter"]):
            of_blocks = blocks.setdefault((row["test"], row["target"]), {})
            filled = row["per_op"] or 0.0 if row["counter"].endswith(_FILLED) else 0.0
            of_blocks[row["block"]] = of_blocks.get(row["block"], 0.0) + filled
    return Ahead(unit_bytes, {place: fmean(of_blocks.values()) for place, of_blocks in blocks.items()})


@dataclass(frozen=True)
class _Done:
    """Of one target in one test: bytes per operation, operations per block, operations and bytes per second, rows changed."""

    bytes_per_op: float
    ops_per_block: float
    ops_per_s: float
    changes: bool

    @property
    def bytes_per_s(self) -> float:
        return self.bytes_per_op * self.ops_per_s


def withhold_not_per_op(findings: Sequence[Finding], columns: Columns, base: str, ahead: Ahead) -> list[Finding]:
    """The findings; changes of IO, and of bytes written, that are none of the operations are undecided.

    `columns`: slots as in results/schema.py.
    """
    rates = {(one.test, one.target): one.ratio for one in findings if one.metric == THROUGHPUT and one.ratio}
    return [
        _judged_with(one, columns, base, ahead, rates.get((one.test, one.target)))
        if one.metric in OF_WRITES and one.verdict in CHANGES and one.ratio
        else one
        for one in findings
    ]


def _judged_with(finding: Finding, columns: Columns, base: str, ahead: Ahead, rate: float | None) -> Finding:
    mine, theirs = (_done(columns, finding, label) for label in (finding.target, base))
    if mine is None or theirs is None:
        return finding
    note = _of_the_clock(mine, theirs, rate) or _of_a_file(finding, mine, theirs, base, ahead)
    return replace(finding, verdict=Verdict.UNDECIDED, note=note, whole_work=None) if note else finding


def _of_the_clock(mine: _Done, theirs: _Done, rate: float | None) -> str:
    times = max(rate, 1 / rate) if rate else 1.0
    most = max(mine.bytes_per_s, theirs.bytes_per_s)
    if times < (FAR_OF_WRITES if mine.changes or theirs.changes else FAR) or most > MOST_BY_THE_CLOCK:
        return ""
    return (
        f"{BY_THE_CLOCK} is spread over {times:.0f} times as many operations on one of them: {show_bytes(most)}/s at most "
        "is what servers write anyway"
    )


def _of_a_file(finding: Finding, mine: _Done, theirs: _Done, base: str, ahead: Ahead) -> str:
    """Why the change could be that of a file made ready ahead; empty where it stands by its margin without one."""
    more, less = (mine, theirs) if mine.bytes_per_op > theirs.bytes_per_op else (theirs, mine)
    label = finding.target if more is mine else base
    places = (finding.test, finding.target), (finding.test, base)
    if all(place in ahead.filled_per_op for place in places):
        ends = [
            done.bytes_per_op - ahead.filled_per_op[place] for done, place in zip((mine, theirs), places, strict=True)
        ]
        if min(ends) <= 0 or max(ends) / min(ends) > 1 + finding.margin:
            return ""
        return f"{UNSETTLED}: it is none without the segments of the log that were filled ahead"
    unit = ahead.unit_bytes.get(label, 0.0)
    if not unit or more.bytes_per_op - unit / more.ops_per_block > (1 + finding.margin) * less.bytes_per_op:
        return ""
    return (
        f"{UNSETTLED}: one segment of the log, {show_bytes(unit)} that {label} fills ahead, is all of it; the test is too short "
        "to be judged by IO"
    )


def _done(columns: Columns, finding: Finding, target: str) -> _Done | None:
    """Bytes are those of the finding's metric: read and written, or written alone."""
    own = (columns["test"] == finding.test) & (columns["target"] == target)
    names = ("driven_ops", "driven_read_bytes", "driven_write_bytes", "ops", "elapsed_ns")
    driven, read, written, ops, elapsed = (np.ma.sum(columns[name][own]) for name in names)
    if np.ma.masked in (driven, read, written) or not driven or not ops or not elapsed:
        return None
    affected = np.ma.sum(columns["affected"][own]) if "affected" in columns else 0
    return _Done(
        bytes_per_op=float(read + written if finding.metric == IO_BYTES else written) / float(driven),
        ops_per_block=float(driven) / len(np.unique(np.ma.getdata(columns["block"])[own])),
        ops_per_s=float(ops) / float(elapsed) * 1e9,
        changes=affected is not np.ma.masked and bool(affected),
    )
