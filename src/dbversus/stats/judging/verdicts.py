"""From block values to verdicts: docs/protocol.md in code.

`assess` has no memory: it replays the looks over the block values that there are, so the same values give the same
findings during a run, when it is resumed and years later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dbversus.stats.headline import headline
from dbversus.stats.judging.looks import (
    FEWEST_FRESH_BLOCKS,
    OVERALL,
    State,
    confidence_of,
    looks_taken,
    take_look,
    visible_change,
)
from dbversus.stats.judging.sequential import LOOKS, check_looks, first_look
from dbversus.stats.means import Spread, exp, says_nothing, spread
from dbversus.stats.metrics import IO_BYTES, METRICS
from dbversus.stats.model import CHANGES, DECIDED, SIZE_OPEN, TOO_LITTLE, BlockValue, Finding, Metric, Verdict
from dbversus.stats.values.table import Table, tabulate

__all__ = ["assess", "decided", "headline", "reservation"]

MEASURED_AGAIN = "measured again"
"""The usual note of a change."""
NOT_MEASURED_AGAIN = "not measured again: an estimate from the blocks that revealed a change tends to exaggerate it"
NOT_BORNE_OUT = "seemed to change, but the blocks since then do not bear it out"


def assess(
    values: Sequence[BlockValue],
    metrics: Sequence[Metric] = METRICS,
    looks: tuple[int, ...] = LOOKS,
    margins: Mapping[tuple[str, str], float] | None = None,
) -> list[Finding]:
    """Findings for every (test, target, metric) with values, in the order in which they first appear.

    `looks`: numbers of blocks after which results are looked at; blocks are counted over the whole experiment, so a
    test that was retired has fewer. `margins` overrides δ per (test, metric). Values of metrics that are not in `metrics`
    are left aside. Raises UsageError when `looks` do not rise.
    """
    check_looks(looks)
    table = tabulate(values, metrics, margins or {})
    if not table.keys:
        return []
    state = State.empty(len(table.keys))
    for count in looks_taken(looks, len(table.blocks)):
        take_look(table, state, count, looks)
    visible = visible_change(table, state, looks, np.maximum(state.n, 1))
    visible_at_last = visible_change(table, state, looks, np.maximum(state.n, looks[-1]))
    fresh = np.array(table.blocks) >= np.where(state.found_at < 0, np.inf, state.found_at)[:, None]
    fresh_blocks = np.count_nonzero(fresh & ~np.isnan(table.value), axis=1)
    return [
        replace(
            _finding(table, state, index, int(fresh_blocks[index]), first_look(looks)),
            smallest_visible_change=_known(float(visible[index])),
            visible_at_last=_known(float(visible_at_last[index])),
        )
        for index in range(len(table.keys))
    ]


def decided(findings: Sequence[Finding]) -> set[str]:
    """Tests of which every judged metric of every target has a verdict that more blocks need not change, or that have none.

    IO per operation that not even the last look is likely to settle does not hold up a test that has other judged metrics.
    """
    judged = [finding for finding in findings if finding.judged]
    beside_io = {finding.test for finding in judged if finding.metric != IO_BYTES}
    open_tests = {
        finding.test
        for finding in judged
        if finding.verdict not in DECIDED
        and not finding.is_unpaid
        and not (finding.metric == IO_BYTES and finding.test in beside_io and finding.is_out_of_reach)
    }
    return {finding.test for finding in findings} - open_tests


def _finding(table: Table, state: State, index: int, fresh_blocks: int, first: int) -> Finding:
    test, target, metric = table.keys[index]
    compared = bool(table.compared[index])
    beside = _spread(table, state, index) if compared else Spread()
    finding = Finding(
        test=test,
        target=target,
        metric=metric,
        verdict=state.verdict[index],
        ratio=_ratio(float(state.mean[index])) if compared else None,
        low=beside.low,
        high=beside.high,
        least=beside.least,
        most=beside.most,
        confidence=confidence_of(state.verdict[index]),
        blocks=int(state.n[index]),
        p_value=_known(state.p[index]),
        q_value=_known(state.q[index]),
        margin=float(table.margin[index]),
        smallest_visible_change=None,
        block_sd=_known(state.sd[index]),
        degrees_of_freedom=_known(state.df[index]),
        fresh_blocks=fresh_blocks,
        note=_note(table, state, index, fresh_blocks),
        found_at=int(state.found_at[index]) if state.found_at[index] >= 0 else None,
        judged=bool(table.primary[index]),
        first_look=first,
        higher_is_better=bool(table.sign[index] < 0),
    )
    notes = (finding.note if not finding.before_first_look else "", reservation(finding))
    return replace(finding, note="; ".join(filter(None, notes)))


def reservation(finding: Finding) -> str:
    """Why it has no verdict yet, or no interval."""
    if finding.before_first_look:
        return f"{finding.before_first_look}: no verdict"
    if says_nothing(finding, finding.blocks):
        return "by how much, too little happened to tell" if finding.verdict in CHANGES else TOO_LITTLE
    return ""


def _spread(table: Table, state: State, index: int) -> Spread:
    of_blocks, mean, distance = table.value[index], float(state.mean[index]), float(state.distance[index])
    interval = (exp(mean - distance), exp(mean + distance)) if np.isfinite(distance) else None
    ends = exp(float(np.nanmin(of_blocks))), exp(float(np.nanmax(of_blocks)))
    return spread(interval, ends, int(state.n[index]))


def _note(table: Table, state: State, index: int, fresh_blocks: int) -> str:
    verdict, differs = state.verdict[index], state.q[index] <= OVERALL
    if not table.compared[index]:
        return "nothing to compare: next to nothing on either side"
    if verdict in CHANGES:
        return MEASURED_AGAIN if fresh_blocks >= FEWEST_FRESH_BLOCKS else NOT_MEASURED_AGAIN
    if verdict is Verdict.EQUIVALENT and differs:
        return "a real change, but under the margin"
    if state.found_at[index] >= 0 and verdict is not Verdict.SMALL_CHANGE:
        return NOT_BORNE_OUT
    return SIZE_OPEN if verdict is Verdict.UNDECIDED and differs else ""


def _ratio(log_ratio: float) -> float | None:
    """exp, and None for NaN or beyond all bounds."""
    return float(np.exp(log_ratio)) if abs(log_ratio) < 700 else None


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
