"""High percentiles of response time as block values: ln(target/base) of the percentiles of all operations of a block.

A slot is short: it has some hundred operations, so that its 99th percentile is about its slowest one, and a midmean over rows
leaves out the slow slots that such a percentile is asked for. The histograms of a block hold every operation. (The median
needs neither: it is of slots, as the mean is.) docs/protocol.md, "The headline of a test".
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from dbversus.results.latency import Latency, decode, merge
from dbversus.results.layout import Layout
from dbversus.results.records import Latency as LatencyRecord
from dbversus.results.stored import Results
from dbversus.stats.judgeable import PERCENTS
from dbversus.stats.metrics import PERCENTILES
from dbversus.stats.model import BlockValue, Finding, Metric, Verdict
from dbversus.stats.values.blocks import disturbed_rows

FEWEST_BEYOND = 100
"""Operations slower than a percentile that a block must have, in the mean over blocks; fewer make it a matter of luck."""

Place = tuple[str, str]
"""Test and target's label."""


@dataclass(frozen=True)
class Block:
    """Response times of all operations of one test in one block, of a target and of the base."""

    number: int
    ours: Latency
    theirs: Latency

    @property
    def operations(self) -> int:
        """Of the side that has fewer."""
        return min(self.ours.count, self.theirs.count)

    def log_ratio(self, percent: float) -> float:
        """ln(target/base) of a percentile."""
        mine, base = (side.percentiles_ns([percent])[0] for side in (self.ours, self.theirs))
        return math.log(max(mine, 1) / max(base, 1))


Latencies = Mapping[Place, Sequence[Block]]
"""By test and target: blocks in which both the target and the base have operations."""


def wanted_operations(metric: str) -> int:
    """Operations per block and target that the percentile needs."""
    return math.ceil(FEWEST_BEYOND / (1 - PERCENTS[metric] / 100) - 1e-6)


def latency_blocks(results: Results) -> dict[Place, list[Block]]:
    """By test and target: blocks in which both the target and the base have operations."""
    labels = {target.name: target.label for target in results.targets}
    found: dict[Place, list[Block]] = defaultdict(list)
    for (test, block), records in _by_block(results.of_type(LatencyRecord)).items():
        spans = [_decoded(record, f"{results.directory}, test {test}") for record in records]
        for name, label in labels.items():
            if name != results.base.name and (sides := _sides(spans, name, results.base.name)):
                found[test, label].append(Block(block, *sides))
    return dict(found)


def _by_block(records: Iterable[LatencyRecord]) -> dict[tuple[str, int], list[LatencyRecord]]:
    found: dict[tuple[str, int], list[LatencyRecord]] = defaultdict(list)
    for record in records:
        found[record.test, record.block].append(record)
    return found


def _decoded(record: LatencyRecord, what: str) -> dict[str, Latency]:
    return {name: decode(text, what) for name, text in record.hdr.items()}


def _sides(spans: list[dict[str, Latency]], target: str, base: str) -> tuple[Latency, Latency] | None:
    """Of the spans in which both were up (groups have a base each); of targets measured one after the other, of all."""
    together = [span for span in spans if target in span and base in span] or spans
    ours = merge(span[target] for span in together if target in span)
    theirs = merge(span[base] for span in together if base in span)
    return (ours, theirs) if ours.count and theirs.count else None


def percentile_values(
    results: Results, blocks_of: Latencies, metrics: Iterable[Metric] = PERCENTILES
) -> list[BlockValue]:
    """Block values of those of `metrics` that are percentiles, where blocks have operations enough."""
    chosen = [metric.name for metric in metrics if metric.name in PERCENTS]
    rows = _rows(results.layout) if results.layout else {}
    values: list[BlockValue] = []
    for (test, label), blocks in blocks_of.items():
        for metric in chosen:
            if has_enough(blocks, metric):
                for block in blocks:
                    counted, disturbed = rows.get((block.number, test, label), (0, 0))
                    log = block.log_ratio(PERCENTS[metric])
                    values.append(BlockValue(test, label, metric, block.number, log, counted, disturbed))
    return values


def lacking_findings(blocks_of: Latencies, judged: Iterable[Metric]) -> list[Finding]:
    """Findings that say that a judged percentile has too few operations to be known. They make no verdict, and hold up none."""
    chosen = [metric for metric in judged if metric.name in PERCENTS]
    return [
        _lacking(test, label, metric, blocks)
        for (test, label), blocks in blocks_of.items()
        for metric in chosen
        if not has_enough(blocks, metric.name)
    ]


def _lacking(test: str, label: str, metric: Metric, blocks: Sequence[Block]) -> Finding:
    note = f"{_mean_operations(blocks):,.0f} operations per block, {wanted_operations(metric.name):,} are needed"
    nothing = dict.fromkeys(("ratio", "low", "high", "p_value", "q_value", "smallest_visible_change"))
    unknown: dict[str, Any] = nothing | dict.fromkeys(("block_sd", "degrees_of_freedom"))
    return Finding(
        test=test,
        target=label,
        metric=metric.name,
        verdict=Verdict.UNDECIDED,
        confidence=0.0,
        blocks=0,
        margin=metric.margin,
        note=note,
        judged=False,
        **unknown,
    )


def has_enough(blocks: Sequence[Block], metric: str) -> bool:
    """One answer for all blocks, by their mean: were each to go by its own, only the fast ones might count."""
    return _mean_operations(blocks) >= wanted_operations(metric)


def _mean_operations(blocks: Sequence[Block]) -> float:
    return fmean(block.operations for block in blocks)


def _rows(layout: Layout) -> Mapping[tuple[int, str, str], tuple[int, int]]:
    """(block, test, target) → rows that count, and those of them that were disturbed."""
    cells = len(layout.cell_names)
    found: dict[tuple[int, str, str], tuple[int, int]] = {}
    for target in layout.others:
        sides = layout.pairs(target), layout.apart(target)
        rows, disturbed = sides[0].counts(cells) + sides[1].counts(cells), disturbed_rows(layout, target)
        for cell, (block, test) in enumerate(layout.cell_names):
            found[block, test, layout.targets[target]] = int(rows[cell]), int(disturbed[cell])
    return found
