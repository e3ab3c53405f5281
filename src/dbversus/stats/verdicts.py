"""From block values to verdicts: docs/protocol.md in code.

`assess` has no memory: it replays the looks over the block values that there are, so the same values give the same
findings during a run, when it is resumed and years later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from dbversus.stats.headline import headline
from dbversus.stats.looks import OVERALL, State, looks_taken, reach, take_look, visible_change
from dbversus.stats.metrics import METRICS, Floats
from dbversus.stats.model import CHANGES, BlockValue, Finding, Metric, Verdict
from dbversus.stats.sequential import LOOKS, alpha_per_look, check_looks
from dbversus.stats.table import Table, tabulate

__all__ = ["assess", "decided", "headline"]

FEWEST_FRESH_BLOCKS = 2
FRESH_CONFIDENCE = 0.95

DECISIVE = frozenset({Verdict.EQUIVALENT, Verdict.REGRESSION, Verdict.IMPROVEMENT, Verdict.DISTURBED})


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
    level = alpha_per_look(looks, OVERALL)
    distance = reach(state, level / 2)
    return [
        _finding(
            table,
            state,
            index,
            _remeasured(table, state, index) or _as_judged(table, state, index, float(distance[index]), 1 - level),
            float(visible[index]),
        )
        for index in range(len(table.keys))
    ]


def decided(findings: Sequence[Finding]) -> set[str]:
    """Tests of which every judged metric of every target has a verdict that more blocks need not change, or that have none."""
    open_tests = {finding.test for finding in findings if finding.judged and finding.verdict not in DECISIVE}
    return {finding.test for finding in findings} - open_tests


@dataclass(frozen=True)
class _Shown:
    """What a finding shows: mean of ln(target/base) ± `distance`, which holds the truth with this confidence."""

    verdict: Verdict
    mean: float
    distance: float
    confidence: float
    note: str
    fresh_blocks: int = 0


def _finding(table: Table, state: State, index: int, shown: _Shown, visible: float) -> Finding:
    test, target, metric = table.keys[index]
    compared = bool(table.compared[index])
    return Finding(
        test=test,
        target=target,
        metric=metric,
        verdict=shown.verdict,
        ratio=_ratio(shown.mean) if compared else None,
        low=_ratio(shown.mean - shown.distance) if compared else None,
        high=_ratio(shown.mean + shown.distance) if compared else None,
        confidence=shown.confidence,
        blocks=int(state.n[index]),
        p_value=_known(state.p[index]),
        q_value=_known(state.q[index]),
        margin=float(table.margin[index]),
        smallest_visible_change=_known(visible),
        block_sd=_known(state.sd[index]),
        degrees_of_freedom=_known(state.df[index]),
        fresh_blocks=shown.fresh_blocks,
        note=shown.note,
        found_at=int(state.found_at[index]) if state.found_at[index] >= 0 else None,
        judged=bool(table.primary[index]),
    )


def _as_judged(table: Table, state: State, index: int, distance: float, confidence: float) -> _Shown:
    """The estimate from all blocks, with the interval of the looks: it holds at every look at once."""
    verdict = state.verdict[index]
    return _Shown(verdict, float(state.mean[index]), distance, confidence, _note(table, state, index, verdict))


def _note(table: Table, state: State, index: int, verdict: Verdict) -> str:
    if verdict is Verdict.DISTURBED:
        dropped, rows = table.dropped[index].sum(), table.rows[index].sum()
        return f"{dropped / (dropped + rows):.0%} of the rows dropped as disturbed"
    if not table.compared[index]:
        return "nothing to compare: next to nothing on either side"
    if verdict is Verdict.EQUIVALENT and state.q[index] <= OVERALL:
        return "a real change, but under the margin"
    if verdict in CHANGES:
        return "not measured again: an estimate from the blocks that revealed a change tends to exaggerate it"
    if state.n[index] < 2:
        return "one block: no interval, no verdict"
    return ""


def _remeasured(table: Table, state: State, index: int) -> _Shown | None:
    """The estimate from the blocks after a change was found, and whether they bear it out; None: too few, or not found.

    The change stands when it is significant in all blocks together, and the fresh ones neither show less than the
    margin both ways (equivalent) nor exclude half the margin in that direction (undecided).
    """
    fresh = _fresh_values(table, state, index)
    if len(fresh) < FEWEST_FRESH_BLOCKS:
        return None
    mean, df = float(fresh.mean()), float(state.df[index])
    error = float(state.moderated_sd[index]) / len(fresh) ** 0.5
    one_sided = error * float(stdtrit(df, FRESH_CONFIDENCE))
    margin, direction = float(table.log_margin[index]), _found_direction(table, state, index)
    verdict: Verdict = state.verdict[index]
    if abs(mean) + one_sided <= margin:
        verdict, note = Verdict.EQUIVALENT, "seemed to change, but fresh blocks put it under the margin"
    elif direction * mean + one_sided < margin / 2:
        verdict = Verdict.UNDECIDED if verdict in CHANGES else verdict
        note = "seemed to change, but fresh blocks do not confirm it"
    elif verdict not in CHANGES:
        note = "seemed to change, but all blocks together do not say so"
    elif direction * mean - one_sided > 0:
        note = "confirmed in fresh blocks"
    else:
        note = "fresh blocks neither confirm nor refute it; all blocks together show it"
    distance = error * float(stdtrit(df, (1 + FRESH_CONFIDENCE) / 2))
    return _Shown(verdict, mean, distance, FRESH_CONFIDENCE, note, len(fresh))


def _found_direction(table: Table, state: State, index: int) -> float:
    """Sign of ln(target/base) in the blocks that revealed the change."""
    sooner = np.array(table.blocks) < state.found_at[index]
    return float(np.sign(np.nansum(table.value[index, sooner])))


def _fresh_values(table: Table, state: State, index: int) -> Floats:
    if state.found_at[index] < 0:
        return np.empty(0)
    later = np.array(table.blocks) >= state.found_at[index]
    values = table.value[index]
    fresh: Floats = values[later & ~np.isnan(values)]
    return fresh


def _ratio(log_ratio: float) -> float | None:
    """exp, and None for NaN or beyond all bounds."""
    return float(np.exp(log_ratio)) if abs(log_ratio) < 700 else None


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
