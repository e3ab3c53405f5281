"""Under which conditions a test was measured, as causes: how far servers had settled, what memory they had, what they logged."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np

from dbversus.explain.cause import Cause, Fact, Kind
from dbversus.results.records import Log, Slots
from dbversus.results.stored import Results
from dbversus.results.tables.background import DRAINS
from dbversus.stats.judge import looks_of
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.metrics import CPU, DRAIN_CPU, DRAIN_WRITES, SMOOTH, WRITE_BYTES
from dbversus.stats.validity.drift import TRENDS, is_drift, own_trend_values
from dbversus.stats.values.finished import of_finished_blocks
from dbversus.stats.values.levels import Figures

DRIVEN_S = "driven_s"
PUT_OFF_SHARE = 0.05
"""Less of the CPU or of the bytes of an operation than this is not worth a word."""
LONG_S = 300
"""A test that lasts so long has seen what a short one does not (docs/evidence/aged-data.md)."""
MOST_FAULTS_PER_S = 20.0
"""Servers with enough memory have less than one a second; one that outgrew its limit had 190 to 240."""
EXAMPLES_SHOWN = 2

MEASURED_ON, PUT_OFF, STILL_WORKED = "measured on", "put off", "still worked"
AGED, LEAD_IN_S, LEAST_S, MOST_S = "aged", "lead_in_s", "least_s", "most_s"

_DRIVEN = """
    SELECT test, target, sum(elapsed_ns) / 1e9 FROM slots
    WHERE elapsed_ns > 0 GROUP BY test, target, block ORDER BY block"""
_FAULTS = """
    SELECT test, target, sum(server_major_faults) / (sum(elapsed_ns) / 1e9)
    FROM slots WHERE elapsed_ns > 0 AND server_major_faults IS NOT NULL GROUP BY test, target ORDER BY target"""
_TITLES = {trend.name: metric.title for trend, metric in zip(TRENDS, SMOOTH, strict=True)}


def regime_causes(results: Results, test: str, figures: Figures) -> list[Cause]:
    """Of tests that leave servers something to do: how they were measured, then each target that put off much of its work.

    Nothing for reads, and for results that do not have these figures.
    """
    lead_in_s = max((plan.lead_in_s for plan in results.of_type(Slots) if plan.test == test), default=0)
    if not lead_in_s and not any(row["test"] == test for row in results.rows(DRAINS)):
        return []
    of_targets = {target.label: figures.get((test, target.label), {}) for target in results.targets}
    facts: dict[str, Fact] = {AGED: test in results.header.aged, LEAD_IN_S: lead_in_s}
    seconds = [each for known in of_targets.values() for each in known.get(DRIVEN_S, ())]
    if not lead_in_s and seconds and min(seconds) < LONG_S:
        facts |= {LEAST_S: min(seconds), MOST_S: max(seconds)}
    measured = Cause(Kind.REGIME, test, "", MEASURED_ON, facts=facts)
    return [measured, *(found for label, known in of_targets.items() for found in _put_off(test, label, known))]


def _put_off(test: str, label: str, figures: Mapping[str, Sequence[float]]) -> Iterator[Cause]:
    shares = {"CPU": _later(figures, DRAIN_CPU, CPU), "bytes written": _later(figures, DRAIN_WRITES, WRITE_BYTES)}
    much: dict[str, Fact] = {what: share for what, share in shares.items() if share > PUT_OFF_SHARE}
    if much:
        yield Cause(Kind.REGIME, test, label, PUT_OFF, facts=much)


def _later(figures: Mapping[str, Sequence[float]], after: str, during: str) -> float:
    """Of what was done in all, the part that came after the test."""
    if not figures.get(after) or not figures.get(during):
        return 0.0
    later = fmean(figures[after])
    both = later + fmean(figures[during])
    return later / both if both > 0 else 0.0


def driven_figures(results: Results) -> dict[tuple[str, str], dict[str, list[float]]]:
    """(test, target label) → DRIVEN_S → seconds of each block."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for test, target, seconds in results.slot_rows(_DRIVEN):
        found.setdefault((test, target), {}).setdefault(DRIVEN_S, []).append(seconds)
    return found


def memory_causes(results: Results) -> list[Cause]:
    """Servers that had too little memory: they wait for pages of their own that the kernel has to read again.

    Nothing where the page cache is emptied: the servers' programs leave it too.
    """
    if results.header.cache != "warm":
        return []
    facts: dict[str, Fact] = {"limit_bytes": results.header.memory}
    return [
        Cause(Kind.MEMORY, test, target, "major page faults", mine=faults_per_s, unit="1/s", facts=facts)
        for test, target, faults_per_s in results.slot_rows(_FAULTS)
        if faults_per_s > MOST_FAULTS_PER_S
    ]


def drift_causes(results: Results) -> list[Cause]:
    """Targets whose CPU per operation or throughput moved while they were measured by more than the margin, beyond chance.

    Each by itself: that is what ratios cancel.
    """
    layout = of_finished_blocks(results).layout
    if layout is None:
        return []
    return [
        Cause(Kind.DRIFT, trend.test, trend.target, _TITLES[trend.metric], ratio=trend.ratio)
        for trend in assess(own_trend_values(layout), TRENDS, looks_of(results.header))
        if is_drift(trend)
    ]


def log_causes(results: Results, test: str) -> list[Cause]:
    """What servers wrote to their logs during a test: one for each target that wrote something."""
    records = [record for record in results.of_type(Log) if record.test == test]
    if not records:
        return []
    blocks = len(np.unique(results.slots["block"][results.slots["test"] == test]))
    return [found for target in results.targets for found in _logged(test, target.label, target.name, records, blocks)]


def _logged(test: str, label: str, name: str, records: Sequence[Log], blocks: int) -> Iterator[Cause]:
    own = [(record.block, record.targets[name]) for record in records if name in record.targets]
    if own:
        lines = sum(logged.lines for _, logged in own)
        examples = list(dict.fromkeys(text for _, logged in own for text in logged.examples))[:EXAMPLES_SHOWN]
        facts: dict[str, Fact] = {"in_blocks": len({block for block, _ in own}), "blocks": blocks}
        yield Cause(Kind.LOG, test, label, "\n".join(examples), mine=lines, unit="lines", facts=facts)


def unfinished_causes(results: Results, test: str) -> list[Cause]:
    """Targets that still worked when their time to drain was up: what they did later is in nobody's figures."""
    of_targets: dict[str, list[tuple[float, bool]]] = {}
    for row in sorted(results.rows(DRAINS), key=lambda row: int(row["block"])):
        if row["test"] == test:
            of_targets.setdefault(row["target"], []).append((row["elapsed_ns"] / 1e9, bool(row["idle"])))
    found = []
    for label, drains in of_targets.items():
        busy = [seconds for seconds, idle in drains if not idle]
        if busy:
            facts: dict[str, Fact] = {"times": len(busy), "drains": len(drains)}
            found.append(Cause(Kind.REGIME, test, label, STILL_WORKED, mine=max(busy), unit="s", facts=facts))
    return found
