"""Changes measured again: the blocks that reveal a change are the lucky ones, so others bear the verdict."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from dbversus.stats.judging.estimate import draw_in
from dbversus.stats.judging.looks import OVERALL, State, looks_taken, name
from dbversus.stats.judging.sequential import alpha_per_look
from dbversus.stats.judging.weights import weigh
from dbversus.stats.metrics import Floats
from dbversus.stats.model import WITHIN, Verdict
from dbversus.stats.values.table import Table

FEWEST_FRESH_BLOCKS = 2
CONFIRMED = "confirmed in fresh blocks"
"""The usual note of a change."""

_NOTES = {
    Verdict.EQUIVALENT: "seemed to change, but fresh blocks put it under the margin",
    Verdict.UNDECIDED: "seemed to change, but fresh blocks neither confirm nor refute it",
}


@dataclass(frozen=True)
class Shown:
    """What a finding shows: mean of ln(target/base) ± `distance`, which holds the truth with 95 %, at whatever look."""

    verdict: Verdict
    mean: float
    distance: float
    note: str
    fresh_blocks: int = 0


def measured_again(table: Table, state: State, looks: tuple[int, ...]) -> dict[int, Shown]:
    """By number of the key, what the blocks after a change was found say of it, where there are two or more.

    Not where all blocks together have put it under the margin: their interval holds at every look.
    The change stands when their interval excludes no change in the same direction. Until then it is undecided, and is measured
    further.
    """
    is_fresh = (state.found_at >= 0)[:, None] & (np.array(table.blocks) >= state.found_at[:, None])
    # by the fresh blocks alone: what is far off from those that revealed a change may be the truth
    value = draw_in(table, np.where(is_fresh, table.value, np.nan))
    weight = weigh(table, draw_in(table, table.value))
    enough = np.count_nonzero(~np.isnan(value), axis=1) >= FEWEST_FRESH_BLOCKS
    enough &= ~np.isin(state.verdict, WITHIN)
    return {
        int(index): _judged(table, state, int(index), value[index], weight[index], looks)
        for index in np.flatnonzero(enough)
    }


def _judged(table: Table, state: State, index: int, value: Floats, weight: Floats, looks: tuple[int, ...]) -> Shown:
    """`value`: of the key's fresh blocks, NaN in the others; `weight`: of all its blocks, with the mean 1."""
    level = _level(table, int(state.found_at[index]), looks)
    is_fresh = ~np.isnan(value)
    fresh, weight = value[is_fresh], weight[is_fresh]
    mean, df = float(np.average(fresh, weights=weight)), float(state.df[index])
    error = float(state.moderated_sd[index]) / float(weight.sum()) ** 0.5
    distance = -error * float(stdtrit(df, level / 2))
    differs = _found_direction(table, state, index) * mean > distance
    log_margin, sign = float(table.log_margin[index]), float(table.sign[index])
    verdict = name(mean, distance, distance, differs, log_margin, sign)
    return Shown(verdict, mean, distance, _NOTES.get(verdict, CONFIRMED), len(fresh))


def _level(table: Table, found_at: int, looks: tuple[int, ...]) -> float:
    """Level of each look at fresh blocks, of which there are several; `found_at`: number of the first fresh block."""
    sooner = sum(block < found_at for block in table.blocks)
    later = [look - sooner for look in looks_taken(looks, max(looks[-1], len(table.blocks))) if look > sooner]
    return alpha_per_look(tuple(count for count in later if count >= FEWEST_FRESH_BLOCKS), OVERALL)


def _found_direction(table: Table, state: State, index: int) -> float:
    """Sign of ln(target/base) in the blocks that revealed the change."""
    sooner = np.array(table.blocks) < state.found_at[index]
    return float(np.sign(np.nansum(table.value[index, sooner])))
