"""Midmeans: means of the middle half of the values of each cell, their errors, and what the order in a row does to them."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dbversus.results.layout import Bools, Ints, Sides
from dbversus.stats.metrics import Floats, floats

TRIMMED = 0.25
"""Share of the rows of a block that is cut off at each end."""
FEWEST_OF_AN_ORDER = 4
"""Rows in each order, from which on its effect is taken out: of fewer, nothing is cut off of a midmean."""
CLEAR_ERRORS = 3.0
"""Standard errors, beyond which the orders of a cell are two clusters. Nearer ones are one, and to part them adds noise."""


class Ranked(NamedTuple):
    """Values in order of cell and size, the cell and the rank in it of each, and how many are cut off at either end."""

    values: Floats
    cell: Ints
    rank: Ints
    cut: Ints


def midmeans(values: Floats, cell: Ints, counts: Ints) -> Floats:
    """Mean of the middle half of the values of each cell (all of them where there are fewer than four); NaN for none."""
    return midmeans_of(rank_in_cells(values, cell, counts), counts)


def midmeans_of(ranked: Ranked, counts: Ints) -> Floats:
    values, cell, rank, cut = ranked
    middle = (rank >= cut) & (rank < counts[cell] - cut)
    kept = np.bincount(cell[middle], minlength=len(counts))
    sums = np.bincount(cell[middle], weights=values[middle], minlength=len(counts))
    means: Floats = np.divide(sums, kept, out=np.full(len(counts), np.nan), where=kept > 0)
    return means


def midmean_errors(ranked: Ranked, counts: Ints) -> Floats:
    """Standard error of each cell's midmean, from the values drawn in to its edges; NaN with fewer than two.

    s_w / ((1 - 2γ) √n) of Winsorised values (Tukey & McLaughlin, Sankhyā A 25, 1963). Slots that resemble their neighbours
    make it too small, in all tests alike.
    """
    values, cell, rank, cut = ranked
    first = np.cumsum(counts) - counts
    nearest = first[cell] + np.clip(rank, cut, counts[cell] - cut - 1)
    drawn_in = values[nearest]
    mean = np.divide(np.bincount(cell, weights=drawn_in, minlength=len(counts)), np.maximum(counts, 1))
    squares = np.bincount(cell, weights=(drawn_in - mean[cell]) ** 2, minlength=len(counts))
    left = 1 - 2 * (TRIMMED * counts).astype(np.int64) / np.maximum(counts, 1)
    spread = np.sqrt(squares / np.maximum(counts - 1, 1))
    errors: Floats = np.where(counts >= 2, spread / (left * np.sqrt(np.maximum(counts, 1))), np.nan)
    return errors


def rank_in_cells(values: Floats, cell: Ints, counts: Ints) -> Ranked:
    order = np.argsort(values)
    # small numbers of cells are sorted by radix: a third of the time that np.lexsort takes for both
    order = order[np.argsort(cell[order].astype(np.min_scalar_type(len(counts))), kind="stable")]
    values, cell = values[order], cell[order]
    rank = np.arange(len(cell)) - (np.cumsum(counts) - counts)[cell]
    return Ranked(values, cell, rank, (TRIMMED * counts).astype(np.int64)[cell])


def without_order_effect(values: Floats, pairs: Sides, position: npt.NDArray[np.generic] | None, cells: int) -> Floats:
    """`values` of pairs, ln(ours/theirs), without what they owe to who comes first in its row.

    `position`: of each slot in its row, a column of results/schema.py; None where it is not known.
    """
    if position is None:
        return values
    place = floats(position)
    return values - _effect_of_order(values, pairs.our_cell, place[pairs.ours] < place[pairs.theirs], cells)


def _effect_of_order(values: Floats, cell: Ints, is_first: Bools, cells: int) -> Floats:
    """What each pair of a cell owes to who comes first in its row; 0 where rows do not tell it from chance.

    Half the distance of the medians of both orders, up in one and down in the other, so that their mean stays. (Medians: in
    half of the rows, a midmean is moved by fewer outliers than in all.)
    """
    of_order = 2 * cell + is_first
    counts = np.bincount(of_order, minlength=2 * cells)
    ranked = rank_in_cells(values, of_order, counts)
    medians = midmeans_of(ranked._replace(cut=((counts - 1) // 2)[ranked.cell]), counts)
    second, first = medians.reshape(-1, 2).T
    error = np.hypot(*midmean_errors(ranked, counts).reshape(-1, 2).T)
    enough = counts.reshape(-1, 2).min(axis=1) >= FEWEST_OF_AN_ORDER
    known = enough & (np.abs(first - second) > CLEAR_ERRORS * error)
    effect = np.where(known, (first - second) / 2, 0.0)[cell]
    return np.where(is_first, effect, -effect)
